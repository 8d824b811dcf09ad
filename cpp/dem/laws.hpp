// Contact laws: what two bodies that overlap do to each other. Written for any number of lanes (lanes.hpp).
//
// Normal: a linear spring or Hertz, with a dashpot; attraction per area of the overlapping circle (cohesion).
// Tangential: a spring that has been stretched since the contact began, with a dashpot, capped by Coulomb. Rolling: the
// same for the angle rolled, capped by a moment (Ai et al., Powder Technology 206 (2011) 269, model C).
#pragma once

#include "dem/lanes.hpp"
#include "dem/parameters.hpp"

namespace vicinal::dem {

namespace {

template <class Real>
struct LawParameters {
  Real kn, kt, rate_n, rate_t, damping_n, damping_t, friction, rolling, cohesion;
};

// A contact, geometry and motion. The normal points from the first body to the second. Motion is that of the first
// relative to the second at the point of contact.
//
// Rates (for dashpots) belong to the full step, like the normal: velocities as predicted for it. What springs are
// stretched by is the displacement between the two steps: velocities of the half step, across the normal of the half
// step. `midway` is that normal divided by the cosine of half the angle the normal turned: a - (a·normal) midway then
// turns a vector that was tangential before the step to one that is tangential now, without changing its length.
template <class Real>
struct Touch {
  Real overlap, mass, radius;  // effective mass and radius
  Triple<Real> normal, midway;
  Triple<Real> rate;          // at the full step
  Real step;                  // of time
  Triple<Real> travel;        // during the step, a length
  Real turn;                  // angle that both turned about the normal during the step
  Triple<Real> rolling_rate;  // relative angular velocity
  Triple<Real> rolled;        // relative rotation during the step
};

template <class Real>
struct Response {
  Triple<Real> force;       // on the first body
  Triple<Real> tangential;  // its tangential part
  Triple<Real> moment;      // rolling resistance on the first body
  Real normal;              // repulsion, without cohesion
  Real stiffness_n, stiffness_t;
};

// A spring's stretch after the step: what is new added, the whole turned with the contact.
template <class Real>
[[gnu::always_inline]] inline Triple<Real> carried(Triple<Real> spring, Triple<Real> added, Triple<Real> normal,
                                                   Triple<Real> midway, Real turn) {
  const auto sum = spring + added;
  const auto tangential = sum - dot(sum, normal) * midway;
  return tangential + turn * cross(normal, tangential);
}

// Spring and dashpot up to a limit, beyond which the spring slips. Returns the force, and the spring as it is then:
// with a `steady` stiffness what is left of the force without the dashpot (Luding, Granular Matter 10 (2008) 235),
// which may be a stretch against the motion. A stiffness that grows with the overlap would make energy of that; there
// the spring keeps its own stretch, up to the limit.
template <bool steady, class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> slide(Triple<Real>& spring, Real stiffness, Triple<Real> dashpot,
                                                 Real limit) {
  const Real zero = Lanes::all(0), one = Lanes::all(1);
  const auto wanted = stiffness * spring + dashpot;
  const Real square = dot(wanted, wanted);
  const auto slips = square > limit * limit;
  // Nobody can tell whether one of several lanes slips; a wrong guess costs more than the roots.
  if (Lanes::width == 1 && Lanes::bits(slips) == 0) return wanted;
  const auto held = choose(slips, limit / root(square), one) * wanted;
  Triple<Real> left;
  if constexpr (steady) {
    const Real softness = choose(stiffness > zero, one / stiffness, zero);
    left = softness * (held - dashpot);
  } else {
    const Real strained = (stiffness * stiffness) * dot(spring, spring);
    left = choose(strained > limit * limit, limit / root(strained), one) * spring;
  }
  spring = {choose(slips, left.x, spring.x), choose(slips, left.y, spring.y), choose(slips, left.z, spring.z)};
  return held;
}

// The force on the first body. Springs are brought to this step. Whether
// there are tangential `dashpots`, and whether there are `extras` (rolling, cohesion, or no history), is known when
// this is compiled: most cases have none, and what is not computed needs no registers.
template <Law law, bool dashpots, bool extras, class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Response<Real> respond(const LawParameters<Real>& p, const Touch<Real>& touch,
                                                     const Terms& terms, Triple<Real>& spring, Triple<Real>& rolling) {
  const Real zero = Lanes::all(0), one = Lanes::all(1), two = Lanes::all(2);
  const auto& n = touch.normal;
  Response<Real> r;
  Real elastic, root_of_mass = zero;
  if constexpr (law == Law::linear) {
    r.stiffness_n = p.kn;
    r.stiffness_t = p.kt;
    elastic = p.kn * touch.overlap;
    if (terms.roots) root_of_mass = root(touch.mass);
  } else {
    const Real circle = root(touch.radius * touch.overlap);  // Hertz's radius of the contact
    r.stiffness_n = two * p.kn * circle;
    r.stiffness_t = Lanes::all(8) * p.kt * circle;
    elastic = Lanes::all(2.0 / 3) * r.stiffness_n * touch.overlap;
    if (terms.roots) root_of_mass = root(circle * touch.mass);
  }
  const Real approach = dot(touch.rate, n);
  Real damped = (p.rate_n * touch.mass + p.damping_n * root_of_mass) * approach;
  if constexpr (law == Law::linear) {
    // A linear dashpot sets in and ends with full force, so that a rebound would depend on where in a step it begins.
    // It is given for the overlap in steps, s, the share that makes up for this: w(s) + w(s + 1) + ... is the time
    // since the contact began and half a step, as the trapezoidal rule wants it, and w(0) = 0: nothing jumps.
    const Real path = touch.step * magnitude(approach);
    if (Lanes::bits(two * path > touch.overlap) != 0) {
      const Real s = touch.overlap / path;
      damped = choose(one > s, Lanes::all(1.5) * s, choose(two > s, two - Lanes::all(0.5) * s, one)) * damped;
    }
  }
  r.normal = elastic + damped;
  const Real limit = p.friction * magnitude(r.normal);
  const Triple<Real> none{zero, zero, zero};

  Triple<Real> dashpot = none;
  if (terms.dashpot) dashpot = (p.rate_t * touch.mass + p.damping_t * root_of_mass) * (touch.rate - approach * n);
  const bool history = !extras || terms.history;
  if (history)
    spring =
        carried(spring, touch.travel - dot(touch.travel, touch.midway) * touch.midway, n, touch.midway, touch.turn);
  const auto held = slide<law == Law::linear, Lanes>(spring, history ? r.stiffness_t : zero, dashpot, limit);
  r.tangential = none - held;

  r.moment = none;
  if (extras && terms.rolling) {
    const Real reach = p.rolling * touch.radius;
    const Real stiffness = Lanes::all(2.25) * r.stiffness_n * reach * reach;
    // A third of the critical damping, for the inertia of a sphere about its contact.
    const Real damping =
        Lanes::all(2 * 0.3) * root(Lanes::all(1.4) * touch.mass * touch.radius * touch.radius * stiffness);
    const auto bent = touch.rolled - dot(touch.rolled, touch.midway) * touch.midway;
    rolling = carried(rolling, bent, n, touch.midway, touch.turn);
    const auto rate = touch.rolling_rate - dot(touch.rolling_rate, n) * n;
    r.moment = none - slide<false, Lanes>(rolling, stiffness, damping * rate, reach * magnitude(r.normal));
  }
  Real pull = r.normal;
  if (extras && terms.cohesion) pull = pull - p.cohesion * Lanes::all(6.283185307179586) * touch.radius * touch.overlap;
  r.force = r.tangential - pull * n;
  return r;
}

}  // namespace
}  // namespace vicinal::dem
