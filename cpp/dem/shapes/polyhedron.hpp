// Convex polyhedra, by their vertices.
#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include "dem/shapes/shape.hpp"

namespace vicinal::dem {

struct Polyhedron {
  static constexpr std::string_view name = "polyhedron";
  std::vector<Vec> vertices;

  static Polyhedron make(const ShapeValues& values) { return {values.list("vertices")}; }
  [[nodiscard]] Vec farthest(const Frame& at, Vec d) const {
    const Vec own = rotate(conjugate(at.turned), d);
    double most = -std::numeric_limits<double>::infinity();
    Vec best;
    for (const Vec& v : vertices) {
      const double along = dot(v, own);
      if (along > most) {
        most = along;
        best = v;
      }
    }
    return at.centre + rotate(at.turned, best);
  }
};

}  // namespace vicinal::dem
