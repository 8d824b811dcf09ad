// The shortest connection of two convex cores, by the algorithm of Gilbert, Johnson and Keerthi: it finds the point of
// their Minkowski difference that is nearest to the origin, by iteration over simplices of at most four support points.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "dem/surface_parts.hpp"
#include "dem/vec.hpp"

namespace vicinal::dem {

namespace gjk {

struct SupportPoint {
  Vec first, second;
  [[nodiscard]] Vec difference() const { return second - first; }
};

// Corners and their weights. The weighted sum of the differences is the point of the simplex nearest to the origin.
struct Simplex {
  std::array<SupportPoint, 4> corners;
  std::array<double, 4> weights{};
  std::size_t size = 0;

  [[nodiscard]] Vec nearest() const {
    Vec sum;
    for (std::size_t k = 0; k < size; ++k) sum += weights[k] * corners[k].difference();
    return sum;
  }
};

// The following functions return the point of an edge, triangle or tetrahedron that is nearest to the origin, without
// the corners whose weight is 0.
inline Simplex nearest_of_edge(const SupportPoint& a, const SupportPoint& b) {
  const Vec p = a.difference(), along = b.difference() - p;
  const double length = dot(along, along), t = length > 0 ? -dot(p, along) / length : 0;
  if (t <= 0) return {{a}, {1}, 1};
  if (t >= 1) return {{b}, {1}, 1};
  return {{a, b}, {1 - t, t}, 2};
}

inline const Simplex& nearer(const Simplex& a, const Simplex& b) {
  const Vec p = a.nearest(), q = b.nearest();
  return dot(q, q) < dot(p, p) ? b : a;
}

inline Simplex nearest_of_triangle(const SupportPoint& a, const SupportPoint& b, const SupportPoint& c) {
  const Vec p = a.difference(), ab = b.difference() - p, ac = c.difference() - p, n = cross(ab, ac);
  const double area = dot(n, n);
  if (area > 0) {
    // Barycentric coordinates of the projection of the origin.
    const double v = dot(cross(ac, p), n) / area, w = dot(cross(p, ab), n) / area;
    const double u = 1 - v - w;
    if (u > 0 && v > 0 && w > 0) return {{a, b, c}, {u, v, w}, 3};
  }
  return nearer(nearer(nearest_of_edge(a, b), nearest_of_edge(b, c)), nearest_of_edge(c, a));
}

// A result of size 4 means that the origin is inside. A tetrahedron that is flat except for rounding has no inside,
// since the signs of its volumes are meaningless.
inline Simplex nearest_of_tetrahedron(const std::array<SupportPoint, 4>& c) {
  constexpr double flat = 1e-20;  // square of the ratio of thickness to size
  Simplex best;
  bool inside = true;
  for (std::size_t k = 0; k < 4; ++k) {
    const SupportPoint &a = c[(k + 1) % 4], &b = c[(k + 2) % 4], &d = c[(k + 3) % 4];
    const Vec p = a.difference(), n = cross(b.difference() - p, d.difference() - p);
    const Vec across = c[k].difference() - p;
    const double origin = -dot(p, n), opposite = dot(across, n);
    const bool thick = opposite * opposite > flat * (dot(across, across) * dot(n, n));
    if (origin * opposite > 0 && thick) continue;  // the origin is on the inner side of this face
    inside = false;
    const Simplex found = nearest_of_triangle(a, b, d);
    best = best.size == 0 ? found : nearer(best, found);
  }
  if (inside) return {c, {0.25, 0.25, 0.25, 0.25}, 4};
  return best;
}

}  // namespace gjk

// Returns the shortest connection of two cores. `towards` is an estimate of the direction from the first to the second.
// A distance of 0 means that the cores meet. If the cores are farther apart than `reach`, the iteration stops early,
// and the distance is only known to exceed `reach`.
template <class A, class B>
Connection connect(const A& first, const B& second, Vec towards, double reach) {
  constexpr int most = 64;            // iterations; curved cores need about a dozen
  constexpr double accurate = 1e-12;  // relative to the squared distance
  constexpr bool curved = requires { first.part(towards), second.part(towards); };
  [[maybe_unused]] Attempt attempt;
  if constexpr (curved) {
    if (attempt.holds(first, second, towards, accurate)) return attempt.found;
  }
  gjk::Simplex simplex;
  simplex.corners[0] = {first.farthest(towards), second.farthest(-towards)};
  simplex.weights[0] = 1;
  simplex.size = 1;
  Vec v = simplex.nearest();
  for (int round = 0; round < most; ++round) {
    const double square = dot(v, v);
    if (square == 0 || simplex.size == 4) return {{}, {}, 0};
    const gjk::SupportPoint next{first.farthest(v), second.farthest(-v)};
    // v·next / |v| is the distance of a separating plane from the origin, which is a lower bound of the distance.
    const double along = dot(v, next.difference());
    if (square - along <= accurate * square) break;
    if (along > 0 && along * along > reach * reach * square) break;
    const auto& c = simplex.corners;
    gjk::Simplex better;
    if (simplex.size == 1) better = gjk::nearest_of_edge(c[0], next);
    else if (simplex.size == 2) better = gjk::nearest_of_triangle(c[0], c[1], next);
    else better = gjk::nearest_of_tetrahedron({c[0], c[1], c[2], next});
    const Vec nearer = better.nearest();
    if (better.size < 4 && dot(nearer, nearer) >= square) break;  // only rounding errors remain
    simplex = better;
    v = nearer;
    if constexpr (curved) {
      if (attempt.holds(first, second, v, accurate)) return attempt.found;
    }
  }
  if (simplex.size == 4) return {{}, {}, 0};
  Connection found;
  for (std::size_t k = 0; k < simplex.size; ++k) {
    found.first += simplex.weights[k] * simplex.corners[k].first;
    found.second += simplex.weights[k] * simplex.corners[k].second;
  }
  found.distance = norm(v);
  return found;
}

}  // namespace vicinal::dem
