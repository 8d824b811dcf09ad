// The vertex nearest to a position, by descending along edges; and to a vertex, among its neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "delaunay/graph.hpp"
#include "delaunay/triangulation.hpp"

namespace vicinal::delaunay {

// The vertex nearest to p (any of several equally near ones). There must be a vertex.
//
// From any vertex some neighbour is nearer to p, unless the vertex is nearest: its Voronoi cell is bounded by the
// bisectors with its neighbours alone. Along a line the distance falls, then rises.
inline Vertex nearest_vertex(const Triangulation& tri, Point2 p, Vertex start) {
  const bool tame = tri.tame && exact::is_tame(p);
  const auto nearer = [&](Vertex a, Vertex b) {
    const Point2 pa = tri.points[a], pb = tri.points[b];
    return (tame ? compare_distance_tame(p, pa, pb) : compare_distance(p, pa, pb)) < 0;
  };
  if (tri.flat) {
    std::size_t low = 0, high = tri.line.size() - 1;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (nearer(tri.line[middle + 1], tri.line[middle])) low = middle + 1;
      else high = middle;
    }
    return tri.line[low];
  }
  Vertex here = start < tri.host.size() ? tri.host[start] : tri.host[0];
  for (Vertex best = here;; here = best) {
    for_each_neighbour(tri, here, [&](Vertex w) {
      if (nearer(w, best)) best = w;
    });
    if (best == here) return here;
  }
}

// By slot: the smallest id among the points at the same position.
inline std::vector<std::uint32_t> labels(const Triangulation& tri, std::span<const std::uint32_t> ids) {
  std::vector<std::uint32_t> label(ids.begin(), ids.end());
  if (tri.vertices == tri.points.size()) return label;
  for (Vertex v = 0; v < label.size(); ++v) {
    Vertex& shared = label[tri.host[v]];
    shared = std::min(shared, ids[v]);
  }
  for (Vertex v = 0; v < label.size(); ++v) label[v] = label[tri.host[v]];
  return label;
}

// The id of the point nearest to each point (`none` if there is no other), by slot. Of several equally near ones, the
// smallest id.
//
// A nearest neighbour w of v is joined to v: the disc with diameter vw touches the empty disc around v only at w, so no
// third point is in it or on its rim, and vw is an edge of every Delaunay triangulation. All distances are compared
// exactly, so this holds for the computed result.
inline void nearest_points(const Triangulation& tri, const Graph& graph, std::span<const std::uint32_t> ids,
                           std::span<std::uint32_t> result) {
  const std::vector<std::uint32_t> label = labels(tri, ids);
  const auto compare = [&](Point2 o, Point2 a, Point2 b) {
    return tri.tame ? compare_distance_tame(o, a, b) : compare_distance(o, a, b);
  };
  for (Vertex v = 0; v < tri.points.size(); ++v) {
    if (tri.host[v] != v) continue;
    if (tri.twin[v] != none) {
      // Coincident points: the nearest of each is the smallest id other than its own.
      std::uint32_t first = none, second = none;
      for (Vertex w = v; w != none; w = tri.twin[w]) {
        if (ids[w] < first) second = first, first = ids[w];
        else if (ids[w] < second) second = ids[w];
      }
      for (Vertex w = v; w != none; w = tri.twin[w]) result[w] = ids[w] == first ? second : first;
      continue;
    }
    Vertex best = none;
    for (const Vertex w : graph[v]) {
      const double order = best == none ? -1 : compare(tri.points[v], tri.points[w], tri.points[best]);
      if (order < 0 || (order == 0 && label[w] < label[best])) best = w;
    }
    result[v] = best == none ? none : label[best];
  }
}

}  // namespace vicinal::delaunay
