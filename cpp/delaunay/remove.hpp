// Removes a vertex and fills the hole with Delaunay triangles, ear by ear.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "delaunay/triangulation.hpp"

namespace vicinal::delaunay {

// Whether the vertex w, at any position, lies inside the circle of the triangle a b c. Any one of them may be the
// ghost.
inline bool encloses(const Triangulation& tri, Vertex a, Vertex b, Vertex c, Vertex w) {
  if (w == ghost) return false;  // no circle contains the point at infinity
  if (a == ghost || b == ghost || c == ghost) {
    const Vertex from = a == ghost ? b : b == ghost ? c : a;
    const Vertex to = a == ghost ? c : b == ghost ? a : b;
    const double outside = tri.orient(from, to, w);
    return outside > 0 || (outside == 0 && between(tri.points[from], tri.points[w], tri.points[to]));
  }
  const Point2 pa = tri.points[a], pb = tri.points[b], pc = tri.points[c], pw = tri.points[w];
  const double inside = tri.circle(pa, pb, pc, pw);
  if (inside != 0) [[likely]]
    return inside > 0;
  // Four on a circle. If w is the greatest it is raised above the plane of the others; otherwise the raised corner
  // tilts the plane, up over w if w is on its side of the opposite edge.
  const Point2 greatest = std::max({pa, pb, pc, pw}, lexicographic_less);
  if (greatest == pw) return false;
  if (greatest == pa) return tri.orient(pb, pc, pw) > 0;
  if (greatest == pb) return tri.orient(pc, pa, pw) > 0;
  return tri.orient(pa, pb, pw) > 0;
}

enum class Removal {
  done,
  becomes_flat,  // the other vertices lie on a line; the triangulation is unchanged
  too_large,     // too many neighbours to be worth it; the triangulation is unchanged
};

// Removes the vertex v. The triangulation must be Delaunay at `points`. Afterwards tri.hollow lists the new triangles.
//
// Why ears: all triangles of the Delaunay triangulation without v inside the hole have corners on the rim, and a
// triangle of three rim vertices in a row that encloses no other rim vertex is one of them (Devillers 2002): it is in
// the Delaunay triangulation of the rim vertices, and so is the required triangle on the same edge; there is only one.
// The rest is a smaller hole of the same kind, and a triangulated polygon with more than three corners has two ears.
inline Removal remove_vertex(Triangulation& tri, Vertex v) {
  tri.hollow.clear();
  tri.rim.clear();
  tri.stack.clear();
  std::vector<Edge>& outer = tri.rim;       // outer[k]: the edge beyond rim vertices k, k+1
  std::vector<Vertex>& corner = tri.stack;  // rim vertices, counter-clockwise
  const std::uint32_t first = tri.incident[v];
  for (std::uint32_t t = first;;) {
    const Triangle& here = tri.triangles[t];
    const std::uint32_t i = here.v[0] == v ? 0U : here.v[1] == v ? 1U : 2U;
    tri.hollow.push_back(t);
    corner.push_back(here.v[after(i)]);
    outer.push_back(here.n[i]);
    t = triangle_of(here.n[after(i)]);
    if (t == first) break;
  }
  const std::size_t degree = corner.size();
  // Testing ears takes about degree^2 steps, a rebuild about 100 per vertex (measured).
  if (degree > 64 && degree * degree > 64 * tri.vertices) return Removal::too_large;
  // If all others lie on a line, v is joined to each of them and to the ghost, and no other triangle is real.
  if (degree == tri.vertices) {
    Vertex a = none, b = none;
    bool bent = false;
    for (const Vertex c : corner) {
      if (c == ghost) continue;
      if (a == none) a = c;
      else if (b == none) b = c;
      else bent = bent || tri.orient(a, b, c) != 0;
    }
    if (!bent) return Removal::becomes_flat;
  }

  std::size_t used = 0;  // triangles of the hole that are in use again
  const auto fill = [&](std::size_t ka, std::size_t kb, std::size_t kc) {
    const std::uint32_t t = tri.hollow[used++];
    const std::array<Vertex, 3> ear{corner[ka], corner[kb], corner[kc]};
    tri.triangles[t].v = {ear[0], ear[1], ear[2], none};
    tri.join(edge_of(t, 2), outer[ka]);
    tri.join(edge_of(t, 0), outer[kb]);
    for (const Vertex w : ear)
      if (w != ghost) tri.incident[w] = t;
    return t;
  };
  const auto is_ear = [&](std::size_t ka, std::size_t kb, std::size_t kc) {
    const Vertex a = corner[ka], b = corner[kb], c = corner[kc];
    if (a != ghost && b != ghost && c != ghost && tri.orient(a, b, c) <= 0) return false;
    for (std::size_t k = 0; k < corner.size(); ++k)
      if (k != ka && k != kb && k != kc && encloses(tri, a, b, c, corner[k])) return false;
    return true;
  };
  std::size_t b = 0;
  while (corner.size() > 3) {
    const std::size_t size = corner.size();
    const std::size_t a = b == 0 ? size - 1 : b - 1;
    const std::size_t c = b + 1 == size ? 0 : b + 1;
    if (is_ear(a, b, c)) {
      outer[a] = edge_of(fill(a, b, c), 1);
      corner.erase(corner.begin() + static_cast<std::ptrdiff_t>(b));
      outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(b));
      if (b == corner.size()) b = 0;
    } else {
      b = c;
    }
  }
  const std::uint32_t t = fill(0, 1, 2);
  tri.join(edge_of(t, 1), outer[2]);

  for (const std::uint32_t spare : {tri.hollow[degree - 2], tri.hollow[degree - 1]}) tri.give_triangle(spare);
  tri.hollow.resize(degree - 2);
  tri.incident[v] = none;
  tri.last = t;
  --tri.vertices;
  return Removal::done;
}

}  // namespace vicinal::delaunay
