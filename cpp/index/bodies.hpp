// Bodies in the order of a structure: neighbours in space are neighbours in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "geometry/box.hpp"
#include "geometry/shape.hpp"

namespace vicinal {

// How far the positions of a pair can be from each other: along each axis and, if `round`, in total.
template <int D>
struct Reach {
  std::array<double, D> axis{};
  bool round = true;

  [[nodiscard]] double largest() const { return *std::max_element(axis.begin(), axis.end()); }
};

// Bodies as the user gave them, row by row, with the bounds of their positions (before wrapping). The position of a box
// is its lower corner.
template <class T, int D>
struct BodyView {
  const T* data = nullptr;
  std::size_t size = 0;
  std::array<T, D> low{};
  std::array<T, D> high{};
  Shape shape = Shape::point;
  const T* extra = nullptr;    // the radius of every sphere, or the upper corners of boxes
  std::array<T, D> largest{};  // the largest radius (on every axis), or the longest edge along each axis
  std::array<T, D> partner{};  // the same of the largest queries that are to be answered
  bool same_sizes = false;     // an update: nobody changed size
  std::array<T, D> period{};   // of the box, 0 along open axes

  [[nodiscard]] T at(std::size_t point, int axis) const { return data[point * D + static_cast<std::size_t>(axis)]; }
  // Numbers in `extra` per body.
  [[nodiscard]] std::size_t extras() const { return static_cast<std::size_t>(columns_of(shape, D) - D); }
  [[nodiscard]] T radius(std::size_t point) const { return extra[point]; }
  [[nodiscard]] T upper(std::size_t point, int axis) const { return extra[point * D + static_cast<std::size_t>(axis)]; }

  [[nodiscard]] Reach<D> reach(T cutoff) const {
    Reach<D> r;
    if (shape == Shape::box) {
      // Overlapping boxes are not farther apart, corner from corner, than the longer edge; subtracting rounded it.
      constexpr double more = 1 + 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
      for (std::size_t a = 0; a < D; ++a) r.axis[a] = static_cast<double>(std::max(largest[a], partner[a])) * more;
      // A reach must be positive and have an inverse, but not lead through many images of a period. Along an axis on
      // which no box has any length it may be anything: as much as along the others.
      constexpr double least = 1e-150;
      const double some = r.largest() > 0 ? r.largest() : 1;
      for (std::size_t a = 0; a < D; ++a) {
        const double most = period[a] > 0 ? static_cast<double>(period[a]) / 2 : some;
        if (r.axis[a] == 0) r.axis[a] = std::min(some, most);
        r.axis[a] = std::max(r.axis[a], period[a] > 0 ? std::min(least, most) : least);
      }
      r.round = false;
      return r;
    }
    const T sum = shape == Shape::point ? cutoff : largest[0] + std::max(largest[0], partner[0]);
    r.axis.fill(reach_of(sum));
    return r;
  }
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
NearFrame<D> near_frame(const BodyView<T, D>& points, const Box<T, D>& box, double reach) {
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
  static constexpr std::size_t most = static_cast<std::size_t>(columns_of(Shape::box, D));
  std::size_t size = 0;
  std::size_t slots = 0;  // as many as there are bodies, unless a structure leaves holes: slots whose id is -1
  BodyView<T, D> raw;
  Box<T, D> box;
  NearFrame<D> frame;
  bool banded = false;                        // `near` is filled; otherwise `exact` is
  Buffer<std::int32_t> ids;                   // the user's number of the body in each slot
  std::array<Buffer<float>, most> near;       // in the frame, for the test in float32
  mutable std::array<Buffer<T>, most> exact;  // wrapped; beside `near` only after `complete`
  // Runs of slots that share a cell, in ascending order of its key: run g is group_begin[g] … group_begin[g+1]-1. After
  // the last key comes one above all.
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};
  std::size_t groups = 0;
  Buffer<std::uint64_t> group_key;
  Buffer<std::uint32_t> group_begin;

