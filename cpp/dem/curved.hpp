// Geometry of contacts of two tablets, or of a tablet and a sphere, from an approximate normal such as that of the step
// before. The code works for any number of lanes. Pairs without such a normal are left to `connect` (gjk.hpp).
#pragma once

#include <cstddef>

#include "dem/arrays.hpp"
#include "dem/feature.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/search.hpp"

namespace vicinal::dem {
namespace {

// One core per lane, with the dimensions of `GrainShape`. Positions are relative to the centre of the first of the
// pair.
template <class Real>
struct Core {
  Triple<Real> centre, axis;
  Real margin, band, cap, cap_centre, rim;
};

template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Core<Real> core_of(const TabletPose* poses, const Number* which) {
  Real a[4], b[4];
  Lanes::gather([&](std::size_t lane) -> const auto& { return poses[which[lane]].axis; }, a);
  Lanes::gather([&](std::size_t lane) -> const auto& { return poses[which[lane]].core; }, b);
  const Real zero = Lanes::all(0);
  return {{zero, zero, zero}, {a[0], a[1], a[2]}, a[3], b[0], b[1], b[2], b[3]};
}

template <class Lanes>
struct CurvedPair {
  using Real = typename Lanes::Real;
  Core<Real> first, second;
  Triple<Real> normal;

