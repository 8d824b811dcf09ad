// Where walls are, roughly: which places can have a wall particle within reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sph/particle_grid.hpp"
#include "sph/walls.hpp"

namespace vicinal::sph {

// Marks cells as large as the reach that hold wall particles, and the cells around them.
template <int D>
class WallMap {
 public:
  WallMap(std::span<const WallParticle<D>> walls, const FluidSpace<D>& space, double reach)
      : WallMap(walls, space, bounds_of(walls), reach) {}

  // Places outside of the grid count as places in its outermost cells, as wall particles near them do.
  [[nodiscard]] bool near(const Vector<D>& x) const { return marked_[grid_.number(grid_.cell_of(x))] != 0; }

 private:
  static constexpr std::size_t most_cells = std::size_t{1} << 20;

  WallMap(std::span<const WallParticle<D>> walls, const FluidSpace<D>& space, const ParticleBounds<D>& bounds,
          double reach)
      : grid_(space, bounds, bounds, reach, most_cells), marked_(grid_.cells(), 0) {
    for (const WallParticle<D>& wall : walls) marked_[grid_.number(grid_.cell_of(wall.x))] = 1;
    std::size_t stride = 1;
    for (std::size_t a = 0; a < D; ++a) {
      spread(a, stride);
      stride *= static_cast<std::size_t>(grid_.count[a]);
    }
  }
  static ParticleBounds<D> bounds_of(std::span<const WallParticle<D>> walls) {
    ParticleBounds<D> bounds;
    if (walls.empty()) bounds.add(Vector<D>{});
    for (const WallParticle<D>& wall : walls) bounds.add(wall.x);
    return bounds;
  }
  // Marks the neighbours of marked cells along an axis.
  void spread(std::size_t axis, std::size_t stride) {
    const auto count = static_cast<std::size_t>(grid_.count[axis]);
    const std::vector<std::uint8_t> before = marked_;
    for (std::size_t c = 0; c < before.size(); ++c) {
      if (before[c] == 0) continue;
      const std::size_t place = c / stride % count, first = c - place * stride;
      if (place > 0) marked_[c - stride] = 1;
      else if (grid_.periodic[axis]) marked_[first + (count - 1) * stride] = 1;
      if (place + 1 < count) marked_[c + stride] = 1;
      else if (grid_.periodic[axis]) marked_[first] = 1;
    }
  }

  ParticleGrid<D> grid_;
  std::vector<std::uint8_t> marked_;
};

}  // namespace vicinal::sph
