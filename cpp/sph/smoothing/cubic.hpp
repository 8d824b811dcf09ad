// The cubic spline (Monaghan & Lattanzio, Astron. Astrophys. 149 (1985) 135).
#pragma once

#include <numbers>

namespace vicinal::sph {

struct CubicSpline {
  static constexpr const char* name = "cubic";
  static constexpr double support = 2;
  static constexpr double scale2 = 10 / (7 * std::numbers::pi), scale3 = 1 / std::numbers::pi;

  template <class L>
  static void at(typename L::Real q, typename L::Real& value, typename L::Real& slope) {
    const auto t = L::larger(L::all(2) - q, L::all(0));
    const auto near = L::less(q, L::all(1));
    const auto t2 = t * t;
    value = L::choose(near, L::all(1) + q * q * (L::all(0.75) * q - L::all(1.5)), L::all(0.25) * t2 * t);
    // The second branch is infinite at q = 0, where it is not taken.
    slope = L::choose(near, L::all(2.25) * q - L::all(3), L::all(-0.75) * t2 / q);
  }
};

}  // namespace vicinal::sph
