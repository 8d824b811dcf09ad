// Finds all points within a radius by walking along edges.
//
// Why the walk reaches all of them. Let q be a vertex, or any position, and w a vertex with |qw| = d <= r. The segment
// from q to w passes through Voronoi cells of vertices v0, v1, ..., vk = w, v0 being the vertex nearest to q (q itself,
// if it is one); cells that follow each other share a border, so v(i), v(i+1) are joined by an edge. Where the segment
// meets the cell of v(i), at x, v(i) is at least as near to x as w is: it lies in the disc around x through w, and that
// disc is inside the disc around q with radius d, because |qx| + |xw| = d. So
//   (1) no vertex of this path is farther from q than w is;
// and if q is a vertex, v(i) is as near to x as q is, too, so it lies in the disc whose diameter is the segment qw, and
//   (2) no edge of this path is longer than d (Dickerson, Drysdale 1990); from any other position, no longer than 2 d.
// A walk from v0 over edges not longer than r (2 r) that continues from every vertex within r reaches w. Ties: the
// triangulation is the Delaunay triangulation of a perturbed lift, to which all this applies with infinitely small
// errors (the power diagram takes the place of the Voronoi diagram); the bounds are closed, so they hold in the limit.
// On a line the cells are slabs, and the same holds.
//
// Rounding must only make the walk go too far. `reach` must bound the true distance of any pair that passes the exact
// test, and all distances here are computed to a few units of 2^-53, so they are compared with reach^2 (1 + 2^-40).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "delaunay/graph.hpp"
#include "delaunay/nearest.hpp"
#include "delaunay/triangulation.hpp"

namespace vicinal::delaunay {

// The limit for computed squared distances that leaves out no point within `reach`. A reach so small that squares might
// underflow is treated as larger; an infinite limit accepts every point.
inline double walk_limit(double reach) {
  constexpr double smallest = 1e-140;
  const double r = std::max(reach, smallest);
  return r * r * (1 + 0x1p-40);
}

// Slots begin ... end-1.
struct Run {
  Vertex begin, end;
};

// Walks over one triangulation; each thread has its own. O(points) memory, allocated once.
//
// Lists are written without branches (every entry is written, and kept or overwritten), because no processor predicts
// whether a vertex was seen or is near: 24 ns per entry instead of 40, at 20 neighbours per point. A bit per slot
// instead of a stamp is slower (33 ns), because neighbours share a word, so their updates depend on each other.
class Walker {
 public:
  // `graph` must have been built with walk_limit(reach), or more.
  Walker(const Triangulation& tri, const Graph& graph, double reach)
      : tri_(tri), graph_(graph), limit_(walk_limit(reach)), seen_(tri.points.size(), 0),
        reached_(tri.points.size() + 1), fresh_(graph.longest() + 1), near_(tri.points.size() / 64 + 1, 0) {}

  // All points within reach of the point q, without q itself. Each distance is computed once.
  std::span<const Vertex> around(Vertex q) {
    const Vertex start = tri_.host[q];
    const Point2 at = tri_.points[start];
    begin();
    enter(start);
    spread([at](Point2 p) { return squared_distance(at, p); });
    append_twins();
    // q comes first or, if it is attached to a vertex, among the appended points.
    Vertex* const own = std::find(reached_.data(), reached_.data() + size_, q);
    *own = reached_[--size_];
    return {reached_.data(), size_};
  }

  // All points within reach of the box around the points in slots first ... last-1, those included, in ascending order.
  // One walk for many queries that are near each other: the result contains all neighbours of each. (The path to a
  // neighbour of q is within reach of q, so it is within reach of the box.)
  std::span<const Run> around(Vertex first, Vertex last) {
    begin();
    for (Vertex q = first; q < last; ++q)
      if (seen_[tri_.host[q]] != now_) enter(tri_.host[q]);
    return around_box(std::span(tri_.points).subspan(first, last - first));
  }

  // The same for any positions: all points within reach of one of them, and some others within reach of the box around
  // them. Each position starts from its nearest vertex, or has no neighbour if that is out of reach. `graph` must have
  // been built with walk_limit(2 * reach), or more.
  std::span<const Run> around(std::span<const Point2> places) {
    begin();
    for (const Point2 p : places) {
      nearest_ = nearest_vertex(tri_, p, nearest_);
      if (squared_distance(p, tri_.points[nearest_]) <= limit_ && seen_[nearest_] != now_) enter(nearest_);
    }
    return around_box(places);
  }

