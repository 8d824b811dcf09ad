// The types that contact laws are built from.
//
// A law is a struct in its own file (linear.hpp is an example) with the members that the concept `ContactLaw` in
// laws.hpp requires. Its functions work for any number of lanes (lanes.hpp).
#pragma once

#include <limits>
#include <span>
#include <string_view>

#include "dem/coefficients.hpp"
#include "dem/lanes.hpp"
#include "dem/laws/parameter.hpp"

namespace vicinal::dem {

inline constexpr double pi = 3.141592653589793;

// The name of a law and its formulas, as the documentation prints them.
struct LawText {
  std::string_view name, title;
  std::string_view normal_spring, normal_dashpot, tangential_spring, tangential_dashpot;
};

// A head-on collision: effective mass and radius, and relative speed.
struct Collision {
  double mass, radius, speed;
};

namespace {

template <class Real>
struct LaneCoefficients {
  Real kn, kt, rate_n, rate_t, damping_n, damping_t, friction, rolling, cohesion, torsion, softness_t;
};

// Geometry and motion of a contact. The normal points from the first body to the second. The motion is that of the
// first relative to the second at the point of contact.
//
// Rates (for dashpots) and the normal belong to the end of the step; rates use the velocities predicted for it. Springs
// are stretched by the displacement during the step: the velocity of the half step, perpendicular to the normal of the
// half step. `midway` is the normal of the half step divided by the cosine of half the angle by which the normal
// turned. The map a → a - (a·normal) midway converts a vector that was tangential before the step into one that is
// tangential now and has the same length.
template <class Real>
struct Touch {
  Real overlap, inverse_mass, radius;  // effective mass and radius
  Triple<Real> normal, midway;
  Triple<Real> rate;          // relative velocity at the end of the step
  Real step;                  // time
  Triple<Real> travel;        // relative displacement during the step
  Real turn;                  // angle by which both turned about the normal during the step
  Triple<Real> rolling_rate;  // relative angular velocity
  Triple<Real> rolled;        // relative rotation during the step
};

// The normal spring, and the quantities from which the other terms follow.
template <class Real>
struct NormalForce {
  Real stiffness_n, stiffness_t;
  Real elastic;  // force
  Real root;     // factor of the damping coefficients; computed only if damping follows from restitution
};

// Coefficients that every law mixes in the same way: geometric means.
inline Coefficients friction_of(const MaterialPair& pair) {
  Coefficients c;
  c.friction = pair.geometric_mean("friction");
  c.rolling = pair.geometric_mean("rolling_friction");
  c.cohesion = pair.geometric_mean("cohesion");
  c.torsion = pair.geometric_mean("torsional_friction");
  return c;
}

// The tangential dashpot uses gamma_t if both materials have it, and the given damping otherwise.
inline void set_tangential_dashpot(Coefficients& c, const MaterialPair& pair, double damping) {
  if (pair.both_have("gamma_t")) c.rate_t = pair.geometric_mean("gamma_t");
  else c.damping_t = damping;
}

}  // namespace
}  // namespace vicinal::dem
