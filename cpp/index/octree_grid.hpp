// The finest cells an octree can have: integer coordinates, and one key for all axes.
//
// Along every axis there are `cells` cells of equal length, and a body is in cell clamp(floor(t), 0, cells - 1) with
// t = fl(fl(x - origin) * inverse). By the proof in geometry/grid.hpp the cells of a pair differ by at most `radius`,
// rounding included, which is 1 because a cell is never shorter than the reach; only on a periodic axis of a single
// cell can it be larger. Clamping is monotone, so bodies may leave the grid without harm.
//
// A leaf of the octree is a block of 2^side cells per axis, aligned to its size and cut off where the grid ends. It is
// at least one cell wide everywhere, so the neighbours of a body are in its own leaf or in one that touches it. This is
// all that the octree relies on, and it is decided in integers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "geometry/grid.hpp"
#include "index/bulk.hpp"
#include "index/structure.hpp"

namespace vicinal {

namespace detail {

// Spreads the low 21 (D = 3) or 32 (D = 2) bits of x so that D - 1 zeros follow each.
template <int D>
constexpr std::uint64_t spread(std::uint64_t x) {
  if constexpr (D == 3) {
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    x = (x | x << 2) & 0x1249249249249249;
  } else {
    x &= 0xffffffff;
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x << 2) & 0x3333333333333333;
    x = (x | x << 1) & 0x5555555555555555;
  }
  return x;
}

// The inverse of spread.
template <int D>
constexpr std::uint64_t gather(std::uint64_t x) {
  if constexpr (D == 3) {
    x &= 0x1249249249249249;
    x = (x | x >> 2) & 0x10c30c30c30c30c3;
    x = (x | x >> 4) & 0x100f00f00f00f00f;
    x = (x | x >> 8) & 0x1f0000ff0000ff;
    x = (x | x >> 16) & 0x1f00000000ffff;
    x = (x | x >> 32) & 0x1fffff;
  } else {
    x &= 0x5555555555555555;
    x = (x | x >> 1) & 0x3333333333333333;
    x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x >> 4) & 0x00ff00ff00ff00ff;
    x = (x | x >> 8) & 0x0000ffff0000ffff;
    x = (x | x >> 16) & 0xffffffff;
  }
  return x;
}

}  // namespace detail

// Cells low … high of every axis, ends included.
template <int D>
struct CellBlock {
  std::array<std::int64_t, D> low{}, high{};
};

template <int D>
struct OctreeGrid {
  // Bits of a key per axis.
  static constexpr int deepest = D == 3 ? 21 : 31;

  struct Line {
    double origin = 0, inverse = 0, highest = 0;
  };
  std::array<Line, D> line{};
  std::array<std::int64_t, D> cells{};
  std::array<std::int64_t, D> radius{};
  std::array<bool, D> periodic{};
  int depth = 0;  // 2^depth cells hold the longest axis

  [[nodiscard]] bool any_periodic() const {
    return std::find(periodic.begin(), periodic.end(), true) != periodic.end();
  }
  [[nodiscard]] std::uint64_t keys() const { return std::uint64_t{1} << (D * depth); }

  // Coordinates interleaved, the first axis lowest: an aligned block of cells is a run of keys.
  [[nodiscard]] std::uint64_t key(const std::array<double, D>& x) const {
    std::uint64_t sum = 0;
    for (std::size_t a = 0; a < D; ++a) {
      const Line& l = line[a];
      if (l.inverse == 0) continue;  // one cell; 0 times infinity would be NaN
      const double t = std::min(std::max((x[a] - l.origin) * l.inverse, 0.0), l.highest);
      sum |= detail::spread<D>(static_cast<std::uint64_t>(t)) << a;
    }
    return sum;
  }

  // The cells of the block of 2^side cells per axis that starts with a key.
  [[nodiscard]] CellBlock<D> block(std::uint64_t key, int side) const {
    CellBlock<D> block;
    for (std::size_t a = 0; a < D; ++a) {
      block.low[a] = static_cast<std::int64_t>(detail::gather<D>(key >> a));
      block.high[a] = std::min(block.low[a] + (std::int64_t{1} << side), cells[a]) - 1;
    }
    return block;
  }
};

namespace detail {

// The extent of most bodies, with a margin of the same width on both sides: the part to resolve if the cells do not
// suffice for all strays.
template <class T, int D>
std::pair<double, double> middle_part(const BodyView<T, D>& points, int axis, double reach) {
  std::vector<double> sample;
  const std::size_t step = std::max<std::size_t>(1, points.size / 1024);
  for (std::size_t k = 0; k < points.size; k += step) sample.push_back(points.along(k, axis));
  std::sort(sample.begin(), sample.end());
  const std::size_t tail = sample.size() / 16;
  const double low = sample[tail];
  const double high = sample[sample.size() - 1 - tail];
  const double span = std::max(high - low, 1024 * reach);
  const auto a = static_cast<std::size_t>(axis);
  return {std::max(low - span, static_cast<double>(points.low[a])),
          std::min(high + span, static_cast<double>(points.high[a]))};
}

}  // namespace detail

// The root that the user requests instead of the bounds of the bodies.
template <int D>
struct OctreeDomain {
  bool given = false;
  std::array<double, D> low{}, high{};
};

// Cells as long as the reach, but at most 2^depth of them along an axis. A given domain is cut in halves, as in
// Koch (2020).
template <class T, int D>
OctreeGrid<D> lay_octree(const BodyView<T, D>& points, const Box<T, D>& box, const Reach<D>& reaches, int depth,
                         const OctreeDomain<D>& domain) {
  OctreeGrid<D> grid;
  constexpr double no_less = 1e-290;       // so that its inverse is finite
  constexpr double not_quite = 1 + 1e-12;  // so that there are 2^depth cells, not one more
  const double most = std::exp2(depth);
  const Bulk<D> bulk = find_bulk(points, box, reaches.largest(), most_strays(points.size));
  for (int axis = 0; axis < D; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const double reach = reaches.axis[a];
    const T edge = box.edge[a];
    grid.cells[a] = 1;
    grid.radius[a] = 1;
    if (points.size == 0) continue;
    Axis laid;
    if (edge > 0) {
      laid =
          periodic_axis(static_cast<double>(edge), periodic_reach(reach, edge), 1, no_less, std::int64_t{1} << depth);
      grid.periodic[a] = true;
      grid.radius[a] = laid.radius;
    } else if (domain.given) {
      const double extent = domain.high[a] - domain.low[a];
      int halvings = depth;
      while (halvings > 0 && extent / std::exp2(halvings) < reach * (1 + 1e-9)) --halvings;
      const double least = std::max(extent / std::exp2(halvings) * not_quite, no_less);
      laid = open_axis(domain.low[a], domain.high[a], domain.low[a], reach, 1, least);
    } else {
      double low = bulk.low[a];
      double high = bulk.high[a];
      if (depth == OctreeGrid<D>::deepest && !((high - low) / reach < most))
        std::tie(low, high) = detail::middle_part(points, axis, reach);
      const double least = std::max((high - low) / most * not_quite, no_less);
      laid = open_axis(low, high, low, reach, 1, least);
    }
    grid.cells[a] = std::min(laid.cells, std::int64_t{1} << depth);
    grid.line[a] = {laid.origin, laid.inverse, static_cast<double>(grid.cells[a] - 1)};
    grid.depth = std::max(grid.depth, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(grid.cells[a] - 1))));
  }
  return grid;
}

}  // namespace vicinal
