// All points move at once: look, untangle, flip, certify.
//
// 1. Look (a flat pass, in parallel): which triangles turn the wrong way at the new places, which edges are illegal
//    there? Usually few.
// 2. Untangle, still at the old places, where the triangulation is sound: of every triangle that would turn the wrong
//    way one vertex is taken out, until all that are left turn left at the new places.
// 3. Move, and flip the illegal edges away. A flip never makes a triangle that does not turn left (flip.hpp).
// 4. Certify: all triangles turn left and no edge is illegal, so the triangulation is Delaunay if the hull is a convex
//    polygon (verify.hpp); that is checked. It fails, for example, when a ring of points winds twice around another.
// 5. Put the vertices taken out back in at their new places.
//
// Whenever this is no longer worth it the answer is "rebuild".
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

// What a motion did.
struct Motion {
  bool rebuild = false;      // nothing (useful) was done: triangulate the new places from scratch
  std::size_t inverted = 0;  // triangles that turned the wrong way
  std::size_t suspect = 0;   // edges that the flat pass could not clear
  std::size_t flips = 0;
  std::size_t reinserted = 0;  // points taken out and put back
};

namespace detail {

inline double squared(Point2 a, Point2 b) { return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y); }

// Which corner to remove from a triangle that does not turn left at the new positions. Any corner would do. It is the
// corner that moved against the others, if by more than the size of the triangle; otherwise the triangle is flat, and
// it is the corner opposite its longest edge, which went over to the other side of it.
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

// About how many real triangles do not turn left at tri.points, from a sample.
inline std::size_t estimate_inverted(const Triangulation& tri) {
  constexpr std::size_t step = 64;
  std::size_t inverted = 0;
  for (std::size_t t = 0; t < tri.triangles.size(); t += step) {
    const Triangle& here = tri.triangles[t];
    if (here.real() && tri.orient(here.v[0], here.v[1], here.v[2]) <= 0) ++inverted;
  }
  return inverted * step;
}

// A point that is not in the triangulation, perhaps with twins of its own. The search starts from a point near it in
// curve order, if it is still near, or from the one put back before.
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

// Unhooks points that are no longer at the place of the vertex they hang on.
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

// Takes vertices out until all triangles turn left at `next`; `inverted` lists those that do not. The triangulation is
// at its old places, and stays Delaunay there. Adds the vertices to `pending`, new triangles to `fresh`. False if that
// takes too many.
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

// Moves every point to its place in `next`, which then holds the old places. If the answer is "rebuild", the points
// have moved and nothing else of the triangulation is to be used. If it is interrupted, nothing has changed.
inline Motion move_points(Triangulation& tri, std::vector<Point2>& next, Angles& angles) {
  Motion motion;
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

  // Beyond this the rebuild is cheaper. For 10^5 points (ms): a rebuild takes 32; the motion takes 8 with 1 700
  // inverted triangles, 19 with 6 000, 26 with 11 700. A sample tells when it is hopeless, unless the points are few.
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
  std::vector<Vertex> pending;       // points to be put back
  std::vector<std::uint32_t> fresh;  // triangles that the survey has not seen
  detail::part_twins(tri, pending);
  if (motion.inverted > worthwhile || pending.size() > worthwhile) return give_up();

  if (!suspects.inverted.empty()) {
    change_places(old_tame);
    const bool done = detail::untangle(tri, next, next_tame, worthwhile, suspects.inverted, pending, fresh);
    change_places(next_tame);
    if (!done) return give_up();
  }

  // Edges on the list may belong to triangles that were replaced, or are vacant now; what stands there now is tested.
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
