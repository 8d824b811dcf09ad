// Linear springs and dashpots, normal and tangential (Cundall & Strack 1979).
#pragma once

#include <cmath>

#include "dem/coefficients.hpp"
#include "dem/lanes.hpp"
#include "dem/laws/law.hpp"
#include "dem/laws/parameter.hpp"

namespace vicinal::dem {
namespace {

struct Linear {
  static constexpr LawText text{
      .name = "linear",
      .title = "linear springs and dashpots",
      .normal_spring = "kn δ",
      .normal_dashpot = "m* γn v, or 2 ζ √(kn m*) v",
      .tangential_spring = "kt ξ",
      .tangential_dashpot = "m* γt v, or 2 ζ √(kt m*) v",
  };
  static constexpr LawParameter parameters[] = {
      required(positive("kn", "N/m", "Normal stiffness.")),
      not_negative("kt", "N/m", "Tangential stiffness. Unset: 2/7 of kn."),
      not_negative("gamma_n", "1/s",
                   "Rate of the normal dashpot, in place of the one that follows from restitution: the force is "
                   "effective mass × gamma_n × relative velocity."),
  };

  // The stiffness of a pair is twice that of both springs in series, so two equal materials keep their stiffness.
  static Coefficients mix(const MaterialPair& pair) {
    const auto in_series = [](double a, double b) { return a + b > 0 ? 2 * a * b / (a + b) : 0; };
    const auto tangential = [](const MaterialValues& m) { return m.get("kt", 2.0 / 7 * m.get("kn")); };
    Coefficients c = friction_of(pair);
    c.kn = in_series(pair.first.get("kn"), pair.second.get("kn"));
    c.kt = in_series(tangential(pair.first), tangential(pair.second));
    // Restitution gives the tangential spring the same fraction of critical damping as the normal spring.
    double damping = 0;
    if (pair.both_have("gamma_n")) c.rate_n = pair.geometric_mean("gamma_n");
    else c.damping_n = damping = 2 * damping_ratio(pair.restitution());
    set_tangential_dashpot(c, pair, damping);
    return c;
  }
  static Coefficients for_loops(const Coefficients& mixed) {
    Coefficients c = mixed;
    c.damping_n *= std::sqrt(c.kn);
    c.damping_t *= std::sqrt(c.kt);
    c.softness_t = c.kt > 0 ? 1 / c.kt : 0;
    return c;
  }
  static double collision_time(const Coefficients& mixed, const Collision& collision) {
    const double stiffness = mixed.kn / collision.mass;  // square of the undamped angular frequency
    const double rate = mixed.rate_n + mixed.damping_n * std::sqrt(stiffness);
    const double damped = stiffness - 0.25 * (rate * rate);
    return pi / std::sqrt(damped > 0 ? damped : stiffness);
  }

  static constexpr bool reads_radius = false;
  static constexpr bool constant_stiffness = true;

  template <class Lanes, class Real = typename Lanes::Real>
  [[gnu::always_inline]] static NormalForce<Real> normal(const LaneCoefficients<Real>& c, const Touch<Real>& touch,
                                                         bool roots) {
    return {c.kn, c.kt, c.kn * touch.overlap, roots ? root(touch.inverse_mass) : Lanes::all(0)};
  }
  // A linear dashpot starts and ends with its full force, so the rebound would depend on the fraction of a step at
  // which the contact begins. A weight w(s) corrects this, where s is the overlap divided by the approach in one step:
  // w(s) + w(s + 1) + … is the time since the contact began plus half a step, as in the trapezoidal rule, and w(0) = 0.
  template <class Lanes, class Real = typename Lanes::Real>
  [[gnu::always_inline]] static Real dashpot_weight(Real approach, const Touch<Real>& touch) {
    const Real one = Lanes::all(1), two = Lanes::all(2);
    const Real path = touch.step * magnitude(approach);
    if (Lanes::bits(two * path > touch.overlap) == 0) return one;
    const Real s = touch.overlap / path;
    return choose(one > s, Lanes::all(1.5) * s, choose(two > s, two - Lanes::all(0.5) * s, one));
  }
  // k δ² / 2.
  static double stored_energy(double stiffness, double overlap) { return 0.5 * stiffness * overlap * overlap; }
};

}  // namespace
}  // namespace vicinal::dem
