// Cores without rounding: triangles of walls, and line segments as triangles with two equal corners.
#pragma once

#include "dem/vec.hpp"

namespace vicinal::dem {

struct Face {
  Vec corners[3];
  [[nodiscard]] Vec farthest(Vec d) const {
    const double a = dot(corners[0], d), b = dot(corners[1], d), c = dot(corners[2], d);
    if (a >= b && a >= c) return corners[0];
    return b >= c ? corners[1] : corners[2];
  }
};

}  // namespace vicinal::dem
