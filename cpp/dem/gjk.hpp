// The shortest connection of two convex cores, after Gilbert, Johnson and Keerthi: the point of their difference that
// is nearest to the origin, approached by simplices of at most four farthest points.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "dem/shape.hpp"
#include "dem/vec.hpp"

namespace vicinal::dem {

struct Connection {
  Vec first, second;  // nearest points of the two
  double distance = 0;
};

namespace gjk {

struct Corner {
  Vec first, second;
  [[nodiscard]] Vec difference() const { return second - first; }
};

// Corners and their weights; the weighted sum of differences is nearest to the origin.
struct Simplex {
  std::array<Corner, 4> corners;
  std::array<double, 4> weights{};
  std::size_t size = 0;

  [[nodiscard]] Vec nearest() const {
    Vec sum;
    for (std::size_t k = 0; k < size; ++k) sum += weights[k] * corners[k].difference();
    return sum;
  }
};

// The nearest point of some of the corners of a simplex, those that do not contribute left out.
inline Simplex nearest_of_edge(const Corner& a, const Corner& b) {
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

inline Simplex nearest_of_triangle(const Corner& a, const Corner& b, const Corner& c) {
  const Vec p = a.difference(), ab = b.difference() - p, ac = c.difference() - p, n = cross(ab, ac);
  const double area = dot(n, n);
  if (area > 0) {
    // Weights of the foot of the perpendicular from the origin.
    const double v = dot(cross(ac, p), n) / area, w = dot(cross(p, ab), n) / area;
    const double u = 1 - v - w;
    if (u > 0 && v > 0 && w > 0) return {{a, b, c}, {u, v, w}, 3};
  }
  return nearer(nearer(nearest_of_edge(a, b), nearest_of_edge(b, c)), nearest_of_edge(c, a));
}

// Size 4: the origin is inside.
inline Simplex nearest_of_tetrahedron(const std::array<Corner, 4>& c) {
  Simplex best;
  bool inside = true;
  for (std::size_t k = 0; k < 4; ++k) {
    const Corner &a = c[(k + 1) % 4], &b = c[(k + 2) % 4], &d = c[(k + 3) % 4];
    const Vec p = a.difference(), n = cross(b.difference() - p, d.difference() - p);
    const double origin = -dot(p, n), opposite = dot(c[k].difference() - p, n);
    if (origin * opposite > 0) continue;  // on the inner side of this face
    inside = false;
    const Simplex found = nearest_of_triangle(a, b, d);
    best = best.size == 0 ? found : nearer(best, found);
  }
  if (inside) return {c, {0.25, 0.25, 0.25, 0.25}, 4};
  return best;
}

}  // namespace gjk

// Where curved surfaces are nearest to each other simplices creep along them. So in every round the connection of the
// two patches looked at is tried as well. It is the right one, and nothing else needs to be known of the patches, if in
// its direction the farthest points of the two cores are just as far apart: then it is the shortest there can be, and
// its ends are on the cores.
namespace gjk {

// The direction in which two rims are nearest to each other, from a guess: the farthest points in that direction are
// connected along it. Newton's method: a rim of radius r moves its farthest point by r / sin of the angle between
// direction and axis, times the part of the change along the rim.
template <class A, class B>
Vec between_rims(const A& a, const B& b, const Patch& first, const Patch& second, Vec n) {
  constexpr int most = 6;
  n = (1 / norm(n)) * n;
  for (int round = 0; round < most; ++round) {
    const Vec apart = b.farthest(-n) - a.farthest(n);
    const double distance = dot(apart, n);
    const Vec off = apart - distance * n;
    if (dot(off, off) <= 1e-26 * dot(apart, apart)) break;
    const Vec one = cross(first.axis, n), two = cross(second.axis, n);
    const double sine_one = norm(one), sine_two = norm(two);
    if (!(distance > 0 && sine_one > 0 && sine_two > 0)) break;
    // In the plane across n, with the first rim along x.
    const Vec x = (1 / sine_one) * one, y = cross(n, x);
    const double c = dot(two, x) / sine_two, s = dot(two, y) / sine_two;
    const double k = second.radius / sine_two;
    const double xx = distance + first.radius / sine_one + k * c * c, xy = k * c * s, yy = distance + k * s * s;
    const double u = dot(off, x), w = dot(off, y), scale = 1 / (xx * yy - xy * xy);
    n = n + (scale * (yy * u - xy * w)) * x + (scale * (xx * w - xy * u)) * y;
    n = (1 / norm(n)) * n;
  }
  return n;
}

// The same for a rim and a side that it meets between its ends: the direction is across the axis of the side. `n` leads
// from the rim to the side, and `body` is the one with the rim.
template <class A>
Vec from_rim_to_side(const A& body, const Patch& rim, const Patch& side, Vec n) {
  constexpr int most = 6;
  n = n - dot(n, side.axis) * side.axis;
  n = (1 / norm(n)) * n;
  for (int round = 0; round < most; ++round) {
    const Vec apart = side.centre - body.farthest(n), x = cross(side.axis, n);
    const double off = dot(apart, x), distance = dot(apart, n);
    const Vec along = cross(rim.axis, n);
    const double sine = norm(along);
    if (!(distance > 0 && sine > 0) || std::abs(off) <= 1e-14 * distance) break;
    const double c = dot(along, x) / sine;
    n = n + (off / (distance + rim.radius / sine * c * c)) * x;
    n = (1 / norm(n)) * n;
  }
  return n;
}

// Where two sides meet between their ends: as their axes do. They stay as they are if the axes are parallel.
inline void between_sides(const Patch& first, const Patch& second, Vec& at, Vec& end) {
  const Vec n = cross(first.axis, second.axis), apart = second.centre - first.centre;
  const double square = dot(n, n);
  if (!(square > 1e-12)) return;
  const Vec from = first.centre + (dot(cross(apart, second.axis), n) / square) * first.axis;
  const Vec to = second.centre + (dot(cross(apart, first.axis), n) / square) * second.axis;
  at = first.nearest(to);
  end = second.nearest(from);
}

// Points of two sides near to each other: the nearest of one to that of the other, by turns. To the end that would take
// long, but soon they are on the rims that matter.
inline void by_turns(const Patch& first, const Patch& second, Vec from, Vec& at, Vec& end) {
  constexpr int few = 4;
  at = from;
  for (int turn = 0; turn < few; ++turn) {
    end = second.nearest(at);
    at = first.nearest(end);
  }
}

struct Attempt {
  Patch first, second;
  Connection found;

