// p = c² (ρ - ρ₀).
#pragma once

namespace vicinal::sph {

struct LinearState {
  static double pressure(double excess, double /*rest*/, double sound) { return sound * sound * excess; }
  static double excess(double pressure, double /*rest*/, double sound) { return pressure / (sound * sound); }
};

}  // namespace vicinal::sph
