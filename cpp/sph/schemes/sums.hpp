// Where the sums of the loops over neighbours are, for the code that uses them.
#pragma once

#include <cstddef>

namespace vicinal::sph {

// Of a fluid particle (delta.hpp).
template <int D>
struct DeltaSums {
  static constexpr std::size_t acceleration = 0;
  static constexpr std::size_t rate = D;                    // of the density
  static constexpr std::size_t moments = D + 1;             // Σ r⊗∇W V, upper triangle
  static constexpr std::size_t gradient = D == 2 ? 6 : 10;  // Σ (ρⱼ - ρᵢ) ∇W V
  static constexpr std::size_t crowding = D == 2 ? 8 : 13;  // Σ (1 + R (W/W₀)⁴) ∇W V
};

// Of a wall particle (extrapolate.hpp).
template <int D>
struct WallSums {
  static constexpr std::size_t weight = 0;        // Σ W
  static constexpr std::size_t pressure = 1;      // Σ p W
  static constexpr std::size_t lever = 2;         // Σ ρ r W
  static constexpr std::size_t velocity = 2 + D;  // Σ u W
};

// Of a wall particle of a body (react.hpp).
template <int D>
struct ReactSums {
  static constexpr std::size_t acceleration = 0;  // of the fluid around it, all particles together
};

// A particle whose moments have an eigenvalue below this is part of a free surface (Marrone et al., J. Comput. Phys.
// 229 (2010) 3652).
inline constexpr double surface_threshold = 0.75;
// Below this a particle has too few neighbours for a gradient.
inline constexpr double solvable_threshold = 0.2;

}  // namespace vicinal::sph
