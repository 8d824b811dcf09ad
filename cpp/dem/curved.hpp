// Contacts of two tablets, or of a tablet and a sphere, computed from an approximate normal such as that of the step
// before. The code works for any number of lanes. Pairs without such a normal are left to `connect` (gjk.hpp).
#pragma once

#include <cstddef>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/search.hpp"

namespace vicinal::dem {
namespace {

// One core per lane, with the dimensions of `Shape`. Positions are relative to the centre of the first of the pair.
template <class Real>
struct Core {
  Triple<Real> centre, axis;
  Real margin, band, cap, cap_centre, rim;
};

template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Core<Real> core_of(const Pose* poses, const Number* which) {
  typename Lanes::Row rows[Lanes::width];
  Real a[4], b[4];
  for (std::size_t lane = 0; lane < Lanes::width; ++lane) rows[lane] = Lanes::load(poses[which[lane]].axis);
  Lanes::columns(rows, a);
  for (std::size_t lane = 0; lane < Lanes::width; ++lane) rows[lane] = Lanes::load(poses[which[lane]].core);
  Lanes::columns(rows, b);
  const Real zero = Lanes::all(0);
  return {{zero, zero, zero}, {a[0], a[1], a[2]}, a[3], b[0], b[1], b[2], b[3]};
}

template <class Lanes>
struct CurvedPair {
  using Real = typename Lanes::Real;
  Core<Real> first, second;
  Triple<Real> normal;

