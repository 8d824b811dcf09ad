// An order of the points along a Hilbert curve: neighbours in the order are neighbours in space.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "geometry/predicates.hpp"

namespace vicinal::delaunay {

// The place of cell (x, y) along the curve through 2^levels x 2^levels cells.
//
// One step per level: `state` is the orientation of the curve inside the current quadrant. The four states are
// identity, transposed, rotated by half a turn, and both; a table entry holds the quadrant's place (2 bits) and the
// next state.
inline std::uint32_t hilbert_index(std::uint32_t x, std::uint32_t y, unsigned levels) {
  struct Step {
    std::array<std::uint8_t, 16> place{}, next{};
  };
  static constexpr Step table = [] {
    // Unturned, the curve visits (0,0) transposed, (0,1), (1,1), (1,0) anti-transposed.
    Step step;
    constexpr std::array<std::array<unsigned, 2>, 4> visits{{{0, 0}, {0, 1}, {1, 1}, {1, 0}}};
    constexpr std::array<unsigned, 4> turns{1, 0, 0, 3};
    for (unsigned state = 0; state < 4; ++state)
      for (unsigned place = 0; place < 4; ++place) {
        unsigned a = visits[place][0], b = visits[place][1];
        if ((state & 1U) != 0) std::swap(a, b);
        if ((state & 2U) != 0) a ^= 1U, b ^= 1U;
        step.place[state * 4 + a * 2 + b] = static_cast<std::uint8_t>(place);
        step.next[state * 4 + a * 2 + b] = static_cast<std::uint8_t>(state ^ turns[place]);
      }
    return step;
  }();
  std::uint32_t index = 0;
  unsigned state = 0;
  for (unsigned level = levels; level-- > 0;) {
    const unsigned key = state * 4 + ((x >> level) & 1U) * 2 + ((y >> level) & 1U);
    index = index << 2U | table.place[key];
    state = table.next[key];
  }
  return index;
}

namespace detail {

// Sorts by `bits` bits of the upper half, 11 at a time; equal keys keep their order.
inline void radix_sort(std::vector<std::uint64_t>& items, std::vector<std::uint64_t>& other, unsigned bits) {
  constexpr unsigned digit_bits = 11;
  other.resize(items.size());
  for (unsigned shift = 32; shift < 32 + bits; shift += digit_bits) {
    std::array<std::uint32_t, (1U << digit_bits) + 1> start{};
    const auto digit = [shift](std::uint64_t item) { return (item >> shift) & ((1U << digit_bits) - 1); };
    for (const std::uint64_t item : items) ++start[digit(item) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    for (const std::uint64_t item : items) other[start[digit(item)]++] = item;
    items.swap(other);
  }
}

}  // namespace detail

// Puts `order`, a list of point numbers, into curve order. Where many points share a cell of the curve (clusters, huge
// distances) the cell is ordered by a curve of its own, so the order is good at every scale. Each level of this
// recursion narrows the box by the number of cells per axis, unless all points in it coincide.
inline void sort_along_curve(std::span<const Point2> points, std::span<std::uint32_t> order) {
  constexpr std::size_t few = 8;  // a run this short is near enough to an order
  if (order.size() <= 2) return;
  Point2 low = points[order[0]], high = low;
  for (const std::uint32_t k : order) {
    low = {std::min(low.x, points[k].x), std::min(low.y, points[k].y)};
    high = {std::max(high.x, points[k].x), std::max(high.y, points[k].y)};
  }
  // Halves, because the width itself could overflow.
  const double half_width = std::max(high.x / 2 - low.x / 2, high.y / 2 - low.y / 2);
  if (!(half_width > 0)) return;
  // About 32 cells per point, so that few points share one.
  const unsigned levels = std::min(16U, (static_cast<unsigned>(std::bit_width(order.size())) + 6) / 2);
  const double cells = static_cast<double>(1U << levels);
  const auto cell = [&](double x, double lowest) {
    const double c = (x / 2 - lowest / 2) / half_width * cells;
    return c < cells - 1 ? static_cast<std::uint32_t>(c) : (1U << levels) - 1;  // c is never negative
  };
  std::vector<std::uint64_t> items(order.size()), other;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Point2 p = points[order[k]];
    const std::uint64_t key = hilbert_index(cell(p.x, low.x), cell(p.y, low.y), levels);
    items[k] = key << 32U | order[k];
  }
  detail::radix_sort(items, other, 2 * levels);
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::uint32_t>(items[k]);
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && items[end] >> 32U == items[begin] >> 32U) ++end;
    if (end - begin > few && end - begin < order.size()) sort_along_curve(points, order.subspan(begin, end - begin));
  }
}

}  // namespace vicinal::delaunay
