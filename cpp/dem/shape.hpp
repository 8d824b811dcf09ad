// Convex shapes: a core whose farthest point in any direction is known, and a ball that rounds it off. Rounding is what
// makes contacts well behaved: as long as cores do not meet, there is one shortest connection of them, and it gives
// normal, overlap and point of the contact.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "dem/vec.hpp"

namespace vicinal::dem {

struct Shape {
  enum class Kind { sphere, tablet, polyhedron };
  Kind kind = Kind::sphere;
  double margin = 0;  // radius of the ball
  double radius = 0;  // effective, for the law: that of the sphere of equal volume
  // Tablet: two balls of radius `cap` around ∓ `cap_centre` on the axis z, cut by a cylinder of radius `band`; the
  // cylinder ends at ± `rim`.
  double band = 0, cap = 0, cap_centre = 0, rim = 0;
  std::vector<Vec> vertices;

  // The point of the core farthest in a direction, in the frame of the shape.
  [[nodiscard]] Vec farthest(Vec d) const {
    if (kind == Kind::sphere) return {};
    if (kind == Kind::polyhedron) {
      double most = -std::numeric_limits<double>::infinity();
      Vec best;
      for (const Vec& v : vertices) {
        const double along = dot(v, d);
        if (along > most) {
          most = along;
          best = v;
        }
      }
      return best;
    }
    const double across = std::sqrt(d.x * d.x + d.y * d.y), side = d.z < 0 ? -1.0 : 1.0;
    const double length = std::sqrt(across * across + d.z * d.z);
    if (cap * across <= band * length && length > 0) {
      const double s = cap / length;
      return {s * d.x, s * d.y, s * d.z + side * cap_centre};
    }
    const double s = across > 0 ? band / across : 0;
    return {s * d.x, s * d.y, side * rim};
  }
};

// A shape somewhere.
struct Posed {
  const Shape* shape;
  Vec centre;
  Quat turned;
  [[nodiscard]] Vec farthest(Vec d) const {
    return centre + rotate(turned, shape->farthest(rotate(conjugate(turned), d)));
  }
};

// A triangle, as a core without rounding.
struct Face {
  Vec corners[3];
  [[nodiscard]] Vec farthest(Vec d) const {
    const double a = dot(corners[0], d), b = dot(corners[1], d), c = dot(corners[2], d);
    if (a >= b && a >= c) return corners[0];
    return b >= c ? corners[1] : corners[2];
  }
};

}  // namespace vicinal::dem
