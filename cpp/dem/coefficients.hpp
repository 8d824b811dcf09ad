// The coefficients of a contact law for two materials.
#pragma once

#include <cstddef>

namespace vicinal::dem {

// One pair of materials. kn, kt: stiffnesses, or moduli such as E* and G*. Dashpots: rate × effective mass + damping ×
// root, where the law defines the root, for instance sqrt(m*). `damping` is dimensionless as a law mixes it
// (a multiple of sqrt(stiffness × m*)) and contains the square root of the modulus as the loops read it.
// The bases are rows of four, which loops read at once.
struct alignas(32) SpringCoefficients {
  double kn = 0, kt = 0, rate_n = 0, rate_t = 0;
};
struct alignas(32) FrictionCoefficients {
  double damping_n = 0, damping_t = 0, friction = 0, rolling = 0;
};
struct Coefficients : SpringCoefficients, FrictionCoefficients {
  double cohesion = 0, torsion = 0;
};
inline constexpr std::size_t coefficient_stride = sizeof(Coefficients) / sizeof(double);

// The kinds of terms that occur anywhere in the table; a term that does not occur costs nothing.
struct Terms {
  bool history = true;
  bool roots = false;    // damping from restitution: needs a square root
  bool dashpot = false;  // tangential dashpot
  bool rolling = false;
  bool torsion = false;
  bool cohesion = false;
  // Whether contacts remember how the bodies turned against each other.
  [[nodiscard]] bool turning() const { return rolling || torsion; }
};

}  // namespace vicinal::dem
