// The coefficients of a contact law for two materials.
#pragma once

#include <cstddef>

namespace vicinal::dem {

// The coefficients for one pair of materials. kn and kt are stiffnesses, or moduli such as E* and G*. The coefficient
// of a dashpot is effective mass × (rate + damping × root); the law defines the root, for example 1/sqrt(m*). `mix`
// returns a dimensionless damping (a multiple of sqrt(stiffness × m*)); `for_loops` multiplies it by the square root of
// the modulus. The base classes are rows of four numbers, which loops load in one instruction.
struct alignas(32) SpringCoefficients {
  double kn = 0, kt = 0, rate_n = 0, rate_t = 0;
};
struct alignas(32) FrictionCoefficients {
  double damping_n = 0, damping_t = 0, friction = 0, rolling = 0;
};
struct Coefficients : SpringCoefficients, FrictionCoefficients {
  double cohesion = 0, torsion = 0;
  double softness_t = 0;  // 1 / kt; only for loops over laws of constant stiffness
};
inline constexpr std::size_t coefficient_stride = sizeof(Coefficients) / sizeof(double);

// The terms that occur for any pair of materials. Loops skip terms that do not occur.
struct Terms {
  bool history = true;
  bool roots = false;    // damping that follows from restitution, which needs a square root
  bool dashpot = false;  // tangential dashpot
  bool rolling = false;
  bool torsion = false;
  bool cohesion = false;
  // Whether the history of contacts includes relative rotation.
  [[nodiscard]] bool turning() const { return rolling || torsion; }
  // Whether there is more than the terms that most simulations have.
  [[nodiscard]] bool extra() const { return turning() || cohesion || !history; }
};

}  // namespace vicinal::dem