  // Whether the direction v leads to a connection within `accurate` of the squared distance.
  template <class A, class B>
  bool holds(const A& a, const B& b, Vec v, double accurate) {
    const Patch p = a.patch(v), q = b.patch(-v);
    if (p.kind == Patch::Kind::none || q.kind == Patch::Kind::none || (p.same(first) && q.same(second))) return false;
    first = p;
    second = q;
    Vec at, end;
    if (p.kind == Patch::Kind::side && q.kind == Patch::Kind::side) {
      // The one whose axis is more across is more likely to be met between its ends.
      const bool flat = std::abs(dot(v, p.axis)) < std::abs(dot(v, q.axis));
      by_turns(p, q, flat ? p.nearest(b.farthest(-v)) : a.farthest(v), at, end);
      const bool rim = p.on_rim(at), other_rim = q.on_rim(end);
      if (rim && other_rim) {
        const Vec n = between_rims(a, b, p, q, end - at);
        at = a.farthest(n);
        end = b.farthest(-n);
      } else if (rim) {
        at = a.farthest(from_rim_to_side(a, p, q, end - at));
        end = q.nearest(at);
      } else if (other_rim) {
        end = b.farthest(from_rim_to_side(b, q, p, at - end));
        at = p.nearest(end);
      } else {
        between_sides(p, q, at, end);
      }
    } else {  // a ball is nearest where the line to its centre meets it
      const bool ball = p.kind == Patch::Kind::ball;
      at = p.nearest(ball && q.kind == Patch::Kind::side ? q.nearest(p.centre) : q.centre);
      end = q.nearest(ball ? p.centre : at);
    }
    found = {at, end, 0};
    const Vec apart = end - at;
    const double square = dot(apart, apart);
    if (!(dot(apart, v) > 0)) return false;
    const double along = dot(apart, b.farthest(-apart) - a.farthest(apart));
    found.distance = std::sqrt(square);
    return std::abs(square - along) <= accurate * square;
  }
};

}  // namespace gjk

// `towards` is a guess of the direction from the first to the second. A distance of 0: they meet. Of those farther
// apart than `reach` nothing more is found than that.
template <class A, class B>
Connection connect(const A& first, const B& second, Vec towards, double reach) {
  constexpr int most = 64;            // rounds; curved cores take a dozen
  constexpr double accurate = 1e-12;  // of the squared distance
  constexpr bool curved = requires { first.patch(towards), second.patch(towards); };
  [[maybe_unused]] gjk::Attempt attempt;
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
    const gjk::Corner next{first.farthest(v), second.farthest(-v)};
    // v·next is the distance to a plane that separates them: no point is nearer than that.
    const double along = dot(v, next.difference());
    if (square - along <= accurate * square) break;
    if (along > 0 && along * along > reach * reach * square) break;
    const auto& c = simplex.corners;
    gjk::Simplex better;
    if (simplex.size == 1) better = gjk::nearest_of_edge(c[0], next);
    else if (simplex.size == 2) better = gjk::nearest_of_triangle(c[0], c[1], next);
    else better = gjk::nearest_of_tetrahedron({c[0], c[1], c[2], next});
    const Vec nearer = better.nearest();
    if (better.size < 4 && dot(nearer, nearer) >= square) break;  // nothing but rounding is left
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
