// Adds and removes single points and keeps the numbering dense: the last point takes the number of the removed one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "delaunay/build.hpp"
#include "delaunay/remove.hpp"
#include "delaunay/triangulation.hpp"

namespace vicinal::delaunay {

namespace detail {

// Makes the point w, at the same position as the vertex v, a vertex in place of v.
inline void replace_vertex(Triangulation& tri, Vertex v, Vertex w) {
  if (tri.flat) {
    const auto at = std::lower_bound(tri.line.begin(), tri.line.end(), tri.points[v],
                                     [&](Vertex a, Point2 p) { return lexicographic_less(tri.points[a], p); });
    *at = w;
  } else {
    std::uint32_t t = tri.incident[v];
    do {
      Triangle& here = tri.triangles[t];
      const std::uint32_t i = here.v[0] == v ? 0U : here.v[1] == v ? 1U : 2U;
      here.v[i] = w;
      t = triangle_of(here.n[after(i)]);
    } while (t != tri.incident[v]);
  }
  tri.incident[w] = tri.incident[v];
  tri.incident[v] = none;
}

inline Vertex& link_to(Triangulation& tri, Vertex v) {
  Vertex* link = &tri.twin[tri.host[v]];
  while (*link != v) link = &tri.twin[*link];
  return *link;
}

// Gives the point v the number w, which is unused.
inline void renumber(Triangulation& tri, Vertex v, Vertex w) {
  tri.points[w] = tri.points[v];
  tri.twin[w] = tri.twin[v];
  if (tri.host[v] == v) {
    replace_vertex(tri, v, w);
    for (Vertex t = w; t != none; t = tri.twin[t]) tri.host[t] = w;
  } else {
    tri.host[w] = tri.host[v];
    tri.incident[w] = none;
    link_to(tri, v) = w;
  }
}

}  // namespace detail

// Removes the point v; the last point, if it is another one, becomes v. Returns false without a change if the other
// points need a new triangulation (they lie on a line, or v has very many neighbours).
inline bool remove_point(Triangulation& tri, Vertex v) {
  const auto last = static_cast<Vertex>(tri.points.size() - 1);
  if (tri.host[v] != v) {
    detail::link_to(tri, v) = tri.twin[v];
  } else if (const Vertex heir = tri.twin[v]; heir != none) {
    detail::replace_vertex(tri, v, heir);
    for (Vertex w = heir; w != none; w = tri.twin[w]) tri.host[w] = heir;
  } else if (tri.flat) {
    tri.line.erase(std::find(tri.line.begin(), tri.line.end(), v));
    --tri.vertices;
  } else if (remove_vertex(tri, v) != Removal::done) {
    return false;
  }
  if (v != last) detail::renumber(tri, last, v);
  tri.points.pop_back();
  tri.incident.pop_back();
  tri.twin.pop_back();
  tri.host.pop_back();
  return true;
}

// Appends a point and adds it to the triangulation.
inline void append_point(Triangulation& tri, Point2 p, Vertex near = none) {
  const auto v = static_cast<Vertex>(tri.points.size());
  tri.points.push_back(p);
  tri.incident.push_back(none);
  tri.twin.push_back(none);
  tri.host.push_back(none);
  add_point(tri, v, near);
}

}  // namespace vicinal::delaunay
