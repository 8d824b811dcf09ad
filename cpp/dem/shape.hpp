// Convex shapes: a core whose farthest point in any direction is known, and a ball that rounds it off. Rounding is what
// makes contacts well behaved: as long as cores do not meet, there is one shortest connection of them, and it gives
// normal, overlap and point of the contact.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "dem/names.hpp"
#include "dem/patches.hpp"
#include "dem/vec.hpp"

namespace vicinal::dem {

struct Shape {
  enum class Kind : std::uint8_t { sphere, tablet, polyhedron };
  Kind kind = Kind::sphere;
  double margin = 0;  // radius of the ball
  double radius = 0;  // effective, for the law: that of the sphere of equal volume
  // Tablet: two balls of radius `cap` around ∓ `cap_centre` on the axis z, cut by a cylinder of radius `band`; the
  // cylinder ends at ± `rim`.
  double band = 0, cap = 0, cap_centre = 0, rim = 0;
  std::vector<Vec> vertices;

  // The vertex farthest in a direction, in the frame of the shape.
  [[nodiscard]] Vec farthest_vertex(Vec d) const {
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
};

inline constexpr std::string_view shape_kind_names[] = {"clump", "tablet", "polyhedron"};

// Throws std::invalid_argument with all names if there is no kind of this name. Clumps consist of spheres.
inline Shape::Kind shape_kind(std::string_view name) {
  return static_cast<Shape::Kind>(place_of(name, shape_kind_names, "kind of a shape"));
}

// A shape at a place.
struct Posed {
  const Shape* shape;
  Vec centre;
  Quat turned;
  Vec axis = rotate(turned, {0, 0, 1});

  // The point of the core farthest in a direction.
  [[nodiscard]] Vec farthest(Vec d) const {
    if (shape->kind == Shape::Kind::sphere) return centre;
    if (shape->kind == Shape::Kind::polyhedron)
      return centre + rotate(turned, shape->farthest_vertex(rotate(conjugate(turned), d)));
    const Parts parts(d, axis);
    const double side = parts.along < 0 ? -1.0 : 1.0;
    if (on_cap(parts)) return centre + (side * shape->cap_centre) * axis + (shape->cap / parts.length) * d;
    const double s = parts.sine > 0 ? shape->band / parts.sine : 0;
    return centre + (side * shape->rim) * axis + s * parts.across;
  }
  // The patch on which that point is.
  [[nodiscard]] Patch patch(Vec d) const {
    if (shape->kind == Shape::Kind::sphere) return {Patch::Kind::ball, centre, 0, {}, 0};
    if (shape->kind == Shape::Kind::polyhedron) return {};
    const Parts parts(d, axis);
    if (!on_cap(parts)) return {Patch::Kind::side, centre, shape->band, axis, shape->rim};
    const double side = parts.along < 0 ? -1.0 : 1.0;
    return {Patch::Kind::ball, centre + (side * shape->cap_centre) * axis, shape->cap, {}, 0};
  }

 private:
  // A direction along and across the axis of a tablet.
  struct Parts {
    double along;
    Vec across;
    double sine, length;  // of `across`, and of all
    Parts(Vec d, Vec axis)
        : along(dot(d, axis)), across(d - along * axis), sine(norm(across)),
          length(std::sqrt(along * along + sine * sine)) {}
  };
  // Whether a tablet is farthest on a cap.
  [[nodiscard]] bool on_cap(const Parts& parts) const {
    return shape->cap * parts.sine <= shape->band * parts.length && parts.length > 0;
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
