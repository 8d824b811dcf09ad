// The fused loop over contacts between spheres: geometry, law, forces. For one lane or four.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dem/arrays.hpp"
#include "dem/contact_job.hpp"
#include "dem/lanes.hpp"
#include "dem/laws.hpp"

namespace vicinal::dem {

namespace {

template <class Lanes, class Real = typename Lanes::Real>
LawParameters<Real> parameters_of(const ContactJob& job, std::size_t c) {
  Number which[Lanes::width];
  for (std::size_t lane = 0; lane < Lanes::width; ++lane)
    which[lane] = static_cast<Number>(job.materials[job.i[c + lane]] * job.table_edge + job.materials[job.j[c + lane]]);
  const double* const table = &job.table->kn;
  Real a[4], b[4];
  Lanes::columns(table, parameter_stride, which, a);
  Lanes::columns(table + 4, parameter_stride, which, b);
  return {a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], Lanes::pick(table + 8, parameter_stride, which)};
}

template <class Lanes, class Real = typename Lanes::Real>
LawParameters<Real> uniform_parameters(const Parameters& p) {
  const auto all = [](double a) { return Lanes::all(a); };
  return {all(p.kn),        all(p.kt),       all(p.rate_n),  all(p.rate_t),  all(p.damping_n),
          all(p.damping_t), all(p.friction), all(p.rolling), all(p.cohesion)};
}

template <class Real>
struct Moving {
  Triple<Real> v, w, dv, dw;
};
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Moving<Real> moving(const Motion* motions, const Number* which) {
  Real a[4], b[4], c[4];
  const auto* const table = reinterpret_cast<const double*>(motions);
  Lanes::columns(table, motion_stride, which, a);
  Lanes::columns(table + 4, motion_stride, which, b);
  Lanes::columns(table + 8, motion_stride, which, c);
  return {{a[0], a[1], a[2]}, {a[3], b[0], b[1]}, {b[2], b[3], c[0]}, {c[1], c[2], c[3]}};
}

template <class Lanes, class Real>
Real folded(Real a, double edge) {
  if (edge == 0) return a;
  const Real whole = Lanes::all(edge), half = Lanes::all(0.5 * edge);
  a = choose(a > half, a - whole, a);
  return choose(Lanes::all(-0.5 * edge) > a, a + whole, a);
}

// Contacts c ... c + width - 1.
template <Law law, bool dashpots, bool extras, class Lanes>
[[gnu::always_inline]] inline void sphere_contact(const ContactJob& job, const LawParameters<typename Lanes::Real>& p,
                                                  std::size_t c) {
  using Real = typename Lanes::Real;
  constexpr std::size_t width = Lanes::width;
  const Number *const i = job.i + c, *const j = job.j + c, *const entry = job.entry + c;
  const Real one = Lanes::all(1), half = Lanes::all(0.5), dt = Lanes::all(job.dt);
  const auto* const places = reinterpret_cast<const double*>(job.places);
  Real a[4], b[4];
  Lanes::columns(places, place_stride, i, a);
  Lanes::columns(places, place_stride, j, b);
  const Triple<Real> apart{folded<Lanes>(b[0] - a[0], job.period.edge[0]),
                           folded<Lanes>(b[1] - a[1], job.period.edge[1]),
                           folded<Lanes>(b[2] - a[2], job.period.edge[2])};
  const Real ri = a[3], rj = b[3];
  const Real distance = root(dot(apart, apart));
  const Real closeness = one / distance;
  const Moving<Real> mi = moving<Lanes>(job.motions, i), mj = moving<Lanes>(job.motions, j);

  Touch<Real> touch;
  touch.normal = closeness * apart;
  touch.overlap = (ri + rj) - distance;
  touch.mass = one / (Lanes::pick(job.inverse_masses, 1, i) + Lanes::pick(job.inverse_masses, 1, j));
  if constexpr (law == Law::hertz || extras) touch.radius = ri * rj / (ri + rj);
  const Real arm_i = ri - half * touch.overlap, arm_j = rj - half * touch.overlap;
  const auto relative = mi.v - mj.v;
  const auto surface = arm_i * mi.w + arm_j * mj.w;
  // How the line of centres turns: by half the angle between the steps.
  const auto sideways = relative - dot(relative, touch.normal) * touch.normal;
  touch.midway = touch.normal + (half * dt * closeness) * sideways;
  touch.travel = dt * (relative + cross(surface, touch.midway));
  touch.step = dt;
  touch.turn = half * dt * dot(mi.w + mj.w, touch.normal);
  touch.rate = relative + (mi.dv - mj.dv);
  if constexpr (dashpots) touch.rate = touch.rate + cross(surface + (arm_i * mi.dw + arm_j * mj.dw), touch.normal);
  const bool rolls = extras && job.terms.rolling, remembers = !extras || job.terms.history;
  if (rolls) {
    touch.rolled = dt * (mi.w - mj.w);
    touch.rolling_rate = (mi.w - mj.w) + (mi.dw - mj.dw);
  }

  Real s[4], q[4];
  if (remembers) Lanes::columns(&job.springs->x, 4, entry, s);
  else s[0] = s[1] = s[2] = s[3] = Lanes::all(0);
  Triple<Real> spring{s[0], s[1], s[2]}, rolling{s[0], s[1], s[2]};
  if (rolls) {
    Lanes::columns(&job.rollings->x, 4, entry, q);
    rolling = {q[0], q[1], q[2]};
  }
  const auto response = respond<law, dashpots, extras, Lanes>(p, touch, job.terms, spring, rolling);

  const auto twist = cross(touch.normal, response.tangential);
  const auto ti = arm_i * twist + response.moment, tj = arm_j * twist - response.moment;
  double f[width][4], torque_i[width][4], torque_j[width][4];
  Lanes::rows({response.force.x, response.force.y, response.force.z, one}, f);
  Lanes::rows({ti.x, ti.y, ti.z, one}, torque_i);
  Lanes::rows({tj.x, tj.y, tj.z, one}, torque_j);
  if (remembers) {
    double kept[width][4];
    Lanes::rows({spring.x, spring.y, spring.z, one}, kept);
    for (std::size_t lane = 0; lane < width; ++lane)
      job.springs[entry[lane]] = {kept[lane][0], kept[lane][1], kept[lane][2], kept[lane][3]};
  }
  if (rolls) {
    double kept[width][4];
    Lanes::rows({rolling.x, rolling.y, rolling.z, one}, kept);
    for (std::size_t lane = 0; lane < width; ++lane)
      job.rollings[entry[lane]] = {kept[lane][0], kept[lane][1], kept[lane][2], kept[lane][3]};
  }
  // One after the other, in the order of the list: the sums do not depend on the number of lanes.
  for (std::size_t lane = 0; lane < width; ++lane) {
    Load& first = job.loads[i[lane]];
    for (std::size_t k = 0; k < 4; ++k) first.f[k] += f[lane][k];
    for (std::size_t k = 0; k < 4; ++k) first.t[k] += torque_i[lane][k];
    if (j[lane] < job.block_end) {
      Load& second = job.loads[j[lane]];
      for (std::size_t k = 0; k < 4; ++k) second.f[k] -= f[lane][k];
      for (std::size_t k = 0; k < 4; ++k) second.t[k] += torque_j[lane][k];
    } else {
      Load& second = job.remote[job.slots[entry[lane]]];
      for (std::size_t k = 0; k < 4; ++k) second.f[k] = -f[lane][k];
      for (std::size_t k = 0; k < 4; ++k) second.t[k] = torque_j[lane][k];
    }
  }
}

template <Law law, bool dashpots, bool extras, class Lanes>
std::size_t contacts_of(const ContactJob& job, std::size_t c) {
  const bool uniform = job.table_edge == 1;
  auto parameters = uniform_parameters<Lanes>(*job.table);
  for (; c + Lanes::width <= job.size; c += Lanes::width) {
    if (!uniform) parameters = parameters_of<Lanes>(job, c);
    sphere_contact<law, dashpots, extras, Lanes>(job, parameters, c);
  }
  return c;
}

// As many contacts as fill the lanes, from c on; returns how far it came.
template <Law law, class Lanes>
std::size_t sphere_contacts_from(const ContactJob& job, std::size_t c) {
  const Terms& terms = job.terms;
  const bool extras = terms.rolling || terms.cohesion || !terms.history;
  if (terms.dashpot)
    return extras ? contacts_of<law, true, true, Lanes>(job, c) : contacts_of<law, true, false, Lanes>(job, c);
  return extras ? contacts_of<law, false, true, Lanes>(job, c) : contacts_of<law, false, false, Lanes>(job, c);
}

}  // namespace
}  // namespace vicinal::dem
