// Wendland's kernel of continuity C2 (Adv. Comput. Math. 4 (1995) 389).
#pragma once

#include <numbers>

namespace vicinal::sph {

struct WendlandC2 {
  static constexpr const char* name = "wendland_c2";
  static constexpr double support = 2;  // in smoothing lengths
  static constexpr double scale2 = 7 / (4 * std::numbers::pi), scale3 = 21 / (16 * std::numbers::pi);

  // The kernel at q smoothing lengths without its scale, and its derivative divided by q.
  template <class L>
  static void at(typename L::Real q, typename L::Real& value, typename L::Real& slope) {
    const auto t = L::all(1) - L::all(0.5) * q;
    const auto t3 = t * t * t;
    value = t3 * t * (L::all(1) + (q + q));
    slope = L::all(-5) * t3;
  }
};

}  // namespace vicinal::sph
