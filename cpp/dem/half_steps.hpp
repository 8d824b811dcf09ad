// The half steps of velocity Verlet: half a kick and a drift before the forces, half a kick after them. The code works
// for any number of lanes. Bodies are either round (their principal moments of inertia are equal), or their spin
// changes even without a torque.
#pragma once

#include <cstddef>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"

namespace vicinal::dem {
namespace {

// Like `rotate` in vec.hpp; `back` applies the inverse rotation.
template <bool back = false, class Real>
[[gnu::always_inline]] inline Triple<Real> rotated(const Real (&q)[4], Triple<Real> a) {
  const Triple<Real> axis{q[1], q[2], q[3]};
  const auto half = back ? cross(a, axis) : cross(axis, a);
  const auto t = half + half, more = cross(axis, t);
  return back ? a + q[0] * t - more : a + q[0] * t + more;
}

// The angular velocity that belongs to an angular momentum; both are in the world frame. `lightness`: the inverse
// moments of inertia.
template <class Real>
[[gnu::always_inline]] inline Triple<Real> spin_of(const Real (&q)[4], Triple<Real> lightness, Triple<Real> momentum) {
  const auto own = rotated<true>(q, momentum);
  return rotated(q, Triple<Real>{own.x * lightness.x, own.y * lightness.y, own.z * lightness.z});
}

// Rotates orientations with `spin` (in the world frame) for a time dt. The axis is exact, the angle has an error of
// third order in spin × dt. One Newton step for 1/sqrt normalises the quaternion if the rotation is small; otherwise
// the square root is computed.
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline void turn(Real (&q)[4], Triple<Real> spin, double dt) {
  const Triple<Real> s = Lanes::all(0.5 * dt) * spin;
  const Real p[4] = {q[0] - ((s.x * q[1] + s.y * q[2]) + s.z * q[3]), q[1] + ((s.x * q[0] + s.y * q[3]) - s.z * q[2]),
                     q[2] + ((s.y * q[0] - s.x * q[3]) + s.z * q[1]), q[3] + ((s.x * q[2] - s.y * q[1]) + s.z * q[0])};
  const Real length = (p[0] * p[0] + p[1] * p[1]) + (p[2] * p[2] + p[3] * p[3]);
  Real scale = Lanes::all(1.5) - Lanes::all(0.5) * length;
  const auto small = Lanes::all(1.0001) > length;
  if (Lanes::bits(small) != (1u << Lanes::width) - 1) scale = choose(small, scale, Lanes::all(1) / root(length));
  for (std::size_t c = 0; c < 4; ++c) q[c] = scale * p[c];
}

// Loads consecutive vectors into lanes, and stores them.
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> vectors_at(const Vec* from) {
  Number each[Lanes::width];
  for (std::size_t lane = 0; lane < Lanes::width; ++lane) each[lane] = static_cast<Number>(lane);
  const auto part = [&](const double* first) { return Lanes::pick(first, 3, each); };
  return {part(&from->x), part(&from->y), part(&from->z)};
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> vectors_at(const Vec4* from) {
  Real c[4];
  Lanes::gather([=](std::size_t lane) -> const Vec4& { return from[lane]; }, c);
  return {c[0], c[1], c[2]};
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline void put_vectors(Triple<Real> a, Vec4* to) {
  Lanes::scatter({a.x, a.y, a.z, Lanes::all(0)}, [=](std::size_t lane) -> Vec4& { return to[lane]; });
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> lightness_of(const Vec* inertias) {
  const auto inertia = vectors_at<Lanes>(inertias);
  const Real one = Lanes::all(1);
  return {one / inertia.x, one / inertia.y, one / inertia.z};
}
// Stores the spins of consecutive bodies; keeps their inverse masses.
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline void put_spins(Triple<Real> w, Motion* to) {
  const auto spin_of = [=](std::size_t lane) -> Spin& { return to[lane].w; };
  Real before[4];
  Lanes::gather(spin_of, before);
  Lanes::scatter({w.x, w.y, w.z, before[3]}, spin_of);
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> spins_at(const Motion* from) {
  Real c[4];
  Lanes::gather([=](std::size_t lane) -> const Spin& { return from[lane].w; }, c);
  return {c[0], c[1], c[2]};
}

// Rotates bodies that are not round. The angular momentum is stored in the world frame, where only a torque changes it.
// The spin of the half step follows from the orientation of the half step, found by two iterations from the spin of the
// full step (second order, as the rest of the scheme).
template <class Lanes>
[[gnu::always_inline]] inline void tumble(const HalfStepJob& job, std::size_t row) {
  using Real = typename Lanes::Real;
  const auto orientation_of = [&](std::size_t lane) -> Quat& { return job.orientations[row + lane]; };
  Real q[4];
  Lanes::gather(orientation_of, q);
  const auto lightness = lightness_of<Lanes>(job.inertias + row), impulse = vectors_at<Lanes>(job.half_impulses + row);
  const auto momentum = vectors_at<Lanes>(job.momenta + row) + impulse;
  Triple<Real> w = spins_at<Lanes>(job.motions + row);
  for (int better = 0; better < 2; ++better) {
    Real middle[4] = {q[0], q[1], q[2], q[3]};
    turn<Lanes>(middle, w, 0.5 * job.dt);
    w = spin_of(middle, lightness, momentum);
  }
  turn<Lanes>(q, w, job.dt);
  const Real scale = Lanes::all(1) / root((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
  for (Real& part : q) part = scale * part;
  Lanes::scatter(q, orientation_of);
  const auto dw = spin_of(q, lightness, momentum + impulse) - w;
  put_vectors<Lanes>(momentum, job.momenta + row);
  put_spins<Lanes>(w, job.motions + row);
  Lanes::scatter({dw.x, dw.y, dw.z, Lanes::all(0)},
                 [&](std::size_t lane) -> Vec4& { return job.motions[row + lane].dw; });
}

template <class Lanes>
std::size_t tumble_from(const HalfStepJob& job, std::size_t row) {
  for (; row + Lanes::width <= job.size; row += Lanes::width) tumble<Lanes>(job, row);
  return row;
}

// Afterwards v is that of the half step, and v + dv is a prediction for the end of the step. So are w and w + dw of
// bodies that are round; `tumble` rotates the others.
template <bool round, class Lanes>
std::size_t drift_from(const HalfStepJob& job, std::size_t row) {
  using Row = typename Lanes::Row;
  constexpr std::size_t width = Lanes::width;
  const Row dt = Lanes::spread(job.dt);
  for (; row + width <= job.size; row += width) {
    Row spins[width], turns[width];
    for (std::size_t lane = 0; lane < width; ++lane) {
      Motion& m = job.motions[row + lane];
      Place& p = job.places[row + lane];
      const Row v = Lanes::load(m.v) + Lanes::load(m.dv);
      Lanes::store(m.v, v);
      Lanes::store(p, Lanes::load(p) + dt * v);
      if constexpr (round) {
        turns[lane] = Lanes::load(job.orientations[row + lane]);
        spins[lane] = Lanes::load(m.w) + Lanes::load(m.dw);
        Lanes::store(m.w, spins[lane]);
      }
    }
    if constexpr (round) {
      typename Lanes::Real w[4], q[4];
      Lanes::columns(turns, q);
      Lanes::columns(spins, w);
      turn<Lanes>(q, {w[0], w[1], w[2]}, job.dt);
      Lanes::rows(q, turns);
      for (std::size_t lane = 0; lane < width; ++lane) Lanes::store(job.orientations[row + lane], turns[lane]);
    }
  }
  return row;
}

template <class Lanes>
double largest(typename Lanes::Real a) {
  double each[Lanes::width];
  Lanes::store_lanes(a, each);
  for (std::size_t lane = 1; lane < Lanes::width; ++lane)
    if (each[lane] > each[0]) each[0] = each[lane];
  return each[0];
}

// Computes velocity and spin at the end of the step from force and torque at that time.
template <bool round, class Lanes>
std::size_t kick_from(HalfStepJob& job, std::size_t row) {
  using Row = typename Lanes::Row;
  using Real = typename Lanes::Real;
  constexpr std::size_t width = Lanes::width;
  const Row half = Lanes::spread(0.5 * job.dt);
  const Row gravity = Lanes::load(Vec4{job.gravity.x, job.gravity.y, job.gravity.z, 0});
  Real fastest = Lanes::all(job.fastest), in_margins = Lanes::all(job.fastest_in_margins);
  // A maximum drops NaN, since comparisons with NaN are false; a sum keeps it.
  Real sum = Lanes::all(0);
  Row turned = Lanes::spread(0);
  for (; row + width <= job.size; row += width) {
    double scales[width];
    if constexpr (round) Lanes::store_lanes(Lanes::all(0.5 * job.dt) / vectors_at<Lanes>(job.inertias + row).x, scales);
    Row next[width], torques[width];
    for (std::size_t lane = 0; lane < width; ++lane) {
      Motion& m = job.motions[row + lane];
      const Load& load = job.loads[row + lane];
      const Row force = Lanes::load(load.force);
      torques[lane] = Lanes::load(load.torque);
      const Row dv = half * (Lanes::spread(m.w.inverse_mass) * force + gravity);
      Row v = Lanes::load(m.v);
      if (!job.priming) {
        v = v + dv;
        Lanes::store(m.v, v);
      }
      Lanes::store(m.dv, dv);
      next[lane] = v + dv;
      if constexpr (round) {
        const Row dw = Lanes::spread(scales[lane]) * torques[lane];
        const Row w = Lanes::load(m.w) + dw;
        if (!job.priming) Lanes::store(m.w, w);
        Lanes::store(m.dw, dw);
        turned = turned + w;
      }
    }
    if constexpr (!round) {
      Row turns[width];
      for (std::size_t lane = 0; lane < width; ++lane) turns[lane] = Lanes::load(job.orientations[row + lane]);
      Real q[4], torque[4];
      Lanes::columns(turns, q);
      Lanes::columns(torques, torque);
      const auto impulse = Lanes::all(0.5 * job.dt) * Triple<Real>{torque[0], torque[1], torque[2]};
      put_vectors<Lanes>(impulse, job.half_impulses + row);
      sum = sum + ((impulse.x + impulse.y) + impulse.z);
      if (!job.priming) {
        const auto momentum = vectors_at<Lanes>(job.momenta + row) + impulse;
        put_vectors<Lanes>(momentum, job.momenta + row);
        const auto w = spin_of(q, lightness_of<Lanes>(job.inertias + row), momentum);
        put_spins<Lanes>(w, job.motions + row);
        sum = sum + ((w.x + w.y) + w.z);
      }
    }
    Real c[4];
    Lanes::columns(next, c);
    const Triple<Real> velocity{c[0], c[1], c[2]};
    const Real inverse = Lanes::load_lanes(job.inverse_margins + row), zero = Lanes::all(0);
    const Real square = choose(inverse > zero, dot(velocity, velocity), zero);
    sum = sum + square;
    fastest = choose(square > fastest, square, fastest);
    const Real relative = square * (inverse * inverse);
    in_margins = choose(relative > in_margins, relative, in_margins);
  }
  job.fastest = largest<Lanes>(fastest);
  job.fastest_in_margins = largest<Lanes>(in_margins);
  double sums[Lanes::width];
  Lanes::store_lanes(sum, sums);
  for (const double one : sums) job.sum += one;
  Vec4 turns;
  Lanes::store(turns, turned);
  job.sum += (turns.x + turns.y) + turns.z;
  return row;
}

}  // namespace
}  // namespace vicinal::dem
