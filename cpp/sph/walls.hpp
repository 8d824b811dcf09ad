// Wall particles: where they are, how they move, what they take over from the fluid.
#pragma once

#include <cstdint>

#include "sph/particle_grid.hpp"

namespace vicinal::sph {

template <int D>
struct WallParticle {
  Vector<D> x, normal, u, acceleration;  // normals point into the fluid
  double pressure;
  std::uint32_t slips;  // fluid slips along it freely
};

}  // namespace vicinal::sph
