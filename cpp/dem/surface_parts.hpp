// The shortest connection of two curved cores by formulas.
//
// On curved surfaces the iteration over simplices (gjk.hpp) converges slowly. Each round therefore also tries the
// shortest connection of the two parts of the surfaces that face each other. It is the shortest connection of the cores
// if the farthest points of the two cores in its direction are the same distance apart; no further condition on the
// parts is needed.
#pragma once

#include <cmath>

#include "dem/vec.hpp"

namespace vicinal::dem {

struct Connection {
  Vec first, second;  // the nearest points of the two cores
  double distance = 0;
};

// A part of the surface of a core whose point nearest to a given point has a closed formula: a ball (of radius 0: a
// point), or the side of a cylinder.
struct SurfacePart {
  enum class Kind { none, ball, side };
  Kind kind = Kind::none;
  Vec centre;
  double radius = 0;
  Vec axis;           // of the cylinder
  double height = 0;  // half the height of the cylinder

  [[nodiscard]] Vec nearest(Vec to) const {
    const Vec away = to - centre;
    const double along = kind == Kind::side ? dot(away, axis) : 0;
    const Vec across = away - along * axis;
    const double length = norm(across);
    const double level = along > height ? height : along < -height ? -height : along;
    return centre + level * axis + (length > 0 ? radius / length : 0) * across;
  }
  // Whether a point of a side is on a rim, at one of the ends of the cylinder.
  [[nodiscard]] bool on_rim(Vec point) const { return std::abs(dot(point - centre, axis)) >= height * (1 - 1e-12); }
  [[nodiscard]] bool same(const SurfacePart& other) const {
    const Vec d = other.centre - centre;
    return kind == other.kind && dot(d, d) == 0;
  }
};

// The direction n of the shortest connection of two rims: the farthest points of the cores in direction n are connected
// along n. Newton's method from a first guess. If n changes, the farthest point of a rim of radius r moves by the
// component of the change along the rim, times r / sine of the angle between n and the axis.
template <class A, class B>
Vec between_rims(const A& a, const B& b, const SurfacePart& first, const SurfacePart& second, Vec n) {
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
    // In the plane perpendicular to n, with the first rim along x.
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

// The same for a rim and a side that is touched between its ends, so that the direction is perpendicular to the axis of
// the side. `n` points from the rim to the side, and `body` is the core with the rim.
template <class A>
Vec from_rim_to_side(const A& body, const SurfacePart& rim, const SurfacePart& side, Vec n) {
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

// The shortest connection of two sides between their ends lies on that of their axes. Leaves the points unchanged if
// the axes are parallel.
inline void between_sides(const SurfacePart& first, const SurfacePart& second, Vec& at, Vec& end) {
  const Vec n = cross(first.axis, second.axis), apart = second.centre - first.centre;
  const double square = dot(n, n);
  if (!(square > 1e-12)) return;
  const Vec from = first.centre + (dot(cross(apart, second.axis), n) / square) * first.axis;
  const Vec to = second.centre + (dot(cross(apart, first.axis), n) / square) * second.axis;
  at = first.nearest(to);
  end = second.nearest(from);
}

// Approaches the nearest points of two sides by alternating projections. Convergence would be slow, but after a few
// turns the points are on the right rims.
inline void by_turns(const SurfacePart& first, const SurfacePart& second, Vec from, Vec& at, Vec& end) {
  constexpr int few = 4;
  at = from;
  for (int turn = 0; turn < few; ++turn) {
    end = second.nearest(at);
    at = first.nearest(end);
  }
}

struct Attempt {
  SurfacePart first, second;
  Connection found;

  // Whether the parts that face the direction v give the shortest connection, within `accurate` of the squared
  // distance.
  template <class A, class B>
  bool holds(const A& a, const B& b, Vec v, double accurate) {
    const SurfacePart p = a.part(v), q = b.part(-v);
    if (p.kind == SurfacePart::Kind::none || q.kind == SurfacePart::Kind::none || (p.same(first) && q.same(second)))
      return false;
    first = p;
    second = q;
    Vec at, end;
    if (p.kind == SurfacePart::Kind::side && q.kind == SurfacePart::Kind::side) {
      // The side whose axis is closer to perpendicular to v is more likely to be touched between its ends.
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
    } else {  // the nearest point of a ball is on the line to its centre
      const bool ball = p.kind == SurfacePart::Kind::ball;
      at = p.nearest(ball && q.kind == SurfacePart::Kind::side ? q.nearest(p.centre) : q.centre);
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

}  // namespace vicinal::dem