  void reset(const BodyView<T, D>& points, const Box<T, D>& space, const NearFrame<D>& near_space) {
    size = points.size;
    slots = size;
    raw = points;
    box = space;
    frame = near_space;
    banded = std::is_same_v<T, double> && points.shape != Shape::box && frame.useful();
    ids.reset(size);
    for (std::size_t c = 0; c < most; ++c) {
      if (banded && c < columns()) near[c].reset(size);
      else near[c].release();
      if (banded || c >= columns()) exact[c].release();
      else exact[c].reset(size);
    }
  }

  // Numbers per body: see columns_of.
  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(columns_of(raw.shape, D)); }

  // One of the numbers the exact test sees, of a body as the user numbers it.
  [[nodiscard]] T value(std::size_t point, int column) const {
    if (column < D) return box.wrap(raw.at(point, column), column);
    if (raw.shape == Shape::sphere) return raw.radius(point);
    // The upper corner moves with the lower one; rounding must not turn the box inside out.
    const int axis = column - D;
    const std::int32_t turns = box.wraps(raw.at(point, axis), axis);
    const T upper = raw.upper(point, axis);
    if (!box.periodic(axis)) return upper;
    return std::max(upper - static_cast<T>(turns) * box.edge[static_cast<std::size_t>(axis)],
                    box.wrap(raw.at(point, axis), axis));
  }
  [[nodiscard]] T position(std::size_t slot, int column) const {
    const auto c = static_cast<std::size_t>(column);
    if (exact[c].size() == slots) return exact[c][slot];
    return value(static_cast<std::size_t>(ids[slot]), column);
  }
  // The same in the frame.
  [[nodiscard]] float near_value(std::size_t point, int column) const {
    const T x = value(point, column);
    return column < D ? frame(x, column) : static_cast<float>(static_cast<double>(x) * frame.scale);
  }

  // Puts body `point` into a slot. (Whole sets are sorted by columns: cell_order.hpp.)
  void place(std::size_t point, std::size_t slot) {
    ids[slot] = static_cast<std::int32_t>(point);
    for (std::size_t c = 0; c < columns(); ++c) {
      if (banded) near[c][slot] = near_value(point, static_cast<int>(c));
      else exact[c][slot] = value(point, static_cast<int>(c));
    }
  }

  // Another number of slots; those that are there keep their bodies, new ones are holes.
  void resize(std::size_t count) {
    ids.resize(count);
    for (std::size_t slot = slots; slot < count; ++slot) ids[slot] = -1;
    slots = count;
    for (std::size_t c = 0; c < most; ++c) {
      if (banded && c < columns()) near[c].resize(count);
      if (banded) exact[c].release();  // what `complete` added
      else if (c < columns()) exact[c].resize(count);
    }
  }
  void move(std::size_t from, std::size_t to) {
    ids[to] = std::exchange(ids[from], -1);
    for (std::size_t c = 0; c < columns(); ++c) {
      if (banded) near[c][to] = near[c][from];
      else exact[c][to] = exact[c][from];
    }
  }
  // Before bodies change place: what `complete` added is of no use any more.
  void forget_exact() {
    if (banded)
      for (auto& column : exact) column.release();
  }

  // Exact coordinates beside the near ones, for results that contain distances or vectors.
  void complete() const {
    for (int a = 0; a < D; ++a) {
      auto& column = exact[static_cast<std::size_t>(a)];
      if (column.size() == slots) continue;
      Buffer<T> filled(slots);
      parallel_ranges(slots, 1 << 16, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t slot = begin; slot < end; ++slot) filled[slot] = ids[slot] < 0 ? T{0} : position(slot, a);
      });
      column = std::move(filled);
    }
  }

  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = ids.bytes() + group_key.bytes() + group_begin.bytes();
    for (std::size_t c = 0; c < most; ++c) sum += near[c].bytes() + exact[c].bytes();
    return sum;
  }
};

}  // namespace vicinal
