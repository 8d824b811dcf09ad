// Finds the triangle that contains a point, by a walk towards it.
#pragma once

#include <cstdint>

#include "delaunay/triangulation.hpp"

namespace vicinal::delaunay {

// A real triangle that contains p (edges included), or a ghost triangle whose hull edge has p strictly outside.
//
// Each step crosses an edge that has p strictly on its other side. In a Delaunay triangulation the walk cannot cycle:
// such a step goes to a triangle whose circle has a smaller power with respect to p (De Floriani, Falcidieni, Nagy,
// Pienovi 1991); with exact predicates and the perturbed lift the same holds for ties. No marks are needed.
inline std::uint32_t locate(const Triangulation& tri, Point2 p, std::uint32_t start) {
  const bool tame = tri.tame && exact::is_tame(p);
  std::uint32_t t = start;
  for (std::uint32_t i = 0; i < 3; ++i)  // out of a ghost triangle over its hull edge
    if (tri.triangles[t].v[i] == ghost) {
      t = triangle_of(tri.triangles[t].n[i]);
      break;
    }
  std::uint32_t entry = 3;  // p is on this side of the edge that the walk entered through
  for (;;) {
    const Triangle& here = tri.triangles[t];
    Edge exit = none;
    const auto beyond = [&](std::uint32_t i) {
      if (i == entry) return false;
      const Point2 a = tri.points[here.v[after(i)]], b = tri.points[here.v[before(i)]];
      if ((tame ? orient2d_tame(a, b, p) : orient2d(a, b, p)) >= 0) return false;
      exit = here.n[i];
      return true;
    };
    if (!beyond(0) && !beyond(1) && !beyond(2)) return t;
    t = triangle_of(exit);
    entry = side_of(exit);
    if (tri.triangles[t].v[entry] == ghost) return t;
  }
}

// The vertex of triangle t that is exactly at p, or `none`.
inline Vertex vertex_at(const Triangulation& tri, std::uint32_t t, Point2 p) {
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Vertex v = tri.triangles[t].v[i];
    if (v != ghost && tri.points[v] == p) return v;
  }
  return none;
}

}  // namespace vicinal::delaunay