  [[gnu::always_inline]] CurvedPair(const CurvedJob& job, std::size_t c)
      : first(core_of<Lanes>(job.poses, job.i + c)), second(core_of<Lanes>(job.poses, job.j + c)) {
    typename Lanes::Row apart[Lanes::width];
    for (std::size_t lane = 0; lane < Lanes::width; ++lane)
      apart[lane] = Lanes::load(job.places[job.j[c + lane]]) - Lanes::load(job.places[job.i[c + lane]]);
    Real d[4];
    Lanes::columns(apart, d);
    second.centre = {folded<Lanes>(d[0], job.period.edge[0]), folded<Lanes>(d[1], job.period.edge[1]),
                     folded<Lanes>(d[2], job.period.edge[2])};
    const auto part = [&](const double* from) { return Lanes::pick(from, 3, job.entry + c); };
    normal = {part(&job.normals->x), part(&job.normals->y), part(&job.normals->z)};
  }
};

// The farthest point of a core in a direction of length 1, and its derivative: if the direction changes by a vector a,
// the point moves by flat × a + bend × (along · a) along. On a cap the point follows every change of direction, on a
// rim only the part along the rim.
template <class Real>
struct Farthest {
  Triple<Real> point, along;
  Real flat, bend;
};

template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Farthest<Real> farthest(const Core<Real>& core, Triple<Real> d) {
  const Real zero = Lanes::all(0), one = Lanes::all(1);
  const Real height = dot(d, core.axis);
  const auto across = d - height * core.axis;
  const Real square = dot(across, across), sine = root(square);
  const auto on_rim = core.cap * sine > core.band;
  const Real inverse = choose(on_rim, one / sine, zero), reach = core.band * inverse;
  const Real up = choose(zero > height, Lanes::all(-1), one) * choose(on_rim, core.rim, core.cap_centre);
  const Real flat = choose(on_rim, zero, core.cap);
  const auto out = reach * across + flat * d;
  return {core.centre + up * core.axis + out, cross(core.axis, d), flat, reach * (inverse * inverse)};
}

// Whether a plane with the normal of the step before separates the two, with allowance for rounding: one bit per lane.
template <class Lanes>
[[gnu::always_inline]] inline unsigned separated(const CurvedJob& job, std::size_t c) {
  using Real = typename Lanes::Real;
  const CurvedPair<Lanes> pair(job, c);
  const Real zero = Lanes::all(0);
  const Triple<Real> none{zero, zero, zero};
  const auto a = farthest<Lanes>(pair.first, pair.normal);
  const auto b = farthest<Lanes>(pair.second, none - pair.normal);
  constexpr double surely = 1 + 1e-9;  // allows for rounding
  const Real gap = dot(b.point - a.point, pair.normal);
  return Lanes::bits(gap > Lanes::all(surely) * (pair.first.margin + pair.second.margin));
}

// Finds the direction along which the line between the farthest points of both cores runs: that line is their shortest
// connection. Newton's method, starting from the normal of the step before. If a tablet is touched on its band, the
// direction is perpendicular to its axis and the position along the axis does not matter, so the component of the
// direction along the axis is left out.
template <class Lanes>
[[gnu::always_inline]] inline void connect_curved(const CurvedJob& job, std::size_t c, CurvedContact* contacts) {
  using Real = typename Lanes::Real;
  using Row = typename Lanes::Row;
  constexpr int most = 5;
  constexpr double across_enough = 1e-3;  // sine of an angle; a body turns by less in a step
  constexpr double accurate = 1e-20;      // relative to the squared distance
  CurvedPair<Lanes> pair(job, c);
  Core<Real>&first = pair.first, &second = pair.second;
  const Real zero = Lanes::all(0), one = Lanes::all(1), tolerance = Lanes::all(accurate);
  const Triple<Real> none{zero, zero, zero};
  Triple<Real> n = pair.normal;

  const auto is_side = [&](const Core<Real>& core) {
    return choose(core.rim > zero, Lanes::all(across_enough), zero) > magnitude(dot(n, core.axis));
  };
  const auto either = [](auto yes, Triple<Real> a, Triple<Real> b) {
    return Triple<Real>{choose(yes, a.x, b.x), choose(yes, a.y, b.y), choose(yes, a.z, b.z)};
  };
  const auto side = is_side(first), other_side = is_side(second);
  const Triple<Real> held = either(side, first.axis, either(other_side, second.axis, none));
  const Real room = choose(side, first.rim, choose(other_side, second.rim, one));
  for (Real* level : {&first.rim, &first.cap_centre}) *level = choose(side, zero, *level);
  for (Real* level : {&second.rim, &second.cap_centre}) *level = choose(other_side, zero, *level);
  n = n - dot(n, held) * held;
  n = (one / root(dot(n, n))) * n;

  unsigned settled = 0;
  const unsigned all = (1u << Lanes::width) - 1;
  Real distance = zero, slide = zero;
  Triple<Real> end = none;
  for (int round = 0; round < most; ++round) {
    const auto a = farthest<Lanes>(first, n), b = farthest<Lanes>(second, none - n);
    const auto apart = b.point - a.point;
    distance = dot(apart, n);
    slide = dot(apart, held);
    end = a.point;
    const auto off = (apart - distance * n) - slide * held;
    const Real length = choose(distance > zero, distance, zero);
    const auto close = tolerance * (length * length) > dot(off, off);
    settled = Lanes::bits(close);
    if (settled == all || round + 1 == most) break;
    // Solves (stiff + bends) × change = off. `bends` consists of two rank-one terms, which leaves two unknowns.
    const Real stiff = distance + a.flat + b.flat;
    const auto s = a.along - dot(a.along, held) * held, t = b.along - dot(b.along, held) * held;
    const Real st = dot(s, t), p = dot(s, off), q = dot(t, off);
    const Real ss = stiff + a.bend * dot(s, s), tt = stiff + b.bend * dot(t, t);
    const Real scale = one / (ss * tt - (a.bend * b.bend) * (st * st));
    const Real alpha = scale * (tt * p - b.bend * st * q), beta = scale * (ss * q - a.bend * st * p);
    auto next = n + (one / stiff) * ((off - (a.bend * alpha) * s) - (b.bend * beta) * t);
    next = (one / root(dot(next, next))) * next;
    n = either(close, n, next);  // the result of a lane must not depend on the other lanes
  }
  settled &= Lanes::bits(room > magnitude(slide)) & ~(Lanes::bits(side) & Lanes::bits(other_side));

  const auto from = end + choose(side, slide, zero) * held;
  const Real overlap = (first.margin + second.margin) - distance;
  // The point of contact is halfway between the two surfaces.
  const auto point = from + (first.margin - Lanes::all(0.5) * overlap) * n;
  Row points[Lanes::width], normals[Lanes::width];
  Lanes::rows({point.x, point.y, point.z, overlap}, points);
  Lanes::rows({n.x, n.y, n.z, zero}, normals);
  for (std::size_t lane = 0; lane < Lanes::width; ++lane) {
    Lanes::store(contacts[c + lane].arm, points[lane]);
    Lanes::store(contacts[c + lane].normal, normals[lane]);
    contacts[c + lane].converged = (settled >> lane & 1) != 0;
  }
}

template <class Lanes>
std::size_t separated_from(const CurvedJob& job, std::uint8_t* result, std::size_t c) {
  for (; c + Lanes::width <= job.size; c += Lanes::width) {
    const unsigned bits = separated<Lanes>(job, c);
    for (std::size_t lane = 0; lane < Lanes::width; ++lane) result[c + lane] = bits >> lane & 1;
  }
  return c;
}

template <class Lanes>
std::size_t curved_contacts_from(const CurvedJob& job, CurvedContact* contacts, std::size_t c) {
  for (; c + Lanes::width <= job.size; c += Lanes::width) connect_curved<Lanes>(job, c, contacts);
  return c;
}

}  // namespace
}  // namespace vicinal::dem
