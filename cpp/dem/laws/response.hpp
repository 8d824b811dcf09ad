// The force and moment of a contact: the law's normal force, and the terms that all laws share.
//
// Tangential: a spring, stretched since the contact began, and a dashpot, limited by Coulomb friction.
// Rolling: the same for the angle rolled, limited by a moment (Ai et al., Powder Technology 206 (2011) 269, model C).
// Torsion: the same for the angle turned about the normal.
// Cohesion: an attraction per area of the circle of overlap.
#pragma once

#include "dem/coefficients.hpp"
#include "dem/lanes.hpp"
#include "dem/laws/law.hpp"

namespace vicinal::dem {
namespace {

// Stiffness of rolling springs in units of normal stiffness × (rolling friction × R*)².
constexpr double rolling_stiffness = 2.25;

// The stretch of a spring after the step: adds the displacement, and rotates the sum with the contact.
template <class Real>
[[gnu::always_inline]] inline Triple<Real> carried(Triple<Real> spring, Triple<Real> added, Triple<Real> normal,
                                                   Triple<Real> midway, Real turn) {
  const auto sum = spring + added;
  const auto tangential = sum - dot(sum, normal) * midway;
  return tangential + turn * cross(normal, tangential);
}

// The force of a spring and a dashpot up to a limit, beyond which the contact slips. Returns the force and updates the
// spring. If the stiffness is constant (`steady`), the spring of a slipping contact gets the stretch that carries the
// limiting force minus the dashpot (Luding, Granular Matter 10 (2008) 235); this stretch may be opposite to the motion.
// If the stiffness grows with the overlap, that rule would create energy, so the spring keeps its own stretch, up to
// the limit. `softness` is 1 / stiffness, and only used where the stiffness is constant.
template <bool steady, bool dashpots, class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> slide(Triple<Real>& spring, Real stiffness, Real softness,
                                                 Triple<Real> dashpot, Real limit) {
  const Real one = Lanes::all(1);
  auto wanted = stiffness * spring;
  if constexpr (dashpots) wanted = wanted + dashpot;
  const Real square = dot(wanted, wanted);
  const auto slips = square > limit * limit;
  // With several lanes the branch is unpredictable, and a misprediction costs more than the square roots.
  if (Lanes::width == 1 && Lanes::bits(slips) == 0) return wanted;
  const auto held = choose(slips, limit / root(square), one) * wanted;
  Triple<Real> left;
  if constexpr (steady) {
    left = softness * (dashpots ? held - dashpot : held);
  } else {
    const Real strained = (stiffness * stiffness) * dot(spring, spring);
    left = choose(strained > limit * limit, limit / root(strained), one) * spring;
  }
  spring = {choose(slips, left.x, spring.x), choose(slips, left.y, spring.y), choose(slips, left.z, spring.z)};
  return held;
}

// The force of the normal dashpot, and the effective mass, which costs no second division.
//
// `approach` is the velocity at the end of the step, predicted with the forces of the step before. Here the force of
// this contact is replaced by that of the present step, which contains the dashpot itself: an equation of first degree.
// `rate` is the dashpot's coefficient divided by the mass; `path` is the approach during the step, as a length.
template <class Real>
struct NormalDashpot {
  Real force, mass;
};
template <class Lanes, class Mask, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline NormalDashpot<Real> normal_dashpot(const Touch<Real>& touch, Real stiffness, Real rate,
                                                                 Real approach, Real path, Mask begins) {
  const Real half = Lanes::all(0.5) * touch.step, spring = half * stiffness * touch.inverse_mass;
  Real change = rate * (half * approach - path) + spring * path;
  if (Lanes::bits(begins) != 0) change = choose(begins, spring * touch.overlap, change);
  const Real slowed = Lanes::all(1) + half * rate, scale = Lanes::all(1) / (touch.inverse_mass * slowed);
  return {rate * (approach - change) * scale, slowed * scale};
}

// The history of relative rotation.
template <class Real>
struct Turned {
  Triple<Real> rolled;
  Real twisted;
};

// A contact of which all is known but the tangential force: it follows from `hold`.
template <class Real>
struct Pressed {
  Real push;             // the normal force on the second body
  Triple<Real> spring;   // the tangential spring, stretched by the step
  Triple<Real> dashpot;  // the force of the tangential dashpot
  Real limit;            // of the tangential force
  Triple<Real> moment;   // on the first body, against rolling and twisting
  Real stiffness_n, stiffness_t, softness_t;
};

// Computes the normal force, stretches the tangential spring, and updates `turned`. `dashpots` (tangential) and
// `extras` (rolling, torsion, cohesion, no history) are template parameters: most simulations use neither, and terms
// that are left out at compile time need no registers.
template <class Law, bool dashpots, bool extras, class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Pressed<Real> press(const LaneCoefficients<Real>& c, const Touch<Real>& touch,
                                                  const Terms& terms, Triple<Real> spring, Turned<Real>& turned) {
  const Real zero = Lanes::all(0);
  const Triple<Real> none{zero, zero, zero};
  const auto& n = touch.normal;
  const NormalForce<Real> law = Law::template normal<Lanes>(c, touch, terms.roots);
  const Real approach = dot(touch.rate, n), path = dot(touch.travel, touch.midway);
  const auto begins = path > touch.overlap;  // the bodies were apart before this step
  const bool any_begins = Lanes::bits(begins) != 0;
  const Real full = c.rate_n + c.damping_n * law.root;
  const Real rate = Law::template dashpot_weight<Lanes>(approach, touch) * full;
  const auto damped = normal_dashpot<Lanes>(touch, law.stiffness_n, rate, approach, path, begins);
  const Real repulsion = law.elastic + damped.force;
  Pressed<Real> r;
  r.push = repulsion;
  r.limit = c.friction * magnitude(repulsion);
  r.stiffness_n = law.stiffness_n;
  const bool history = !extras || terms.history, dashpot = dashpots && terms.dashpot;
  r.stiffness_t = history ? law.stiffness_t : zero;
  r.softness_t = history ? c.softness_t : zero;
  r.dashpot = none;
  if (dashpot) r.dashpot = (damped.mass * (c.rate_t + c.damping_t * law.root)) * (touch.rate - approach * n);
  if (history) {
    auto added = touch.travel - path * touch.midway;
    if (any_begins) {
      added = choose(begins, touch.overlap / path, Lanes::all(1)) * added;
      if (Law::constant_stiffness && dashpot) {
        // The dashpot acts at once and mostly exceeds the limit then, so the contact begins with a spring that slipped.
        auto first = spring;
        const Real push = damped.mass * full * approach;
        slide<true, true, Lanes>(first, r.stiffness_t, c.softness_t, r.dashpot, c.friction * magnitude(push));
        spring = {choose(begins, first.x, spring.x), choose(begins, first.y, spring.y),
                  choose(begins, first.z, spring.z)};
      }
    }
    spring = carried(spring, added, n, touch.midway, touch.turn);
  }
  r.spring = spring;

  r.moment = none;
  if (extras && terms.rolling) {
    const Real reach = c.rolling * touch.radius;
    const Real stiffness = Lanes::all(rolling_stiffness) * r.stiffness_n * reach * reach;
    // 0.3 of the critical damping for the inertia of a sphere about its point of contact.
    const Real damping =
        Lanes::all(2 * 0.3) * root(Lanes::all(1.4) * damped.mass * touch.radius * touch.radius * stiffness);
    const auto bent = touch.rolled - dot(touch.rolled, touch.midway) * touch.midway;
    turned.rolled = carried(turned.rolled, bent, n, touch.midway, touch.turn);
    const auto bending = touch.rolling_rate - dot(touch.rolling_rate, n) * n;
    r.moment = none - slide<false, true, Lanes>(turned.rolled, stiffness, zero, damping * bending,
                                                reach * magnitude(repulsion));
  }
  if (extras && terms.torsion) {
    const Real reach = c.torsion * touch.radius;
    const Real stiffness = Lanes::all(rolling_stiffness) * r.stiffness_n * reach * reach;
    // 0.3 of the critical damping for the inertia of a sphere about its centre.
    const Real damping =
        Lanes::all(2 * 0.3) * root(Lanes::all(0.4) * damped.mass * touch.radius * touch.radius * stiffness);
    Triple<Real> twist{turned.twisted + dot(touch.rolled, touch.midway), zero, zero};
    const Triple<Real> dashpot_twist{damping * dot(touch.rolling_rate, n), zero, zero};
    const auto torque = slide<false, true, Lanes>(twist, stiffness, zero, dashpot_twist, reach * magnitude(repulsion));
    turned.twisted = twist.x;
    r.moment = r.moment - torque.x * n;
  }
  if (extras && terms.cohesion) r.push = r.push - c.cohesion * Lanes::all(2 * pi) * touch.radius * touch.overlap;
  return r;
}

// The forces on the second body, which are those on the first with the opposite sign. The spring of a contact that
// slips becomes shorter.
template <class Real>
struct Forced {
  Triple<Real> force, tangential;  // the whole, and its tangential part
};
template <class Law, bool dashpots, class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Forced<Real> hold(Pressed<Real>& p, const Triple<Real>& normal) {
  const auto held =
      slide<Law::constant_stiffness, dashpots, Lanes>(p.spring, p.stiffness_t, p.softness_t, p.dashpot, p.limit);
  return {held + p.push * normal, held};
}

// The whole response of a contact. Updates the springs.
template <class Real>
struct Response {
  Triple<Real> force, tangential, moment;  // on the first body
  Real stiffness_n, stiffness_t;
};
template <class Law, class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Response<Real> respond(const LaneCoefficients<Real>& c, const Touch<Real>& touch,
                                                     const Terms& terms, Triple<Real>& spring, Turned<Real>& turned) {
  auto pressed = press<Law, true, true, Lanes>(c, touch, terms, spring, turned);
  const auto forced = hold<Law, true, Lanes>(pressed, touch.normal);
  spring = pressed.spring;
  const Triple<Real> none{Lanes::all(0), Lanes::all(0), Lanes::all(0)};
  return {none - forced.force, none - forced.tangential, pressed.moment, pressed.stiffness_n, pressed.stiffness_t};
}

}  // namespace
}  // namespace vicinal::dem
