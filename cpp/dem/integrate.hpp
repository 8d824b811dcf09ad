// Velocity Verlet for a body whose moments of inertia differ: half a kick and a drift before the forces, half a kick
// after them. (Bodies whose moments are all the same: half_steps.hpp.)
#pragma once

#include "dem/arrays.hpp"
#include "dem/bodies.hpp"
#include "dem/vec.hpp"

namespace vicinal::dem {

// Angular velocity of a body with an angular momentum, both in the frame of the world.
inline Vec spin_of(Quat q, Vec inertia, Vec momentum) {
  const Vec own = rotate(conjugate(q), momentum);
  return rotate(q, {own.x / inertia.x, own.y / inertia.y, own.z / inertia.z});
}

// Afterwards velocity and spin are those of the half step, and velocity + dv, spin + dw are predicted for its end.
inline void kick_and_drift(Bodies& bodies, std::size_t row, double dt) {
  Motion& m = bodies.motions[row];
  Place& p = bodies.places[row];
  Quat& q = bodies.orientations[row];
  m.v += m.dv;
  p.x += dt * m.v.x;
  p.y += dt * m.v.y;
  p.z += dt * m.v.z;
  // The angular momentum is kept in the frame of the world, where nothing but torque changes it. The spin of the half
  // step follows from the orientation of the half step (second order, as the rest).
  Vec& momentum = bodies.momenta[row];
  momentum += bodies.half_impulses[row];
  const Vec& inertia = bodies.inertias[row];
  Quat middle = turned(q, spin_of(q, inertia, momentum), 0.5 * dt);
  m.w = spin_of(middle, inertia, momentum);
  middle = turned(q, m.w, 0.5 * dt);
  m.w = spin_of(middle, inertia, momentum);
  q = normalised(turned(q, m.w, dt));
  m.dw = spin_of(q, inertia, momentum + bodies.half_impulses[row]) - m.w;
}

// Velocity and spin at the end of the step, from the force and torque there.
inline void kick(Bodies& bodies, std::size_t row, Vec force, Vec torque, Vec gravity, double dt) {
  Motion& m = bodies.motions[row];
  const double half = 0.5 * dt;
  m.dv = half * (m.inverse_mass * force + gravity);
  m.v += m.dv;
  const Vec& inertia = bodies.inertias[row];
  bodies.half_impulses[row] = half * torque;
  bodies.momenta[row] += bodies.half_impulses[row];
  m.w = spin_of(bodies.orientations[row], inertia, bodies.momenta[row]);
}

}  // namespace vicinal::dem