  // The end of a group of queries that starts at slot `first`: not beyond `last`, and as long as grouping pays off. For
  // a box of side s the walk visits the points in (s + 2 reach)^2. With s = 3 reach, about 60 queries at 20 neighbours
  // each, it costs a fifth of separate walks, and a query has about three times as many candidates as in a cell list.
  [[nodiscard]] Vertex group_end(Vertex first, Vertex last) const {
    return first + static_cast<Vertex>(group_size(std::span(tri_.points).subspan(first, last - first)));
  }
  [[nodiscard]] std::size_t group_size(std::span<const Point2> places) const {
    constexpr std::size_t most = 64;
    constexpr double widest = 9;  // side^2 / reach^2
    Point2 low = places[0], high = low;
    std::size_t size = 1;
    for (; size < std::min(places.size(), most); ++size) {
      low = {std::min(low.x, places[size].x), std::min(low.y, places[size].y)};
      high = {std::max(high.x, places[size].x), std::max(high.y, places[size].y)};
      const double side = std::max(high.x - low.x, high.y - low.y);
      if (!(side * side <= widest * limit_)) break;
    }
    return size;
  }

  // All points within reach of a position. `graph` must have been built with walk_limit(2 * reach), or more.
  std::span<const Vertex> around(Point2 at) {
    begin();
    if (tri_.vertices == 0) return {};
    nearest_ = nearest_vertex(tri_, at, nearest_);
    if (squared_distance(at, tri_.points[nearest_]) <= limit_) {
      enter(nearest_);
      spread([at](Point2 p) { return squared_distance(at, p); });
      append_twins();
    }
    return {reached_.data(), size_};
  }

  [[nodiscard]] std::size_t bytes() const {
    return (seen_.capacity() + reached_.capacity() + fresh_.capacity() + words_.capacity()) * sizeof(std::uint32_t) +
           near_.capacity() * sizeof(std::uint64_t) + runs_.capacity() * sizeof(Run);
  }

 private:
  void begin() {
    size_ = 0;
    if (++now_ != 0) return;
    std::fill(seen_.begin(), seen_.end(), 0U);  // after 2^32 walks
    now_ = 1;
  }
  void enter(Vertex v) {
    seen_[v] = now_;
    reached_[size_++] = v;
  }

  // Continues from the entered vertices to all vertices within reach of the box around some positions.
  std::span<const Run> around_box(std::span<const Point2> places) {
    Point2 low = places[0], high = low;
    for (const Point2 p : places) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
    spread([low, high](Point2 p) {
      const double dx = std::max(std::max(low.x - p.x, p.x - high.x), 0.0);
      const double dy = std::max(std::max(low.y - p.y, p.y - high.y), 0.0);
      return dx * dx + dy * dy;
    });
    append_twins();
    collect_runs();
    return runs_;
  }

  template <class Distance>
  void spread(Distance&& distance) {
    for (std::size_t k = 0; k < size_; ++k) {
      std::size_t unseen = 0;
      for (const Vertex w : graph_[reached_[k]]) {
        fresh_[unseen] = w;
        unseen += seen_[w] != now_ ? 1U : 0U;
        seen_[w] = now_;
      }
      for (std::size_t f = 0; f < unseen; ++f) {
        reached_[size_] = fresh_[f];
        size_ += distance(tri_.points[fresh_[f]]) <= limit_ ? 1U : 0U;
      }
    }
  }
  void append_twins() {
    if (tri_.vertices == tri_.points.size()) return;
    const std::size_t vertices = size_;
    for (std::size_t k = 0; k < vertices; ++k)
      for (Vertex w = tri_.twin[reached_[k]]; w != none; w = tri_.twin[w]) enter(w);
  }

  // The visited vertices as runs, by means of a bit per slot: only the words need sorting.
  void collect_runs() {
    words_.clear();
    for (std::size_t k = 0; k < size_; ++k) {
      std::uint64_t& word = near_[reached_[k] / 64];
      if (word == 0) words_.push_back(reached_[k] / 64);
      word |= std::uint64_t{1} << (reached_[k] % 64);
    }
    std::sort(words_.begin(), words_.end());
    runs_.clear();
    for (const std::uint32_t w : words_) {
      std::uint64_t word = std::exchange(near_[w], 0);
      while (word != 0) {
        const auto skip = static_cast<Vertex>(std::countr_zero(word));
        const auto length = static_cast<Vertex>(std::countr_one(word >> skip));
        const Run run{w * 64 + skip, w * 64 + skip + length};
        if (!runs_.empty() && runs_.back().end == run.begin) runs_.back().end = run.end;
        else runs_.push_back(run);
        word = skip + length == 64 ? 0 : word >> (skip + length) << (skip + length);
      }
    }
  }

  const Triangulation& tri_;
  const Graph& graph_;
  double limit_;
  std::vector<std::uint32_t> seen_;  // by slot: the last walk that visited it
  std::uint32_t now_ = 0;
  std::vector<Vertex> reached_, fresh_;
  std::size_t size_ = 0;
  std::vector<std::uint64_t> near_;
  std::vector<std::uint32_t> words_;
  std::vector<Run> runs_;
  Vertex nearest_ = 0;
};

}  // namespace vicinal::delaunay