  [[gnu::always_inline]] CurvedPair(const CurvedJob& job, const Number* i, const Number* j, const Number* entry)
      : first(core_of<Lanes>(job.poses, i)), second(core_of<Lanes>(job.poses, j)) {
    const auto place = [&](const Number* which) {
      return [=](std::size_t lane) -> const Place& { return job.places[which[lane]]; };
    };
    Real d[4], n[4];
    Lanes::gather_difference(place(j), place(i), d);
    second.centre = {folded<Lanes>(d[0], job.period.edge[0]), folded<Lanes>(d[1], job.period.edge[1]),
                     folded<Lanes>(d[2], job.period.edge[2])};
    Lanes::gather([&](std::size_t lane) -> const Vec4& { return job.normals[entry[lane]]; }, n);
    normal = {n[0], n[1], n[2]};
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

// The gap between planes with the normal of the step before.
template <class Lanes>
[[gnu::always_inline]] inline typename Lanes::Real gap(const CurvedJob& job, std::size_t c) {
  using Real = typename Lanes::Real;
  const CurvedPair<Lanes> pair(job, job.i + c, job.j + c, job.entry + c);
  const Real zero = Lanes::all(0);
  const Triple<Real> none{zero, zero, zero};
  const auto a = farthest<Lanes>(pair.first, pair.normal);
  const auto b = farthest<Lanes>(pair.second, none - pair.normal);
  return dot(b.point - a.point, pair.normal) - (pair.first.margin + pair.second.margin);
}

// A unit vector from one whose length is nearly 1, by one Newton step for 1/sqrt, or from any other by the square root.
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> unit(Triple<Real> a) {
  const Real length = dot(a, a), tiny = Lanes::all(1e-8);
  Real scale = Lanes::all(1.5) - Lanes::all(0.5) * length;
  const auto near = tiny > magnitude(length - Lanes::all(1));
  if (Lanes::bits(near) != (1u << Lanes::width) - 1) scale = choose(near, scale, Lanes::all(1) / root(length));
  return scale * a;
}

// Contacts, and what they are: one bit per lane.
template <class Real>
struct Connected {
  Triple<Real> normal, arm, other_arm;  // the arms are from the centres to the point of contact
  Real overlap;
  unsigned known, touching;  // whether all this is valid, and whether the two touch
  unsigned line;             // whether they may touch along a line
};

// Finds the direction along which the line between the farthest points of both cores runs: that line is their shortest
// connection. Newton's method, starting from the normal of the step before. The distance of the planes through the
// farthest points is largest in this direction, so half of the change times the gradient gives the distance to third
// order. Two bodies move so little in a step that one round suffices. If a tablet is touched on its band, the direction
// is perpendicular to its axis and the position along the axis does not matter, so the component of the direction along
// the axis is left out.
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Connected<Real> connect_curved(CurvedPair<Lanes>& pair) {
  constexpr int most = 5;
  constexpr double across_enough = 1e-3;  // sine of an angle; a body turns by less in a step
  // The squared ratio of gradient and distance below which the next round would change the distance by less than
  // rounding, and the normal by less than 1e-8.
  constexpr double last = 1e-8;
  Core<Real>&first = pair.first, &second = pair.second;
  const Real zero = Lanes::all(0), one = Lanes::all(1);
  const Triple<Real> none{zero, zero, zero};
  Triple<Real> n = pair.normal;

  const auto is_side = [&](const Core<Real>& core) {
    return choose(core.rim > zero, Lanes::all(across_enough), zero) > magnitude(dot(n, core.axis));
  };
  const auto either = [](auto yes, Triple<Real> a, Triple<Real> b) {
    return Triple<Real>{choose(yes, a.x, b.x), choose(yes, a.y, b.y), choose(yes, a.z, b.z)};
  };
  const auto side = is_side(first), other_side = is_side(second);
  const Real rim = first.rim, other_rim = second.rim;
  const Triple<Real> held = either(side, first.axis, either(other_side, second.axis, none));
  const Real room = choose(side, first.rim, choose(other_side, second.rim, one));
  for (Real* level : {&first.rim, &first.cap_centre}) *level = choose(side, zero, *level);
  for (Real* level : {&second.rim, &second.cap_centre}) *level = choose(other_side, zero, *level);
  n = unit<Lanes>(n - dot(n, held) * held);

  // The result of a lane must not depend on the other lanes, so lanes that are done keep theirs.
  Real pending = one, distance = zero, slide = zero;
  Triple<Real> end = none;
  for (int round = 0; round < most && Lanes::bits(pending > zero) != 0; ++round) {
    const auto a = farthest<Lanes>(first, n), b = farthest<Lanes>(second, none - n);
    const auto apart = b.point - a.point;
    const Real along = dot(apart, n), sideways = dot(apart, held);
    const auto off = (apart - along * n) - sideways * held;
    // Solves (stiff + bends) × change = off. `bends` consists of two rank-one terms, which leaves two unknowns.
    const Real stiff = along + a.flat + b.flat;
    const auto s = a.along - dot(a.along, held) * held, t = b.along - dot(b.along, held) * held;
    const Real st = dot(s, t), p = dot(s, off), q = dot(t, off);
    const Real ss = stiff + a.bend * dot(s, s), tt = stiff + b.bend * dot(t, t);
    const Real determinant = ss * tt - (a.bend * b.bend) * (st * st), inverse = one / (stiff * determinant);
    const Real scale = stiff * inverse;
    const Real alpha = scale * (tt * p - b.bend * st * q), beta = scale * (ss * q - a.bend * st * p);
    const auto change = (determinant * inverse) * ((off - (a.bend * alpha) * s) - (b.bend * beta) * t);
    const auto moved = [&](const Farthest<Real>& of) {  // by how much the farthest point moves
      return of.flat * change + (of.bend * dot(of.along, change)) * of.along;
    };
    const auto from = moved(a), to = none - moved(b);
    const auto now = pending > zero;
    distance = choose(now, along + Lanes::all(0.5) * dot(off, change), distance);
    slide = choose(now, sideways + dot(to - from, held), slide);
    end = either(now, a.point + from, end);
    n = either(now, unit<Lanes>(n + change), n);
    const Real length = choose(along > zero, along, zero);
    pending = choose(Lanes::all(last) * (length * length) > dot(off, off), zero, pending);
  }
  const unsigned all = (1u << Lanes::width) - 1, bands = Lanes::bits(side) & Lanes::bits(other_side);
  unsigned settled = all & ~Lanes::bits(pending > zero) & Lanes::bits(room > magnitude(slide)) & ~bands;
  const auto across = cross(first.axis, second.axis);
  if (bands != 0) {  // two bands that cross: their shortest connection is on that of the axes
    const Real inverse = one / dot(across, across);
    const Real up = inverse * dot(cross(second.centre, second.axis), across);
    const Real other_up = inverse * dot(cross(second.centre, first.axis), across);
    const auto direction = choose(zero > dot(across, n), Lanes::all(-1), one) * root(inverse) * across;
    const Real between = dot(second.centre, direction) - (first.band + second.band);
    const Real known = choose(rim > magnitude(up), choose(other_rim > magnitude(other_up), between, zero), zero);
    const Real clear = choose(dot(across, across) > Lanes::all(flat_sine * flat_sine), known, zero);
    const auto crossed = choose(side, choose(other_side, clear, zero), zero) > zero;
    n = either(crossed, direction, n);
    distance = choose(crossed, between, distance);
    slide = choose(crossed, zero, slide);
    end = either(crossed, up * first.axis + first.band * direction, end);
    settled |= Lanes::bits(crossed);
  }

  const auto from = end + choose(side, slide, zero) * held;
  const Real overlap = (first.margin + second.margin) - distance;
  // The point of contact is halfway between the two surfaces.
  const auto point = from + (first.margin - Lanes::all(0.5) * overlap) * n;
  // Faces with a line; see Assembly::faces_with_point. Two lines that cross at a larger angle than flat_sine touch at a
  // point (patches::along_both).
  const auto line = [&](const Core<Real>& core) {
    return Lanes::bits(choose(core.band > zero, Lanes::all(flat_sine), zero) > magnitude(dot(n, core.axis)));
  };
  const unsigned parallel = Lanes::bits(Lanes::all(sure_sine) > magnitude(dot(n, across)));
  return {n,
          point,
          point - second.centre,
          overlap,
          settled,
          Lanes::bits(overlap > zero),
          line(first) & line(second) & parallel};
}

template <class Lanes>
std::size_t gaps_from(const CurvedJob& job, double* gaps, std::size_t c) {
  for (; c + Lanes::width <= job.size; c += Lanes::width) Lanes::store_lanes(gap<Lanes>(job, c), gaps + c);
  return c;
}

}  // namespace
}  // namespace vicinal::dem
