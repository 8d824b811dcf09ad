// Edge flips: from any proper triangulation to the Delaunay triangulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "delaunay/angles.hpp"
#include "delaunay/triangulation.hpp"

namespace vicinal::delaunay {

// Whether the edge e must be flipped. Its triangles are c a b and d b a. The real ones must turn left.
//   * All real: d is inside the circle of c a b (or the rule for ties selects cd). Then the quadrilateral is strictly
//     convex: d is beyond ab, inside the circle or, for a tie, on its far arc; so the new triangles turn left, too.
//   * An edge between the ghost and a vertex x of the hull: the hull is dented at x. Then the new triangle turns left.
//   * A hull edge (c or d is the ghost) stays.
inline bool illegal(const Triangulation& tri, Edge e) {
  const Triangle& t = tri.triangles[triangle_of(e)];
  const std::uint32_t i = side_of(e);
  const Vertex c = t.v[i], a = t.v[after(i)], b = t.v[before(i)];
  const Vertex d = tri.apex(t.n[i]);
  if (((a | b | c | d) >> 31U) == 0) [[likely]] {
    const Point2 pa = tri.points[a], pb = tri.points[b], pc = tri.points[c], pd = tri.points[d];
    const double inside = tri.circle(pc, pa, pb, pd);
    if (inside != 0) [[likely]]
      return inside > 0;
    return tie_prefers_second(pa, pb, pc, pd);
  }
  if (c == ghost || d == ghost) return false;
  return a == ghost ? tri.orient(d, b, c) > 0 : tri.orient(c, a, d) > 0;
}

// Replaces c a b, d b a by c a d, d b c.
inline void flip(Triangulation& tri, Edge e) {
  const std::uint32_t t = triangle_of(e), i = side_of(e);
  const Edge f = tri.across(e);
  const std::uint32_t u = triangle_of(f), j = side_of(f);
  const Triangle left = tri.triangles[t];
  const Triangle right = tri.triangles[u];
  const Vertex c = left.v[i], a = left.v[after(i)], b = left.v[before(i)], d = right.v[j];
  tri.triangles[t].v = {c, a, d, none};
  tri.triangles[u].v = {d, b, c, none};
  tri.join(edge_of(t, 0), right.n[after(j)]);
  tri.join(edge_of(t, 2), left.n[before(i)]);
  tri.join(edge_of(u, 0), left.n[after(i)]);
  tri.join(edge_of(u, 2), right.n[before(j)]);
  tri.join(edge_of(t, 1), edge_of(u, 1));
  if (a != ghost) tri.incident[a] = t;
  if (b != ghost) tri.incident[b] = u;
}

// Flips until no edge is illegal; `suspects` must contain every illegal edge (from either side) and is used up. All
// real triangles must turn left, and `angles` must have measured all triangles.
//
// Every flip of a real edge lowers the surface of lifted points, every flip at the ghost adds area to the hull and is
// never undone; there are finitely many triangulations, so this ends (Lawson 1977).
inline std::size_t legalise(Triangulation& tri, Angles& angles, std::vector<Edge>& suspects) {
  std::size_t flips = 0;
  while (!suspects.empty()) {
    const Edge e = suspects.back();
    suspects.pop_back();
    const int judgement = angles.judge(e, tri.across(e));
    if (judgement > 0 || (judgement == 0 && !illegal(tri, e))) continue;
    const std::uint32_t t = triangle_of(e), u = triangle_of(tri.across(e));
    flip(tri, e);
    ++flips;
    angles.measure(tri, t);
    angles.measure(tri, u);
    for (const Edge around : {edge_of(t, 0), edge_of(t, 2), edge_of(u, 0), edge_of(u, 2)})
      if (angles.judge(around, tri.across(around)) <= 0) suspects.push_back(around);
  }
  return flips;
}

}  // namespace vicinal::delaunay
