// All points move at once: inspect, untangle, flip, certify.
//
// 1. Inspect all triangles, in parallel: list the (usually few) triangles that turn the wrong way at the new positions,
//    and the edges that are illegal there.
// 2. Untangle, still at the old positions, where the triangulation is valid: remove one vertex of every triangle that
//    would turn the wrong way, until all remaining triangles turn left at the new positions.
// 3. Move the points, and flip the illegal edges. A flip never makes a triangle that does not turn left (flip.hpp).
// 4. Certify: all triangles turn left and no edge is illegal, so the triangulation is Delaunay if the hull is a convex
//    polygon (verify.hpp); that is checked. It fails, for example, when a ring of points winds twice around another.
// 5. Reinsert the removed vertices at their new positions.
//
// Where a rebuild is cheaper, `rebuild` is returned.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "delaunay/angles.hpp"
#include "delaunay/build.hpp"
#include "delaunay/curve.hpp"
#include "delaunay/flip.hpp"
#include "delaunay/remove.hpp"
#include "delaunay/triangulation.hpp"
#include "delaunay/verify.hpp"

namespace vicinal::delaunay {

// The result of a motion.
struct MotionResult {
  bool rebuild = false;      // no usable result: triangulate the new positions from scratch
  std::size_t inverted = 0;  // triangles that turned the wrong way
  std::size_t suspect = 0;   // edges not known to be legal after the inspection
  std::size_t flips = 0;
  std::size_t reinserted = 0;  // points removed and inserted again
};

namespace detail {

inline double squared(Point2 a, Point2 b) { return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y); }

// The corner to remove from a triangle that does not turn left at the new positions. Any corner would be valid. It is
// the corner that moved relative to the others, if by more than the size of the triangle; otherwise the triangle is
// flat, and it is the corner opposite its longest edge, which crossed that edge.
inline Vertex culprit(std::span<const Point2> old, std::span<const Point2> next, const Triangle& t) {
  std::array<double, 3> moved{}, length{};
  double size = 0;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Vertex a = t.v[after(i)], b = t.v[before(i)], c = t.v[i];
    const auto relative = [&](std::span<const Point2> p) {
      return Point2{p[c].x - (p[a].x + p[b].x) / 2, p[c].y - (p[a].y + p[b].y) / 2};
    };
    moved[i] = squared(relative(old), relative(next));
    length[i] = squared(next[a], next[b]);
    size = std::max(size, squared(old[a], old[b]));
  }
  const auto most = std::max_element(moved.begin(), moved.end()) - moved.begin();
  const auto opposite = std::max_element(length.begin(), length.end()) - length.begin();
  return t.v[static_cast<std::size_t>(moved[static_cast<std::size_t>(most)] > size ? most : opposite)];
}

// An estimate from a sample: the number of real triangles that do not turn left at tri.points.
inline std::size_t estimate_inverted(const Triangulation& tri) {
  constexpr std::size_t step = 64;
  std::size_t inverted = 0;
  for (std::size_t t = 0; t < tri.triangles.size(); t += step) {
    const Triangle& here = tri.triangles[t];
    if (here.real() && tri.orient(here.v[0], here.v[1], here.v[2]) <= 0) ++inverted;
  }
  return inverted * step;
}

// Inserts a point that is not in the triangulation, perhaps with twins. The search starts from a point near it in curve
// order, if it is still near, or from the one inserted before.
inline void put_back(Triangulation& tri, Vertex v, Vertex previous) {
  constexpr Vertex farthest = 8;
  Vertex near = none;
  for (Vertex k = 1; k <= farthest && near == none; ++k) {
    if (v >= k && tri.incident[v - k] != none) near = v - k;
    else if (v + k < tri.points.size() && tri.incident[v + k] != none) near = v + k;
  }
  const auto nearer = [&](Vertex a, Vertex b) {
    return squared(tri.points[v], tri.points[a]) < squared(tri.points[v], tri.points[b]);
  };
  if (previous != none && tri.incident[previous] != none && (near == none || nearer(previous, near))) near = previous;
  const std::uint32_t start = near == none ? tri.last : tri.incident[near];
  Vertex twins = tri.twin[v];
  tri.twin[v] = none;
  place(tri, v, start);
  while (twins != none) {
    const Vertex w = twins;
    twins = tri.twin[w];
    attach_twin(tri, w, tri.host[v]);
  }
}

// Detaches points that are no longer at the position of their vertex.
inline void part_twins(Triangulation& tri, std::vector<Vertex>& pending) {
  if (tri.vertices == tri.points.size()) return;
  for (Vertex v = 0; v < tri.points.size(); ++v) {
    if (tri.host[v] != v) continue;
    for (Vertex* link = &tri.twin[v]; *link != none;) {
      const Vertex w = *link;
      if (tri.points[w] == tri.points[v]) {
        link = &tri.twin[w];
        continue;
      }
      *link = tri.twin[w];
      tri.twin[w] = none;
      tri.host[w] = none;
      pending.push_back(w);
    }
  }
}

