// The quintic spline (Morris, Fox & Zhu, J. Comput. Phys. 136 (1997) 214).
#pragma once

#include <numbers>

namespace vicinal::sph {

struct QuinticSpline {
  static constexpr const char* name = "quintic";
  static constexpr double support = 3;
  static constexpr double scale2 = 7 / (478 * std::numbers::pi), scale3 = 1 / (120 * std::numbers::pi);

  template <class L>
  static void at(typename L::Real q, typename L::Real& value, typename L::Real& slope) {
    const auto zero = L::all(0);
    const auto a = L::larger(L::all(3) - q, zero), b = L::larger(L::all(2) - q, zero);
    const auto near = L::less(q, L::all(1));
    const auto q2 = q * q, a2 = a * a, b2 = b * b;
    const auto a4 = a2 * a2, b4 = b2 * b2;
    // Near 0 the powers cancel each other; there the sum is written out.
    value = L::choose(near, L::all(66) + q2 * (q2 * (L::all(30) - L::all(10) * q) - L::all(60)),
                      a4 * a - L::all(6) * (b4 * b));
    slope = L::choose(near, q2 * (L::all(120) - L::all(50) * q) - L::all(120), (L::all(30) * b4 - L::all(5) * a4) / q);
  }
};

}  // namespace vicinal::sph
