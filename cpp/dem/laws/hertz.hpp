// Hertz's normal force and Mindlin's tangential stiffness, with the damping of Tsuji et al. 1992.
#pragma once

#include <cmath>

#include "dem/coefficients.hpp"
#include "dem/lanes.hpp"
#include "dem/laws/law.hpp"
#include "dem/laws/parameter.hpp"

namespace vicinal::dem {
namespace {

struct Hertz {
  static constexpr LawText text{
      .name = "hertz",
      .title = "Hertz and Mindlin",
      .normal_spring = "4/3 E* √(R* δ) δ",
      .normal_dashpot = "2 √(5/6) ζ √(S m*) v, S = 2 E* √(R* δ)",
      .tangential_spring = "8 G* √(R* δ) ξ",
      .tangential_dashpot = "m* γt v, or 2 √(5/6) ζ √(8 G* √(R* δ) m*) v",
  };
  static constexpr LawParameter parameters[] = {
      required(positive("youngs_modulus", "Pa", "Young's modulus.")),
      {"poisson_ratio", "1", -1, false, 0.5, no_default, true, "Poisson's ratio."},
  };
  static constexpr Refusal refused[] = {{"gamma_n", "restitution"}};

  // kn is E*, kt is G*. The damping is Tsuji's as Antypov & Elliott 2011 write it: 2 √(5/6) ζ √(S m*), S = dF/dδ.
  static Coefficients mix(const MaterialPair& pair) {
    double softness = 0, shear_softness = 0;
    for (const MaterialValues* m : {&pair.first, &pair.second}) {
      const double modulus = m->get("youngs_modulus", 1), ratio = m->get("poisson_ratio");
      softness += (1 - ratio * ratio) / modulus;
      shear_softness += 2 * (2 - ratio) * (1 + ratio) / modulus;
    }
    Coefficients c = friction_of(pair);
    c.kn = 1 / softness;
    c.kt = 1 / shear_softness;
    c.damping_n = 2 * std::sqrt(5.0 / 6) * damping_ratio(pair.restitution());
    set_tangential_dashpot(c, pair, c.damping_n);
    return c;
  }
  static Coefficients for_loops(const Coefficients& mixed) {
    Coefficients c = mixed;
    c.damping_n *= std::sqrt(2 * c.kn);
    c.damping_t *= std::sqrt(8 * c.kt);
    return c;
  }
  // 2.94 (15 m* / (16 E* √R*))^(2/5) v^(-1/5), the time without damping, which makes a collision longer.
  static double collision_time(const Coefficients& mixed, const Collision& collision) {
    return 2.94 * std::pow(15 * collision.mass / (16 * mixed.kn * std::sqrt(collision.radius)), 0.4) *
           std::pow(collision.speed, -0.2);
  }
  // The time in which a Rayleigh wave travels halfway around a sphere.
  static double rayleigh_time(const MaterialValues& m, double radius) {
    const double ratio = m.get("poisson_ratio"), shear = m.get("youngs_modulus") / (2 * (1 + ratio));
    return pi * radius * std::sqrt(m.get("density") / shear) / (0.1631 * ratio + 0.8766);
  }

  static constexpr bool reads_radius = true;
  static constexpr bool constant_stiffness = false;

  template <class Lanes, class Real = typename Lanes::Real>
  [[gnu::always_inline]] static NormalForce<Real> normal(const LaneCoefficients<Real>& c, const Touch<Real>& touch,
                                                         bool roots) {
    const Real circle = root(touch.radius * touch.overlap);  // radius of Hertz's contact area
    NormalForce<Real> n;
    n.stiffness_n = Lanes::all(2) * c.kn * circle;
    n.stiffness_t = Lanes::all(8) * c.kt * circle;
    n.elastic = Lanes::all(2.0 / 3) * n.stiffness_n * touch.overlap;
    n.root = roots ? root(circle * touch.inverse_mass) : Lanes::all(0);
    return n;
  }
  // As in linear.hpp, for a dashpot that grows with the fourth root of the overlap: with g(s) = w(s) s^(1/4), the sum
  // g(s) + g(s + 1) is the integral of s^(1/4) from 0 to s + 2 minus half a step, as in the trapezoidal rule. This
  // holds for s = 0, 1/2 and 1, and elsewhere within 1 %.
  template <class Lanes, class Real = typename Lanes::Real>
  [[gnu::always_inline]] static Real dashpot_weight(Real approach, const Touch<Real>& touch) {
    const Real one = Lanes::all(1), two = Lanes::all(2), first = Lanes::all(1.3205);
    const Real path = touch.step * magnitude(approach);
    if (Lanes::bits(two * path > touch.overlap) == 0) return one;
    const Real s = touch.overlap / path, beyond = s - one;
    const Real second = first - beyond * (Lanes::all(0.1131) + Lanes::all(0.2074) * beyond);
    return choose(one > s, first * s, choose(two > s, second, one));
  }
  // The integral of the force: 4/15 S δ² with S = 2 E* √(R* δ).
  static double stored_energy(double stiffness, double overlap) { return 4.0 / 15 * stiffness * overlap * overlap; }
};

}  // namespace
}  // namespace vicinal::dem
