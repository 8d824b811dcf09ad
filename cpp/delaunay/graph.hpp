// The edges as flat lists: the neighbours of every vertex.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "delaunay/triangulation.hpp"

namespace vicinal::delaunay {

// Calls f(w) for every vertex w joined to the vertex v, counter-clockwise. There must be triangles.
template <class F>
void for_each_neighbour(const Triangulation& tri, Vertex v, F&& f) {
  const std::uint32_t first = tri.incident[v];
  std::uint32_t t = first;
  do {
    const Triangle& here = tri.triangles[t];
    const std::uint32_t i = here.v[0] == v ? 0U : here.v[1] == v ? 1U : 2U;
    if (here.v[after(i)] != ghost) f(here.v[after(i)]);
    t = triangle_of(here.n[after(i)]);
  } while (t != first);
}

inline double squared_distance(Point2 a, Point2 b) {
  const double dx = a.x - b.x, dy = a.y - b.y;
  return dx * dx + dy * dy;
}

// Row v: the vertices joined to the vertex v by an edge not longer than a limit. Empty for a point attached to a
// vertex.
class Graph {
 public:
  // Edges with fl(length^2) <= limit2.
  //
  // Every triangle, ghosts included, contributes its edges in its own direction, so every edge occurs once in each
  // direction. Two passes over the triangles: rows are counted, then filled. (Walking around each vertex takes three
  // times as long.)
  void build(const Triangulation& tri, double limit2 = std::numeric_limits<double>::infinity()) {
    const std::size_t n = tri.points.size();
    start_.assign(n + 2, 0);
    const auto keep = [&](Vertex v, Vertex w) {
      return v != ghost && w != ghost && squared_distance(tri.points[v], tri.points[w]) <= limit2;
    };
    // Counts are stored two places further on, so that start_[v + 1] is the beginning of row v and, after filling, its
    // end.
    kept_.resize(tri.triangles.size());
    for (std::size_t t = 0; t < tri.triangles.size(); ++t) {
      const auto& v = tri.triangles[t].v;
      unsigned flags = 0;
      for (std::uint32_t i = 0; i < 3; ++i)
        if (keep(v[i], v[after(i)])) {
          ++start_[v[i] + 2];
          flags |= 1U << i;
        }
      kept_[t] = static_cast<std::uint8_t>(flags);
    }
    for (std::size_t k = 1; k < tri.line.size(); ++k)
      if (const Vertex v = tri.line[k - 1], w = tri.line[k]; keep(v, w)) ++start_[v + 2], ++start_[w + 2];
    longest_ = start_.empty() ? 0 : *std::max_element(start_.begin(), start_.end());
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    ends_.resize(start_.back());
    for (std::size_t t = 0; t < tri.triangles.size(); ++t) {
      const auto& v = tri.triangles[t].v;
      for (std::uint32_t i = 0; i < 3; ++i)
        if ((kept_[t] >> i & 1U) != 0) ends_[start_[v[i] + 1]++] = v[after(i)];
    }
    for (std::size_t k = 1; k < tri.line.size(); ++k)
      if (const Vertex v = tri.line[k - 1], w = tri.line[k]; keep(v, w)) {
        ends_[start_[v + 1]++] = w;
        ends_[start_[w + 1]++] = v;
      }
  }
  [[nodiscard]] std::span<const Vertex> operator[](Vertex v) const {
    return {ends_.data() + start_[v], ends_.data() + start_[v + 1]};
  }
  // The length of the longest row.
  [[nodiscard]] std::size_t longest() const { return longest_; }
  [[nodiscard]] std::size_t bytes() const {
    return (start_.capacity() + ends_.capacity()) * sizeof(std::uint32_t) + kept_.capacity();
  }

 private:
  std::vector<std::uint32_t> start_;
  std::vector<Vertex> ends_;
  std::vector<std::uint8_t> kept_;  // per triangle, which edges to keep
  std::size_t longest_ = 0;
};

}  // namespace vicinal::delaunay