// Removes vertices until all triangles turn left at `next`; `inverted` lists those that do not. The triangulation is at
// its old positions, and stays Delaunay there. Adds the vertices to `pending`, new triangles to `fresh`. False if too
// many vertices would have to be removed.
inline bool untangle(Triangulation& tri, std::span<const Point2> next, bool next_tame, std::size_t most,
                     std::vector<std::uint32_t>& inverted, std::vector<Vertex>& pending,
                     std::vector<std::uint32_t>& fresh) {
  const auto turns_left = [&](const Triangle& t) {
    const Point2 a = next[t.v[0]], b = next[t.v[1]], c = next[t.v[2]];
    return (next_tame ? orient2d_tame(a, b, c) : orient2d(a, b, c)) > 0;
  };
  while (!inverted.empty()) {
    const Triangle& t = tri.triangles[inverted.back()];
    inverted.pop_back();
    if (!t.real() || turns_left(t)) continue;  // replaced in the meantime
    const Vertex v = culprit(tri.points, next, t);
    if (pending.size() >= most || remove_vertex(tri, v) != Removal::done) return false;
    pending.push_back(v);
    for (const std::uint32_t filler : tri.hollow) {
      if (tri.triangles[filler].real() && !turns_left(tri.triangles[filler])) inverted.push_back(filler);
      fresh.push_back(filler);
    }
  }
  return true;
}

inline std::uint32_t find_ghost_triangle(const Triangulation& tri) {
  std::uint32_t t = 0;
  while (tri.triangles[t].dead() || tri.triangles[t].real()) ++t;
  return t;
}

}  // namespace detail

// Moves every point to its position in `next`, which then holds the old positions. If the result is `rebuild`, the
// points have moved and the rest of the triangulation is invalid. An interrupt changes nothing.
inline MotionResult move_points(Triangulation& tri, std::vector<Point2>& next, Angles& angles) {
  MotionResult motion;
  const bool old_tame = tri.tame;
  const bool next_tame = all_tame(next);
  const auto change_places = [&](bool tame) {
    tri.points.swap(next);
    tri.tame = tame;
  };
  const auto give_up = [&motion] {
    motion.rebuild = true;
    return motion;
  };
  change_places(next_tame);
  if (tri.flat) return give_up();

  // Beyond this a rebuild is cheaper. For 10^5 points (ms): a rebuild takes 32; the motion takes 8 with 1 700 inverted
  // triangles, 19 with 6 000, 26 with 11 700. Unless there are few points, a sample detects this case beforehand.
  const std::size_t worthwhile = tri.vertices / 8;
  constexpr std::size_t few = 10000;
  motion.inverted = tri.vertices > few ? detail::estimate_inverted(tri) : 0;
  if (motion.inverted > 2 * worthwhile) return give_up();
  Suspects suspects;
  try {
    suspects = survey(tri, angles);
  } catch (...) {  // interrupted, before anything was changed
    change_places(old_tame);
    throw;
  }
  motion.inverted = suspects.inverted.size();
  motion.suspect = suspects.edges.size();
  std::vector<Vertex> pending;       // points to be inserted again
  std::vector<std::uint32_t> fresh;  // triangles made after the inspection
  detail::part_twins(tri, pending);
  if (motion.inverted > worthwhile || pending.size() > worthwhile) return give_up();

  if (!suspects.inverted.empty()) {
    change_places(old_tame);
    const bool done = detail::untangle(tri, next, next_tame, worthwhile, suspects.inverted, pending, fresh);
    change_places(next_tame);
    if (!done) return give_up();
  }

  // Listed edges may belong to triangles that were replaced or are vacant now; the current triangle is tested.
  std::erase_if(fresh, [&](std::uint32_t t) { return tri.triangles[t].dead(); });
  std::erase_if(suspects.edges, [&](Edge e) { return tri.triangles[triangle_of(e)].dead(); });
  for (const std::uint32_t t : fresh) {
    angles.measure(tri, t);
    for (std::uint32_t i = 0; i < 3; ++i) suspects.edges.push_back(edge_of(t, i));
  }
  motion.flips = legalise(tri, angles, suspects.edges);
  if (convex_hull_size(tri, detail::find_ghost_triangle(tri)) == 0) return give_up();

  motion.reinserted = pending.size();
  sort_along_curve(tri.points, pending);
  Vertex previous = none;
  for (const Vertex v : pending) {
    detail::put_back(tri, v, previous);
    previous = v;
  }
  return motion;
}

}  // namespace vicinal::delaunay
