// Cells as large as the support of the smoothing kernel, and particles sorted into them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace vicinal::sph {

template <int D>
using Vector = std::array<double, D>;

// Space: periodic along some axes, open along the others.
template <int D>
struct FluidSpace {
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
struct ParticleBounds {
  Vector<D> low, high;
  ParticleBounds() {
    low.fill(std::numeric_limits<double>::infinity());
    high.fill(-std::numeric_limits<double>::infinity());
  }
  void add(const Vector<D>& x) {
    for (std::size_t a = 0; a < D; ++a) {
      low[a] = std::min(low[a], x[a]);
      high[a] = std::max(high[a], x[a]);
    }
  }
  void add(const ParticleBounds& other) {
    for (std::size_t a = 0; a < D; ++a) {
      low[a] = std::min(low[a], other.low[a]);
      high[a] = std::max(high[a], other.high[a]);
    }
  }
};

// Cells lie at multiples of their size from `origin`, and `first` is the multiple where the grid begins: places of
// particles relative to cells do not depend on how far the grid reaches, which differs between ranks.
template <int D>
struct ParticleGrid {
  Vector<D> origin{}, size{}, per_size{};
  std::array<std::int64_t, D> first{};
  std::array<std::int32_t, D> count{};
  std::array<bool, D> periodic{};

  // A grid over the given bounds. Cells become larger than `reach` where there would be more than `most` of them over
  // the bounds of all ranks: a particle far away costs time, not memory.
  ParticleGrid(const FluidSpace<D>& space, const ParticleBounds<D>& own, const ParticleBounds<D>& all, double reach,
               std::size_t most) {
    // Slightly larger than the reach, so that rounding never puts neighbours two cells apart.
    for (double edge = reach * (1 + 1e-6);; edge *= 2) {
      double cells = 1;
      for (std::size_t a = 0; a < D; ++a) {
        periodic[a] = space.periodic(a);
        double n;
        if (periodic[a]) {
          origin[a] = space.low[a];
          n = std::max(1.0, std::floor(space.period[a] / edge));
          size[a] = space.period[a] / n;
          cells *= n;
        } else {
          size[a] = edge;
          const double from = std::floor(own.low[a] / edge);
          n = std::floor(own.high[a] / edge) - from + 1;
          first[a] = static_cast<std::int64_t>(from);
          cells *= std::floor(all.high[a] / edge) - std::floor(all.low[a] / edge) + 1;
        }
        count[a] = static_cast<std::int32_t>(std::min(n, 2e9));
        per_size[a] = 1 / size[a];
      }
      if (cells <= static_cast<double>(most)) return;
    }
  }

  bool operator==(const ParticleGrid&) const = default;

  [[nodiscard]] std::size_t cells() const {
    std::size_t n = 1;
    for (const std::int32_t c : count) n *= static_cast<std::size_t>(c);
    return n;
  }
  using Cell = std::array<std::int32_t, D>;
  [[nodiscard]] Cell cell_of(const Vector<D>& x) const {
    Cell cell;
    for (std::size_t a = 0; a < D; ++a) {
      // std::floor is a call of the library where the processor may lack its instruction.
      const double place = (x[a] - origin[a]) * per_size[a];
      const auto whole = static_cast<std::int64_t>(place);
      const std::int64_t below = whole - (place < static_cast<double>(whole) ? 1 : 0);
      cell[a] = static_cast<std::int32_t>(std::clamp<std::int64_t>(below - first[a], 0, count[a] - 1));
    }
    return cell;
  }
  // x is the fastest axis.
  [[nodiscard]] std::uint32_t number(const Cell& cell) const {
    std::size_t n = 0;
    for (std::size_t a = D; a-- > 0;) n = n * static_cast<std::size_t>(count[a]) + static_cast<std::size_t>(cell[a]);
    return static_cast<std::uint32_t>(n);
  }
  // The cell of a number.
  [[nodiscard]] Cell cell_at(std::size_t number) const {
    Cell cell;
    for (std::size_t a = 0; a < D; ++a) {
      const auto along = static_cast<std::size_t>(count[a]);
      cell[a] = static_cast<std::int32_t>(number % along);
      number /= along;
    }
    return cell;
  }
  [[nodiscard]] double corner(const Cell& cell, std::size_t a) const {
    return origin[a] + static_cast<double>(first[a] + cell[a]) * size[a];
  }
};

}  // namespace vicinal::sph
