// The bounds of numbers given row by row, checked on the way.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "exec/threads.hpp"

namespace vicinal {

// Smallest and largest coordinate per axis, and the first row with a NaN or an infinity (or `size`).
template <class T, int D>
struct Bounds {
  std::array<T, D> low{};
  std::array<T, D> high{};
  std::size_t bad = 0;
};

// Of n rows; `value(k)` is the k-th number of them, row by row.
template <class T, int D, class Value>
Bounds<T, D> bounds_of(std::size_t n, const Value& value) {
  const std::size_t count = n * D;
  // Twelve lanes: a multiple of both dimensions and of every vector width worth having without dispatch.
  constexpr std::size_t lanes = 12;
  struct Partial {
    std::array<T, lanes> low, high, poison;
  };
  constexpr std::size_t grain = (std::size_t{1} << 18) / lanes * lanes;
  std::vector<Partial> partials((count + grain - 1) / grain);
  parallel_ranges(count, grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    Partial p;
    p.low.fill(std::numeric_limits<T>::infinity());
    p.high.fill(-std::numeric_limits<T>::infinity());
    p.poison.fill(0);
    std::size_t k = begin;
    for (; k + lanes <= end; k += lanes)
      for (std::size_t l = 0; l < lanes; ++l) {
        const T x = value(k + l);
        p.low[l] = x < p.low[l] ? x : p.low[l];
        p.high[l] = x > p.high[l] ? x : p.high[l];
        p.poison[l] += x * T{0};  // stays 0 for finite x, becomes NaN otherwise
      }
    for (std::size_t l = 0; k < end; ++k, ++l) {
      const T x = value(k);
      p.low[l] = std::min(p.low[l], x);
      p.high[l] = std::max(p.high[l], x);
      p.poison[l] += x * T{0};
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
    for (std::size_t k = 0; k < count && result.bad == n; ++k)
      if (!std::isfinite(value(k))) result.bad = k / D;
  return result;
}

}  // namespace vicinal
