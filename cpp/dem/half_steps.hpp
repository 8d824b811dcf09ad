// The half steps of velocity Verlet for bodies whose moments of inertia are all the same, groups of them at a time.
#pragma once

#include <cstddef>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"

namespace vicinal::dem {
namespace {

// As `turned` of vec.hpp.
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

template <class Lanes>
std::size_t drift_from(const HalfStepJob& job, std::size_t row) {
  using Row = typename Lanes::Row;
  constexpr std::size_t width = Lanes::width;
  const Row dt = Lanes::spread(job.dt);
  for (; row + width <= job.size; row += width) {
    Row spins[width], turns[width];
    for (std::size_t lane = 0; lane < width; ++lane) {
      Motion& m = job.motions[row + lane];
      Place& p = job.places[row + lane];
      const Row v = Lanes::load(&m.v.x) + Lanes::load(&m.dv.x);
      spins[lane] = Lanes::load(&m.w.x) + Lanes::load(&m.dw.x);
      Lanes::store(&m.v.x, v);
      Lanes::store(&m.w.x, spins[lane]);
      Lanes::store(&p.x, Lanes::load(&p.x) + dt * v);
      turns[lane] = Lanes::load(&job.orientations[row + lane].w);
    }
    typename Lanes::Real w[4], q[4];
    Lanes::columns(spins, w);
    Lanes::columns(turns, q);
    turn<Lanes>(q, {w[0], w[1], w[2]}, job.dt);
    Lanes::rows(q, turns);
    for (std::size_t lane = 0; lane < width; ++lane) Lanes::store(&job.orientations[row + lane].w, turns[lane]);
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

template <class Lanes>
std::size_t kick_from(HalfStepJob& job, std::size_t row) {
  using Row = typename Lanes::Row;
  using Real = typename Lanes::Real;
  constexpr std::size_t width = Lanes::width;
  const Row half = Lanes::spread(0.5 * job.dt);
  const double pull[4] = {job.gravity.x, job.gravity.y, job.gravity.z, 0};
  const Row gravity = Lanes::load(pull);
  Real fastest = Lanes::all(job.fastest), in_margins = Lanes::all(job.fastest_in_margins);
  for (; row + width <= job.size; row += width) {
    double inertias[width], scales[width];
    for (std::size_t lane = 0; lane < width; ++lane) inertias[lane] = job.inertias[row + lane].x;
    Lanes::store_lanes(Lanes::all(0.5 * job.dt) / Lanes::load_lanes(inertias), scales);
    Row next[width];
    for (std::size_t lane = 0; lane < width; ++lane) {
      Motion& m = job.motions[row + lane];
      const Load& load = job.loads[row + lane];
      // The fourth numbers of loads count contacts.
      const Row force = Lanes::three(Lanes::load(load.f)), torque = Lanes::three(Lanes::load(load.t));
      const Row dv = half * (Lanes::spread(m.inverse_mass) * force + gravity);
      const Row dw = Lanes::spread(scales[lane]) * torque;
      Row v = Lanes::load(&m.v.x);
      if (!job.priming) {
        v = v + dv;
        Lanes::store(&m.v.x, v);
        Lanes::store(&m.w.x, Lanes::load(&m.w.x) + dw);
      }
      Lanes::store(&m.dv.x, dv);
      Lanes::store(&m.dw.x, dw);
      next[lane] = v + dv;
    }
    Real c[4];
    Lanes::columns(next, c);
    const Triple<Real> velocity{c[0], c[1], c[2]};
    const Real square = dot(velocity, velocity);
    fastest = choose(square > fastest, square, fastest);
    const Real inverse = Lanes::load_lanes(job.inverse_margins + row);
    const Real relative = square * (inverse * inverse);
    in_margins = choose(relative > in_margins, relative, in_margins);
  }
  job.fastest = largest<Lanes>(fastest);
  job.fastest_in_margins = largest<Lanes>(in_margins);
  return row;
}

}  // namespace
}  // namespace vicinal::dem
