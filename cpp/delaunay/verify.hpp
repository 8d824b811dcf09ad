// Checks every invariant of triangulation.hpp from scratch.
//
// Why the checks suffice. The triangles, ghosts included, form a closed surface (a ring around every vertex) of Euler
// characteristic 2. A part without the ghost would be closed, and its signed area 0, though all its triangles turn
// left; so there is one part, a sphere, and without the ghost it is a disc. Call the real triangles a map of a disc
// into the plane. All of them turn left, so a point of the plane off the edges is covered as often as the rim winds
// around it. The rim turns left at every vertex, or goes straight on, and has one lexicographic maximum: so it turns
// by 2 pi in all and is a convex polygon, which winds once around its inside and not around its outside. So the
// triangles tile it, without overlap; two vertices cannot coincide, nor can a vertex be on an edge. And a triangulation
// of a convex polygon in which no edge is illegal is Delaunay everywhere (Delaunay 1934; for the perturbed lift: a
// function that is convex across every edge is convex).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "delaunay/triangulation.hpp"

namespace vicinal::delaunay {

enum class Flaw {
  nothing,
  neighbours,   // n is not symmetric, or the two sides of an edge have different ends
  incidence,    // incident[v] does not have v
  count,        // Euler's formula fails
  orientation,  // a triangle does not turn left
  circle,       // a vertex is inside a circle, or a tie is cut the wrong way
  hull,         // the hull is not a convex polygon
  points,       // a point is neither a vertex nor attached to one at the same position
  line,         // `line` is not in order, or not straight
};

// The number of vertices of the hull if it is a convex polygon (see above), 0 otherwise.
inline std::size_t convex_hull_size(const Triangulation& tri, std::uint32_t ghost_triangle) {
  std::size_t size = 0, maxima = 0;
  const auto ghost_side = [&](std::uint32_t t) {
    const Triangle& g = tri.triangles[t];
    return g.v[0] == ghost ? 0U : g.v[1] == ghost ? 1U : 2U;
  };
  std::uint32_t t = ghost_triangle;
  do {
    const Triangle& here = tri.triangles[t];
    const std::uint32_t i = ghost_side(t);
    t = triangle_of(here.n[after(i)]);
    // Seen from outside, the hull runs a, b, c and turns right.
    const Point2 a = tri.points[here.v[after(i)]], b = tri.points[here.v[before(i)]];
    const Point2 c = tri.points[tri.triangles[t].v[before(ghost_side(t))]];
    const double turn = orient2d(a, b, c);
    if (turn > 0 || (turn == 0 && !between(a, b, c))) return 0;
    if (lexicographic_less(a, b) && lexicographic_less(c, b)) ++maxima;
    ++size;
  } while (t != ghost_triangle && maxima < 2);
  return maxima == 1 ? size : 0;
}

inline Flaw verify_points(const Triangulation& tri) {
  std::size_t vertices = 0;
  std::vector<std::uint8_t> listed(tri.points.size(), 0);
  for (Vertex v = 0; v < tri.points.size(); ++v) {
    if (tri.host[v] == v) {
      ++vertices;
      for (Vertex w = tri.twin[v]; w != none; w = tri.twin[w]) {
        if (listed[w] != 0 || tri.host[w] != v || tri.points[w] != tri.points[v]) return Flaw::points;
        listed[w] = 1;
      }
    }
  }
  for (Vertex v = 0; v < tri.points.size(); ++v)
    if ((tri.host[v] != v) != (listed[v] != 0)) return Flaw::points;
  return vertices == tri.vertices ? Flaw::nothing : Flaw::count;
}

inline Flaw verify_line(const Triangulation& tri) {
  if (tri.line.size() != tri.vertices) return Flaw::count;
  for (std::size_t k = 0; k < tri.line.size(); ++k) {
    if (tri.host[tri.line[k]] != tri.line[k]) return Flaw::points;
    const Point2 p = tri.points[tri.line[k]];
    if (k > 0 && !lexicographic_less(tri.points[tri.line[k - 1]], p)) return Flaw::line;
    if (k > 1 && orient2d(tri.points[tri.line[0]], tri.points[tri.line[1]], p) != 0) return Flaw::line;
  }
  return Flaw::nothing;
}

inline Flaw verify(const Triangulation& tri) {
  if (const Flaw flaw = verify_points(tri); flaw != Flaw::nothing) return flaw;
  if (tri.flat) return verify_line(tri);
  std::size_t living = 0, ghosts = 0;
  std::uint32_t ghost_triangle = none;
  std::vector<std::uint8_t> seen(tri.points.size(), 0);
  for (std::uint32_t t = 0; t < tri.triangles.size(); ++t) {
    const Triangle& here = tri.triangles[t];
    if (here.dead()) continue;
    ++living;
    if (!here.real()) {
      ++ghosts;
      ghost_triangle = t;
    } else if (orient2d(tri.points[here.v[0]], tri.points[here.v[1]], tri.points[here.v[2]]) <= 0) {
      return Flaw::orientation;
    }
    for (std::uint32_t i = 0; i < 3; ++i) {
      if (here.v[i] != ghost) {
        if (here.v[i] >= tri.points.size() || tri.host[here.v[i]] != here.v[i]) return Flaw::points;
        seen[here.v[i]] = 1;
      }
      const Edge e = here.n[i];
      if (triangle_of(e) >= tri.triangles.size() || side_of(e) > 2) return Flaw::neighbours;
      const Triangle& there = tri.triangles[triangle_of(e)];
      if (there.n[side_of(e)] != edge_of(t, i) || there.v[after(side_of(e))] != here.v[before(i)] ||
          there.v[before(side_of(e))] != here.v[after(i)])
        return Flaw::neighbours;
      // The circle of each real triangle must not contain the opposite corner of a real neighbour.
      const Vertex d = there.v[side_of(e)];
      if (!here.real() || d == ghost) continue;
      const Point2 c = tri.points[here.v[i]], a = tri.points[here.v[after(i)]], b = tri.points[here.v[before(i)]];
      const double inside = incircle(c, a, b, tri.points[d]);
      if (inside > 0 || (inside == 0 && tie_prefers_second(a, b, c, tri.points[d]))) return Flaw::circle;
    }
  }
  // The triangles around each vertex form one ring, and with Euler's formula the whole is a sphere.
  if (living != 2 * tri.vertices - 2) return Flaw::count;
  std::size_t corners = ghosts;
  for (Vertex v = 0; v < tri.points.size(); ++v) {
    if (tri.host[v] != v) continue;
    if (seen[v] == 0) return Flaw::points;
    std::uint32_t t = tri.incident[v];
    if (t >= tri.triangles.size()) return Flaw::incidence;
    do {
      const Triangle& here = tri.triangles[t];
      if (here.v[0] != v && here.v[1] != v && here.v[2] != v) return Flaw::incidence;
      t = triangle_of(here.n[after(here.v[0] == v ? 0U : here.v[1] == v ? 1U : 2U)]);
      ++corners;
    } while (t != tri.incident[v] && corners <= 3 * living);
  }
  if (corners != 3 * living) return Flaw::incidence;
  return ghosts >= 3 && convex_hull_size(tri, ghost_triangle) == ghosts ? Flaw::nothing : Flaw::hull;
}

}  // namespace vicinal::delaunay
