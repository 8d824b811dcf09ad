// Builds a triangulation from points, and adds points to one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "delaunay/insert.hpp"
#include "delaunay/locate.hpp"
#include "delaunay/triangulation.hpp"
#include "exec/threads.hpp"

namespace vicinal::delaunay {

// Attaches v to the vertex at the same position.
inline void attach_twin(Triangulation& tri, Vertex v, Vertex vertex) {
  tri.host[v] = vertex;
  tri.twin[v] = tri.twin[vertex];
  tri.twin[vertex] = v;
}

inline bool all_tame(std::span<const Point2> points) {
  return std::all_of(points.begin(), points.end(), [](Point2 p) { return exact::is_tame(p); });
}

namespace detail {

// One real triangle and the three ghosts around it, where triangles 2 v and 2 v + 1 are spare for every vertex v.
inline void first_triangle(Triangulation& tri, Vertex a, Vertex b, Vertex c) {
  if (tri.orient(a, b, c) < 0) std::swap(b, c);
  const std::array<Vertex, 3> v{a, b, c};
  const std::uint32_t t = 2 * a;
  const std::array<std::uint32_t, 3> outside{2 * a + 1, 2 * b, 2 * b + 1};
  tri.triangles[t].v = {a, b, c, none};
  for (std::uint32_t i = 0; i < 3; ++i) tri.triangles[outside[i]].v = {ghost, v[before(i)], v[after(i)], none};
  for (std::uint32_t i = 0; i < 3; ++i) {
    tri.join(edge_of(t, i), edge_of(outside[i], 0));
    tri.join(edge_of(outside[i], 1), edge_of(outside[before(i)], 2));  // the edge from v[after(i)] to the ghost
    tri.incident[v[i]] = t;
    tri.host[v[i]] = v[i];
  }
  tri.vertices = 3;
  tri.flat = false;
  tri.last = t;
}

// All points on a line: the vertices in order, coincident points attached to the first of them.
inline void build_line(Triangulation& tri) {
  std::vector<Vertex> order(tri.points.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](Vertex a, Vertex b) {
    return lexicographic_less(tri.points[a], tri.points[b]) || (tri.points[a] == tri.points[b] && a < b);
  });
  for (const Vertex v : order) {
    if (!tri.line.empty() && tri.points[tri.line.back()] == tri.points[v]) {
      attach_twin(tri, v, tri.line.back());
      continue;
    }
    tri.line.push_back(v);
    tri.host[v] = v;
  }
  tri.vertices = tri.line.size();
}

// Adds v to a triangulation with triangles: as a vertex, or attached to the one at its position. The search starts at
// `start`; `spare` returns two vacant triangles.
template <class Spare>
void place(Triangulation& tri, Vertex v, std::uint32_t start, Spare&& spare) {
  const std::uint32_t t = locate(tri, tri.points[v], start);
  const Vertex same = vertex_at(tri, t, tri.points[v]);
  if (same != none) {
    attach_twin(tri, v, same);
    tri.last = t;
    return;
  }
  insert_vertex(tri, v, t, spare());
  tri.host[v] = v;
}
inline void place(Triangulation& tri, Vertex v, std::uint32_t start) {
  place(tri, v, start, [&] { return std::array{tri.take_triangle(), tri.take_triangle()}; });
}

}  // namespace detail

// Triangulates tri.points, which should be in curve order (curve.hpp).
//
// Every 8^k-th point goes in first, then every 8^(k-1)-th, and so on: the first passes spread over the whole set, so
// later points fall into triangles of ordinary shape (as in a biased randomised order: Amenta, Choi, Rote 2003), and
// along the curve each point is located a step or two from the one before. That takes 30 ms instead of 39 in a single
// pass for 10^5 random points; factors 4 and 16 are a little slower.
//
// n vertices make 2 n - 2 triangles, ghosts included, two for each new one. Those of vertex v are numbered 2 v and
// 2 v + 1, so triangles are in curve order, too: passes over them are 1.3 times as fast as in the order of insertion.
inline void build(Triangulation& tri) {
  constexpr std::size_t factor = 8;
  constexpr std::size_t first_pass = 64;  // points in the first pass, at least
  constexpr std::size_t poll_stride = 4096;
  tri.clear();
  tri.tame = all_tame(tri.points);
  const std::size_t n = tri.points.size();
  // Two distinct points, and a third one not on their line.
  Vertex b = 0, c = 0;
  while (b < n && tri.points[b] == tri.points[0]) ++b;
  if (b < n) c = b + 1;
  while (b < n && c < n && tri.orient(Vertex{0}, b, c) == 0) ++c;
  if (b >= n || c >= n) return detail::build_line(tri);

  tri.triangles.assign(2 * n, Triangle{});
  detail::first_triangle(tri, 0, b, c);
  std::size_t stride = 1;
  while (n / (stride * factor) >= first_pass) stride *= factor;
  for (; stride > 0; stride /= factor)
    for (std::size_t k = 0; k < n; k += stride) {
      if (k % poll_stride == 0) throw_if_interrupted();
      const auto v = static_cast<Vertex>(k);
      if (tri.host[v] == none) detail::place(tri, v, tri.last, [v] { return std::array{2 * v, 2 * v + 1}; });
      else if (tri.incident[v] != none) tri.last = tri.incident[v];
    }
  for (std::uint32_t t = 0; t < tri.triangles.size(); ++t)
    if (tri.triangles[t].dead()) tri.vacant.push_back(t);
}

// Adds the last point, which is new. `near` is a vertex to start from, or `none`.
inline void add_point(Triangulation& tri, Vertex v, Vertex near = none) {
  const Point2 p = tri.points[v];
  tri.tame = tri.tame && exact::is_tame(p);
  if (!tri.flat) {
    const std::uint32_t start = near == none ? none : tri.incident[near];
    return detail::place(tri, v, start == none ? tri.last : start);
  }
  const auto at = std::lower_bound(tri.line.begin(), tri.line.end(), p,
                                   [&](Vertex a, Point2 q) { return lexicographic_less(tri.points[a], q); });
  if (at != tri.line.end() && tri.points[*at] == p) return attach_twin(tri, v, *at);
  if (tri.line.size() >= 2 && tri.orient(tri.line.front(), tri.line.back(), v) != 0) return build(tri);
  tri.line.insert(at, v);
  tri.host[v] = v;
  ++tri.vertices;
}

}  // namespace vicinal::delaunay
