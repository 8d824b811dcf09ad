// Adds a vertex: removes the triangles whose circles contain it, and fills the hole with a fan.
//
// Legalising flips around a new vertex p only ever turn an edge towards p, so the flips of one insertion can be done at
// once: the triangles in conflict with p go, and every edge of the hole is joined to p (Lawson 1977; Bowyer 1981). This
// halves the writes, and a point on an edge, on the hull or outside needs no special case.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "delaunay/locate.hpp"
#include "delaunay/triangulation.hpp"

namespace vicinal::delaunay {

// Whether p lies inside the circle of the triangle that e belongs to, which is reached over e from a triangle in
// conflict. The circle of a ghost triangle is the open half-plane outside its hull edge, and the inside of the edge
// itself.
inline bool conflicts(const Triangulation& tri, Edge e, Point2 p) {
  const Triangle& t = tri.triangles[triangle_of(e)];
  const Vertex d = t.v[side_of(e)];
  const Vertex a = t.v[after(side_of(e))];
  const Vertex b = t.v[before(side_of(e))];
  if (((a | b | d) >> 31U) == 0) [[likely]] {
    const Point2 pa = tri.points[a], pb = tri.points[b], pd = tri.points[d];
    const double inside = tri.circle(pd, pa, pb, p);
    if (inside != 0) [[likely]]
      return inside > 0;
    return tie_prefers_second(pa, pb, pd, p);
  }
  const Vertex from = d == ghost ? a : a == ghost ? b : d;
  const Vertex to = d == ghost ? b : a == ghost ? d : a;
  const double outside = tri.orient(tri.points[from], tri.points[to], p);
  return outside > 0 || (outside == 0 && between(tri.points[from], p, tri.points[to]));
}

// Makes v a vertex. `t` is the result of `locate` for it; no vertex may be at the same position.
//
// `t` is in conflict: p is inside it, or on an edge of it (not at a vertex), or outside its hull edge. The triangles in
// conflict are connected, and because every vertex of them stays on the rim of the hole their dual graph is a tree. So
// a depth-first search from t reaches each of them once, needs no marks, and visits the edges of the rim in
// counter-clockwise order. It needs two triangles more than it frees; these are `spare`.
inline void insert_vertex(Triangulation& tri, Vertex v, std::uint32_t t, std::array<std::uint32_t, 2> spare) {
  const Point2 p = tri.points[v];
  tri.hollow.clear();
  tri.rim.clear();
  tri.stack.clear();
  tri.hollow.push_back(t);
  const Triangle& first = tri.triangles[t];
  tri.stack.push_back(first.n[2]);
  tri.stack.push_back(first.n[1]);
  tri.stack.push_back(first.n[0]);
  while (!tri.stack.empty()) {
    const Edge e = tri.stack.back();
    tri.stack.pop_back();
    if (!conflicts(tri, e, p)) {
      tri.rim.push_back(e);
      continue;
    }
    const Triangle& further = tri.triangles[triangle_of(e)];
    tri.hollow.push_back(triangle_of(e));
    tri.stack.push_back(further.n[before(side_of(e))]);
    tri.stack.push_back(further.n[after(side_of(e))]);
  }

  tri.hollow.insert(tri.hollow.end(), spare.begin(), spare.end());
  const std::size_t fans = tri.rim.size();  // a tree of k triangles has k + 2 edges around it
  std::uint32_t previous = tri.hollow[fans - 1];
  for (std::size_t k = 0; k < fans; ++k) {
    const Edge e = tri.rim[k];
    const std::uint32_t fan = tri.hollow[k];
    const std::uint32_t next = tri.hollow[k + 1 < fans ? k + 1 : 0];
    Triangle& outer = tri.triangles[triangle_of(e)];
    const Vertex a = outer.v[before(side_of(e))];
    const Vertex b = outer.v[after(side_of(e))];
    outer.n[side_of(e)] = edge_of(fan, 0);
    tri.triangles[fan] = Triangle{{v, a, b, none}, {e, edge_of(next, 2), edge_of(previous, 1), none}};
    if (a != ghost) tri.incident[a] = fan;
    previous = fan;
  }
  tri.incident[v] = tri.last = tri.hollow[0];
  ++tri.vertices;
}

}  // namespace vicinal::delaunay
