// The fused loop over contacts between spheres: geometry, law, forces. For one lane or four.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/laws.hpp"
#include "dem/search.hpp"

namespace vicinal::dem {
namespace {

// A vector in every lane, from rows of which the fourth number is not needed.
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> vectors(const typename Lanes::Row (&rows)[Lanes::width]) {
  Real c[4];
  Lanes::columns(rows, c);
  return {c[0], c[1], c[2]};
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> springs_of(const Spring* springs, const Number* entry) {
  typename Lanes::Row rows[Lanes::width];
  for (std::size_t lane = 0; lane < Lanes::width; ++lane) rows[lane] = Lanes::load(&springs[entry[lane]].x);
  return vectors<Lanes>(rows);
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline void keep(Spring* springs, const Number* entry, Triple<Real> stretch) {
  typename Lanes::Row rows[Lanes::width];
  Lanes::rows({stretch.x, stretch.y, stretch.z, Lanes::all(1)}, rows);
  for (std::size_t lane = 0; lane < Lanes::width; ++lane) Lanes::store(&springs[entry[lane]].x, rows[lane]);
}

template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline LawParameters<Real> parameters_of(const Parameters* table, const Number* which) {
  typename Lanes::Row rows[Lanes::width];
  Real a[4], b[4];
  for (std::size_t lane = 0; lane < Lanes::width; ++lane) rows[lane] = Lanes::load(&table[which[lane]].kn);
  Lanes::columns(rows, a);
  for (std::size_t lane = 0; lane < Lanes::width; ++lane) rows[lane] = Lanes::load(&table[which[lane]].damping_n);
  Lanes::columns(rows, b);
  return {a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], Lanes::pick(&table->cohesion, parameter_stride, which)};
}
template <class Lanes, class Real = typename Lanes::Real>
LawParameters<Real> uniform_parameters(const Parameters& p) {
  const auto all = [](double a) { return Lanes::all(a); };
  return {all(p.kn),        all(p.kt),       all(p.rate_n),  all(p.rate_t),  all(p.damping_n),
          all(p.damping_t), all(p.friction), all(p.rolling), all(p.cohesion)};
}

// Contacts c ... c + width - 1.
template <Law law, bool dashpots, bool extras, class Lanes>
[[gnu::always_inline]] inline void sphere_contact(const SphereJob& job, const LawParameters<typename Lanes::Real>& p,
                                                  std::size_t c) {
  using Real = typename Lanes::Real;
  using Row = typename Lanes::Row;
  constexpr std::size_t width = Lanes::width;
  const Number *const i = job.i + c, *const j = job.j + c, *const entry = job.entry + c;
  const Real one = Lanes::all(1), half = Lanes::all(0.5), dt = Lanes::all(job.dt);
  const bool rolls = extras && job.terms.rolling, remembers = !extras || job.terms.history;
  const Triple<Real> none{Lanes::all(0), Lanes::all(0), Lanes::all(0)};
  Touch<Real> touch;
  touch.rolled = touch.rolling_rate = none;

  const auto between = apart<Lanes>(job.places, i, j, job.period);
  const Real ri = Lanes::pick(&job.places->r, 4, i), rj = Lanes::pick(&job.places->r, 4, j);
  const Real distance = root(dot(between.way, between.way));
  const Real closeness = one / distance;
  touch.normal = closeness * between.way;
  touch.overlap = between.reach - distance;
  if constexpr (law == Law::hertz || extras) touch.radius = ri * rj / between.reach;
  double arm_i[width], arm_j[width];  // from the centres to the point of contact
  Lanes::store_lanes(ri - half * touch.overlap, arm_i);
  Lanes::store_lanes(rj - half * touch.overlap, arm_j);

  // What the two do together, row by row: relative velocity, and the velocity of the surfaces is its product with the
  // normal.
  Row relative_rows[width], rate_rows[width], surface_rows[width], surface_rate_rows[width], sum_rows[width];
  for (std::size_t lane = 0; lane < width; ++lane) {
    const Motion &mi = job.motions[i[lane]], &mj = job.motions[j[lane]];
    const Row wi = Lanes::load(&mi.w.x), wj = Lanes::load(&mj.w.x);
    const Row to_i = Lanes::spread(arm_i[lane]), to_j = Lanes::spread(arm_j[lane]);
    relative_rows[lane] = Lanes::load(&mi.v.x) - Lanes::load(&mj.v.x);
    rate_rows[lane] = relative_rows[lane] + (Lanes::load(&mi.dv.x) - Lanes::load(&mj.dv.x));
    surface_rows[lane] = to_i * wi + to_j * wj;
    sum_rows[lane] = wi + wj;
    if constexpr (dashpots)
      surface_rate_rows[lane] = surface_rows[lane] + (to_i * Lanes::load(&mi.dw.x) + to_j * Lanes::load(&mj.dw.x));
  }
  Real sum[4];
  Lanes::columns(sum_rows, sum);
  touch.mass = one / sum[3];
  const auto relative = vectors<Lanes>(relative_rows), surface = vectors<Lanes>(surface_rows);
  // How the line of centres turns: by half the angle between the steps.
  const auto sideways = relative - dot(relative, touch.normal) * touch.normal;
  touch.midway = touch.normal + (half * dt * closeness) * sideways;
  touch.travel = dt * (relative + cross(surface, touch.midway));
  touch.step = dt;
  touch.turn = half * dt * dot(Triple<Real>{sum[0], sum[1], sum[2]}, touch.normal);
  touch.rate = vectors<Lanes>(rate_rows);
  if constexpr (dashpots) touch.rate = touch.rate + cross(vectors<Lanes>(surface_rate_rows), touch.normal);
  if (rolls) {
    Row rolled[width], rolling_rate[width];
    for (std::size_t lane = 0; lane < width; ++lane) {
      const Motion &mi = job.motions[i[lane]], &mj = job.motions[j[lane]];
      rolled[lane] = Lanes::load(&mi.w.x) - Lanes::load(&mj.w.x);
      rolling_rate[lane] = rolled[lane] + (Lanes::load(&mi.dw.x) - Lanes::load(&mj.dw.x));
    }
    touch.rolled = dt * vectors<Lanes>(rolled);
    touch.rolling_rate = vectors<Lanes>(rolling_rate);
  }

  auto spring = remembers ? springs_of<Lanes>(job.springs, entry) : none;
  auto rolling = rolls ? springs_of<Lanes>(job.rollings, entry) : none;
  const auto response = respond<law, dashpots, extras, Lanes>(p, touch, job.terms, spring, rolling);
  if (remembers) keep<Lanes>(job.springs, entry, spring);
  if (rolls) keep<Lanes>(job.rollings, entry, rolling);

  const auto twist = cross(touch.normal, response.tangential);
  Row force[width], torque[width], moment[width];
  Lanes::rows({response.force.x, response.force.y, response.force.z, one}, force);
  Lanes::rows({twist.x, twist.y, twist.z, one}, torque);
  if constexpr (extras) Lanes::rows({response.moment.x, response.moment.y, response.moment.z, one}, moment);
  // One after the other, in the order of the list: the sums do not depend on the number of lanes.
  for (std::size_t lane = 0; lane < width; ++lane) {
    Row on_i = Lanes::spread(arm_i[lane]) * torque[lane], on_j = Lanes::spread(arm_j[lane]) * torque[lane];
    if constexpr (extras) {
      on_i = on_i + moment[lane];
      on_j = on_j - moment[lane];
    }
    Load& first = job.loads[i[lane]];
    Lanes::store(first.f, Lanes::load(first.f) + force[lane]);
    Lanes::store(first.t, Lanes::load(first.t) + on_i);
    if (j[lane] < job.block_end) {
      Load& second = job.loads[j[lane]];
      Lanes::store(second.f, Lanes::load(second.f) - force[lane]);
      Lanes::store(second.t, Lanes::load(second.t) + on_j);
    } else {
      Load& second = job.remote[job.slots[entry[lane]]];
      Lanes::store(second.f, Lanes::spread(0) - force[lane]);
      Lanes::store(second.t, on_j);
    }
  }
}

template <Law law, bool dashpots, bool extras, class Lanes>
std::size_t contacts_of(const SphereJob& job, std::size_t c) {
  auto parameters = uniform_parameters<Lanes>(job.uniform != nullptr ? *job.uniform : *job.table);
  for (; c + Lanes::width <= job.size; c += Lanes::width) {
    if (job.uniform == nullptr) {
      Number which[Lanes::width];
      for (std::size_t lane = 0; lane < Lanes::width; ++lane)
        which[lane] =
            static_cast<Number>(job.materials[job.i[c + lane]] * job.table_edge + job.materials[job.j[c + lane]]);
      parameters = parameters_of<Lanes>(job.table, which);
    }
    sphere_contact<law, dashpots, extras, Lanes>(job, parameters, c);
  }
  return c;
}

// As many contacts as fill the lanes, from c on; returns how far it came.
template <Law law, class Lanes>
std::size_t sphere_contacts_from(const SphereJob& job, std::size_t c) {
  const Terms& terms = job.terms;
  const bool extras = terms.rolling || terms.cohesion || !terms.history;
  if (terms.dashpot)
    return extras ? contacts_of<law, true, true, Lanes>(job, c) : contacts_of<law, true, false, Lanes>(job, c);
  return extras ? contacts_of<law, false, true, Lanes>(job, c) : contacts_of<law, false, false, Lanes>(job, c);
}

}  // namespace
}  // namespace vicinal::dem
