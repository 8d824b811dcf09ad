// Contact parameters of materials as the loops read them.
#pragma once

#include <cstddef>

namespace vicinal::dem {

enum class Law { linear, hertz };

// One pair of materials, as the loop wants it. kn, kt: stiffnesses, or E* and G*. Dashpots: rate × effective mass +
// damping × root, where root is sqrt(m*) or sqrt(m* sqrt(R* δ)) and damping has the square root of the modulus in it.
struct Parameters {
  double kn = 0, kt = 0, rate_n = 0, rate_t = 0, damping_n = 0, damping_t = 0, friction = 0, rolling = 0, cohesion = 0,
         unused[3] = {0, 0, 0};
};
inline constexpr std::size_t parameter_stride = sizeof(Parameters) / sizeof(double);

// What kinds of terms there are anywhere in the table; a term that nobody has costs nothing.
struct Terms {
  bool history = true;
  bool roots = false;    // damping from restitution: needs a square root
  bool dashpot = false;  // tangential dashpot
  bool rolling = false;
  bool cohesion = false;
};

}  // namespace vicinal::dem
