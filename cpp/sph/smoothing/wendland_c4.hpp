// Wendland's kernel of continuity C4 (Adv. Comput. Math. 4 (1995) 389).
#pragma once

#include <numbers>

namespace vicinal::sph {

struct WendlandC4 {
  static constexpr const char* name = "wendland_c4";
  static constexpr double support = 2;
  static constexpr double scale2 = 9 / (4 * std::numbers::pi), scale3 = 495 / (256 * std::numbers::pi);

  template <class L>
  static void at(typename L::Real q, typename L::Real& value, typename L::Real& slope) {
    const auto t = L::all(1) - L::all(0.5) * q;
    const auto t2 = t * t;
    const auto t5 = t2 * t2 * t;
    value = t5 * t * (L::all(1) + q * (L::all(3) + L::all(typename L::T(35.0 / 12)) * q));
    slope = L::all(typename L::T(-7.0 / 3)) * t5 * (L::all(2) + L::all(5) * q);
  }
};

}  // namespace vicinal::sph
