// Cores without rounding: triangles of walls, and lines as triangles of which two corners are one.
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
