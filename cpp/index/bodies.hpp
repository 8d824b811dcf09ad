// Bodies in the order of a structure: neighbours in space are neighbours in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "geometry/box.hpp"

namespace vicinal {

// Points as the user gave them, row by row, with their bounds (before wrapping).
template <class T, int D>
struct Points {
  const T* data = nullptr;
  std::size_t size = 0;
  std::array<T, D> low{};
  std::array<T, D> high{};

  [[nodiscard]] T at(std::size_t point, int axis) const { return data[point * D + static_cast<std::size_t>(axis)]; }
};

// Coordinates near enough to each other for float32: (x - centre) * scale, with the reach scaled to [0.5, 1).
//
// A double is tested in float32 first and again in double only when the answer is in doubt (pairs/test.hpp), which
// halves the bytes and doubles the lanes. `largest` bounds every scaled coordinate, images included; the frame is of
// no use when it exceeds `most`, because then too many answers are in doubt.
template <int D>
struct NearFrame {
  static constexpr double most = 4096;
  std::array<double, D> centre{};
  std::array<double, D> low{}, high{};  // scaled; a query farther out is moved to 4 reaches outside
  double scale = 1;
  double largest = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool useful() const { return largest <= most; }
  [[nodiscard]] float operator()(double x, int axis) const {
    const auto a = static_cast<std::size_t>(axis);
    return static_cast<float>(std::min(std::max((x - centre[a]) * scale, low[a]), high[a]));
  }
};

template <class T, int D>
NearFrame<D> near_frame(const Points<T, D>& points, const Box<T, D>& box, double reach) {
  NearFrame<D> frame;
  // Squares must be far from under- and overflow: the band knows of relative rounding only.
  if (!(reach > 1e-140 && reach < 1e140) || points.size == 0) return frame;
  frame.scale = std::exp2(-std::floor(std::log2(reach)) - 1);
  double largest = 0;
  for (std::size_t a = 0; a < D; ++a) {
    const bool periodic = box.edge[a] > 0;
    const double low = periodic ? 0 : static_cast<double>(points.low[a]);
    const double high = periodic ? static_cast<double>(box.edge[a]) : static_cast<double>(points.high[a]);
    if (!(high - low < 1e290)) return frame;
    frame.centre[a] = low + (high - low) / 2;
    const double half = (high - low) / 2 * frame.scale + 4;
    frame.low[a] = -half;
    frame.high[a] = half;
    // An image is moved by s edges, s * edge <= reach + edge.
    largest = std::max(largest, periodic ? 3 * half : half);
  }
  frame.largest = largest;
  return frame;
}

template <class T, int D>
struct Bodies {
  std::size_t size = 0;
  Points<T, D> raw;
  Box<T, D> box;
  NearFrame<D> frame;
  bool banded = false;                     // `near` is filled; otherwise `exact` is
  Buffer<std::int32_t> ids;                // the user's number of the body in each slot
  std::array<Buffer<float>, D> near;       // in the frame, for the test in float32
  mutable std::array<Buffer<T>, D> exact;  // wrapped; beside `near` only after `complete`
  // Runs of slots that share a cell, in ascending order of its key: run g is group_begin[g] … group_begin[g+1]-1.
  std::size_t groups = 0;
  Buffer<std::uint64_t> group_key;
  Buffer<std::uint32_t> group_begin;

  void reset(const Points<T, D>& points, const Box<T, D>& space, const NearFrame<D>& near_space) {
    size = points.size;
    raw = points;
    box = space;
    frame = near_space;
    banded = std::is_same_v<T, double> && frame.useful();
    ids.reset(size);
    for (std::size_t a = 0; a < D; ++a) {
      if (banded) near[a].reset(size);
      else near[a].release();
      if (banded) exact[a].release();
      else exact[a].reset(size);
    }
  }

  // The coordinate the exact test sees.
  [[nodiscard]] T position(std::size_t slot, int axis) const {
    const auto a = static_cast<std::size_t>(axis);
    if (exact[a].size() == size) return exact[a][slot];
    return box.wrap(raw.at(static_cast<std::size_t>(ids[slot]), axis), axis);
  }

  // Exact coordinates beside the near ones, for results that contain distances or vectors.
  void complete() const {
    for (int a = 0; a < D; ++a) {
      auto& column = exact[static_cast<std::size_t>(a)];
      if (column.size() == size) continue;
      Buffer<T> filled(size);
      parallel_ranges(size, 1 << 16, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t slot = begin; slot < end; ++slot) filled[slot] = position(slot, a);
      });
      column = std::move(filled);
    }
  }

  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = ids.bytes() + group_key.bytes() + group_begin.bytes();
    for (std::size_t a = 0; a < D; ++a) sum += near[a].bytes() + exact[a].bytes();
    return sum;
  }
};

// Smallest and largest coordinate per axis, and the first row with a NaN or an infinity (or `size`).
template <class T, int D>
struct Bounds {
  std::array<T, D> low{};
  std::array<T, D> high{};
  std::size_t bad = 0;
};

template <class T, int D>
Bounds<T, D> bounds_of(std::span<const T> values) {
  const std::size_t n = values.size() / D;
  // Twelve lanes: a multiple of both dimensions and of every vector width worth having without dispatch.
  constexpr std::size_t lanes = 12;
  struct Partial {
    std::array<T, lanes> low, high, poison;
  };
  constexpr std::size_t grain = (std::size_t{1} << 18) / lanes * lanes;
  std::vector<Partial> partials((values.size() + grain - 1) / grain);
  parallel_ranges(values.size(), grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    Partial p;
    p.low.fill(std::numeric_limits<T>::infinity());
    p.high.fill(-std::numeric_limits<T>::infinity());
    p.poison.fill(0);
    const T* const v = values.data();
    std::size_t k = begin;
    for (; k + lanes <= end; k += lanes)
      for (std::size_t l = 0; l < lanes; ++l) {
        const T x = v[k + l];
        p.low[l] = x < p.low[l] ? x : p.low[l];
        p.high[l] = x > p.high[l] ? x : p.high[l];
        p.poison[l] += x * T{0};  // stays 0 for finite x, becomes NaN otherwise
      }
    for (std::size_t l = 0; k < end; ++k, ++l) {
      p.low[l] = std::min(p.low[l], v[k]);
      p.high[l] = std::max(p.high[l], v[k]);
      p.poison[l] += v[k] * T{0};
    }
    partials[piece] = p;
  });
  Bounds<T, D> result;
  result.bad = n;
  if (n == 0) return result;
  result.low.fill(std::numeric_limits<T>::infinity());
  result.high.fill(-std::numeric_limits<T>::infinity());
  bool poisoned = false;
  for (const Partial& p : partials)
    for (std::size_t l = 0; l < lanes; ++l) {
      result.low[l % D] = std::min(result.low[l % D], p.low[l]);
      result.high[l % D] = std::max(result.high[l % D], p.high[l]);
      poisoned = poisoned || p.poison[l] != 0;
    }
  if (poisoned)
    for (std::size_t k = 0; k < values.size() && result.bad == n; ++k)
      if (!std::isfinite(values[k])) result.bad = k / D;
  return result;
}

}  // namespace vicinal
