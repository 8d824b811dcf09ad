// Tait's equation with the exponent 7: p = c² ρ₀ / 7 ((ρ/ρ₀)⁷ - 1).
#pragma once

#include <algorithm>
#include <cmath>

namespace vicinal::sph {

struct TaitState {
  static double pressure(double excess, double rest, double sound) {
    const double s = excess / rest;
    // (1 + s)⁷ - 1 written out: nothing cancels where s is small.
    return sound * sound * rest / 7 * (s * (7 + s * (21 + s * (35 + s * (35 + s * (21 + s * (7 + s)))))));
  }
  static double excess(double pressure, double rest, double sound) {
    const double ratio = std::max(7 * pressure / (sound * sound * rest), -0.999);
    return rest * std::expm1(std::log1p(ratio) / 7);
  }
};

}  // namespace vicinal::sph
