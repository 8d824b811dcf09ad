// Applies the law to contacts at given points, with walls or between bodies of any shape, and determines how the normal
// turned since the step before. The code works for any number of lanes.
#pragma once

#include <cstddef>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/laws/response.hpp"
#include "dem/passes.hpp"

namespace vicinal::dem {
namespace {

// Processes contacts c to c + width - 1.
template <class Law, class Lanes>
[[gnu::always_inline]] inline void apply_law(const PointJob& job, std::size_t c) {
  using Real = typename Lanes::Real;
  using Row = typename Lanes::Row;
  constexpr std::size_t width = Lanes::width;
  PointContact* const contacts = job.contacts + c;
  const Real zero = Lanes::all(0), one = Lanes::all(1), dt = Lanes::all(job.dt);
  const Triple<Real> none{zero, zero, zero};

  Number entry[width], which[width], lanes[width];
  Row arms[width], points[width], normals[width], befores[width];
  Row speeds[width], speeds_end[width], spins[width], spins_end[width];  // of the second body
  Row v[width], w[width], v_end[width], w_end[width];
  for (std::size_t lane = 0; lane < width; ++lane) {
    const PointContact& contact = contacts[lane];
    const Motion& m = job.motions[contact.row];
    entry[lane] = contact.spring;
    lanes[lane] = static_cast<Number>(lane);
    which[lane] = contact.coefficients;
    points[lane] = Lanes::load(contact.point);
    arms[lane] = points[lane] - Lanes::load(job.places[contact.row]);
    normals[lane] = Lanes::load(contact.normal);
    befores[lane] = Lanes::load(contact.before);
    speeds[lane] = Lanes::load(contact.speed_during);
    speeds_end[lane] = Lanes::load(contact.speed_at_end);
    spins[lane] = Lanes::load(contact.spin_during);
    spins_end[lane] = Lanes::load(contact.spin_at_end);
    v[lane] = Lanes::load(m.v);
    w[lane] = Lanes::load(m.w);
    v_end[lane] = v[lane] + Lanes::load(m.dv);
    w_end[lane] = w[lane] + Lanes::load(m.dw);
  }
  Real point[4], normal[4], before[4];
  Lanes::columns(points, point);
  Lanes::columns(normals, normal);
  Lanes::columns(befores, before);
  const auto arm = vectors<Lanes>(arms), spin = vectors<Lanes>(w), spin_end = vectors<Lanes>(w_end);
  const auto other_spin = vectors<Lanes>(spins), other_spin_end = vectors<Lanes>(spins_end);

  Touch<Real> touch;
  touch.overlap = point[3];
  touch.inverse_mass = one / normal[3];
  touch.radius = before[3];
  touch.normal = {normal[0], normal[1], normal[2]};
  touch.midway = halfway<Lanes>(Triple<Real>{before[0], before[1], before[2]}, touch.normal);
  touch.travel = dt * ((vectors<Lanes>(v) + cross(spin, arm)) - vectors<Lanes>(speeds));
  touch.step = dt;
  touch.rate = (vectors<Lanes>(v_end) + cross(spin_end, arm)) - vectors<Lanes>(speeds_end);
  touch.turn = Lanes::all(0.5 * job.dt) * dot(spin + other_spin, touch.normal);
  touch.rolled = dt * (spin - other_spin);
  touch.rolling_rate = spin_end - other_spin_end;

  auto spring = springs_of<Lanes>(job.springs, entry);
  const bool turns = job.terms.turning();
  auto turned_so_far = turns ? turnings_of<Lanes>(job.turnings, entry) : Turned<Real>{none, zero};
  const auto p = coefficients_of<Lanes>(job.table, which);
  const auto response = respond<Law, Lanes>(p, touch, job.terms, spring, turned_so_far);
  keep<Lanes>(job.springs, entry, spring);
  if (turns) keep<Lanes>(job.turnings, entry, turned_so_far);

  const Real weight = Lanes::pick(&contacts->weight, sizeof(PointContact) / sizeof(double), lanes);
  const auto forces = weight * response.force, moments = weight * response.moment;
  Row force[width], moment[width];
  Lanes::rows({forces.x, forces.y, forces.z, zero}, force);
  Lanes::rows({moments.x, moments.y, moments.z, zero}, moment);
  for (std::size_t lane = 0; lane < width; ++lane) {
    Lanes::store(contacts[lane].force, force[lane]);
    Lanes::store(contacts[lane].moment, moment[lane]);
  }
}

template <class Law, class Lanes>
std::size_t point_contacts_from(const PointJob& job, std::size_t c) {
  for (; c + Lanes::width <= job.size; c += Lanes::width) apply_law<Law, Lanes>(job, c);
  return c;
}

}  // namespace
}  // namespace vicinal::dem
