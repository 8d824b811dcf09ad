// One grid of the hierarchical hash grid: infinite, its cells folded onto a small block of bins.
//
// A cell number is a monotone function of the coordinate (each operation rounds monotonically), so a body between two
// coordinates lies in a cell between theirs: no pair is lost to rounding, for any cell size and any coordinates. Cells
// that share a bin only add candidates.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "index/structure.hpp"

namespace vicinal {

// Consecutive bins along one axis in the same image.
struct BinRun {
  std::uint32_t first, last;  // last included
  std::int16_t shift;
};

struct HashAxis {
  static constexpr double far = 0x1p46;
  double origin = 0;
  double inverse = 0;                               // cells per length
  double edge = 0;                                  // of a periodic axis, otherwise 0
  double lowest = -far, highest = far, lift = far;  // of a periodic axis 0, the last cell, 0
  std::uint32_t mask = 0;                           // bins - 1, where the number of bins is a power of two

  // Above zero, a cast rounds down. (The sum need not be exact, only monotone.)
  [[nodiscard]] std::int64_t cell(double x) const {
    const double t = (x - origin) * inverse;
    return static_cast<std::int64_t>(std::min(std::max(t, lowest), highest) + lift);
  }
  // Correct for negative numbers, too, in two's complement.
  [[nodiscard]] std::uint32_t bin(std::int64_t cell) const { return static_cast<std::uint32_t>(cell) & mask; }

  // The bins of all cells between two coordinates, images included.
  void runs(double low, double high, std::vector<BinRun>& bins) const {
    if (edge == 0) {
      add(cell(low), cell(high), 0, bins);
      return;
    }
    const auto first = static_cast<std::int64_t>(std::floor(low / edge));
    const auto last = static_cast<std::int64_t>(std::floor(high / edge));
    for (std::int64_t s = first; s <= last; ++s) {
      const double moved = static_cast<double>(s) * edge;
      add(cell(std::max(low - moved, 0.0)), cell(high - moved), static_cast<std::int16_t>(s), bins);
    }
  }
  void add(std::int64_t from, std::int64_t to, std::int16_t shift, std::vector<BinRun>& bins) const {
    if (to < from) return;
    if (to - from >= static_cast<std::int64_t>(mask)) {
      bins.push_back({0, mask, shift});
    } else if (bin(from) <= bin(to)) {
      bins.push_back({bin(from), bin(to), shift});
    } else {
      bins.push_back({bin(from), mask, shift});
      bins.push_back({0, bin(to), shift});
    }
  }
};

// The grid of bodies up to a size. There are always three axes; in 2D the third has one bin.
template <int D>
struct HashLevel {
  std::array<HashAxis, 3> axis;
  double limit = 0;                    // the largest size (radius, longest edge) of its bodies
  std::array<double, D> edge_limit{};  // of boxes along each axis
  // The largest distance of the position of a body of this level below or above the extent of its neighbour.
  std::array<double, D> below{}, above{};
  std::uint32_t first = 0;  // its bins are first … first + bins() - 1 of all
  std::size_t bodies = 0;
  bool wide = false;  // cells are wider than the bodies reach

  [[nodiscard]] std::uint32_t bins() const { return (axis[0].mask + 1) * (axis[1].mask + 1) * (axis[2].mask + 1); }
  template <class X>
  [[nodiscard]] std::uint32_t bin(X&& x) const {
    std::uint32_t sum = 0;
    for (int a = D - 1; a >= 0; --a) {
      const HashAxis& line = axis[static_cast<std::size_t>(a)];
      sum = sum * (line.mask + 1) + line.bin(line.cell(x(a)));
    }
    return first + sum;
  }
};

}  // namespace vicinal
