// Cells as large as the support of the smoothing kernel, and particles sorted into them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace vicinal::sph {

template <int D>
using Vector = std::array<double, D>;

// Space: periodic along some axes, open along the others.
template <int D>
struct Space {
  Vector<D> low{}, period{};  // a period of 0: open
  [[nodiscard]] bool periodic(std::size_t a) const { return period[a] > 0; }
  void wrap(Vector<D>& x) const {
    for (std::size_t a = 0; a < D; ++a) {
      if (!periodic(a) || (x[a] >= low[a] && x[a] < low[a] + period[a])) continue;
      x[a] -= period[a] * std::floor((x[a] - low[a]) / period[a]);
    }
  }
};

template <int D>
struct Grid {
  Vector<D> low{}, size{};
  std::array<std::int32_t, D> count{};
  std::array<bool, D> periodic{};

  // A grid over the given bounds. Cells become larger than `reach` where there would be more than `most` of them: a
  // particle far away costs time, not memory.
  Grid(const Space<D>& space, const Vector<D>& lower, const Vector<D>& upper, double reach, std::size_t most) {
    // Slightly larger than the reach, so that rounding never puts neighbours two cells apart.
    for (double edge = reach * (1 + 1e-6);; edge *= 2) {
      double cells = 1;
      for (std::size_t a = 0; a < D; ++a) {
        periodic[a] = space.periodic(a);
        double n;
        if (periodic[a]) {
          low[a] = space.low[a];
          n = std::max(1.0, std::floor(space.period[a] / edge));
          size[a] = space.period[a] / n;
        } else {
          // Corners are multiples of the edge, so that cells stay in place while particles move.
          low[a] = std::floor(lower[a] / edge) * edge;
          size[a] = edge;
          n = std::floor((upper[a] - low[a]) / edge) + 1;
        }
        cells *= n;
        count[a] = static_cast<std::int32_t>(std::min(n, 2e9));
      }
      if (cells <= static_cast<double>(most)) return;
    }
  }

  bool operator==(const Grid&) const = default;

  [[nodiscard]] std::size_t cells() const {
    std::size_t n = 1;
    for (const std::int32_t c : count) n *= static_cast<std::size_t>(c);
    return n;
  }
  using Cell = std::array<std::int32_t, D>;
  [[nodiscard]] Cell cell_of(const Vector<D>& x) const {
    Cell cell;
    for (std::size_t a = 0; a < D; ++a)
      cell[a] = std::clamp(static_cast<std::int32_t>((x[a] - low[a]) / size[a]), 0, count[a] - 1);
    return cell;
  }
  // x is the fastest axis.
  [[nodiscard]] std::uint32_t number(const Cell& cell) const {
    std::size_t n = 0;
    for (std::size_t a = D; a-- > 0;) n = n * static_cast<std::size_t>(count[a]) + static_cast<std::size_t>(cell[a]);
    return static_cast<std::uint32_t>(n);
  }
  [[nodiscard]] double corner(const Cell& cell, std::size_t a) const { return low[a] + cell[a] * size[a]; }
};

}  // namespace vicinal::sph
