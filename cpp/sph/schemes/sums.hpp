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
  static constexpr std::size_t count = D == 2 ? 10 : 16;
};

// The same without diffusion and shifting.
template <int D>
struct PlainDeltaSums {
  static constexpr std::size_t acceleration = 0, rate = DeltaSums<D>::rate, moments = DeltaSums<D>::moments;
  static constexpr std::size_t count = DeltaSums<D>::gradient;
};

// Of a fluid particle (edac.hpp).
template <int D>
struct EdacSums {
  static constexpr std::size_t acceleration = 0;
  static constexpr std::size_t rate = D;            // of the density that the pressure stands for
  static constexpr std::size_t kernel = D + 1;      // Σ W
  static constexpr std::size_t difference = D + 2;  // Σ (pⱼ - pᵢ) W within the phase
  static constexpr std::size_t moment = D + 3;      // -Σ r·∇W (Vᵢ² + Vⱼ²) / m
  static constexpr std::size_t background = D + 4;  // Σ (Vᵢ² + Vⱼ²) ∇W / m
  static constexpr std::size_t crowding = 2 * D + 4;
  static constexpr std::size_t colour = 3 * D + 4;  // gradient of the colour per mass: 1 in other phases, 0 in its own
  static constexpr std::size_t count = 4 * D + 4;
};

// Of a fluid particle (dfsph.hpp).
template <int D>
struct DfsphSums {
  static constexpr std::size_t kernel = 0;             // Σ W
  static constexpr std::size_t rate = 1;               // Σ (uᵢ - uⱼ) · ∇W V
  static constexpr std::size_t square = 2;             // Σ |∇W V|², without walls
  static constexpr std::size_t gradient = 3;           // Σ ∇W V, without walls
  static constexpr std::size_t wall_gradient = 3 + D;  // Σ ∇W V of walls
  static constexpr std::size_t above = 3 + 2 * D;      // Σ (pⱼ - pᵢ) ∇W V of walls
  static constexpr std::size_t viscosity = 3 + 3 * D;  // acceleration
  static constexpr std::size_t count = 3 + 4 * D;
};

// Of a fluid particle near an interface (curvature.hpp). The divergence of its normal is D - 1 times the ratio of the
// first two.
template <int D>
struct CurvatureSums {
  static constexpr std::size_t bend = 0;    // Σ (nᵢ ∓ nⱼ)·∇W V
  static constexpr std::size_t moment = 1;  // Σ r·∇W V, of the part of r along the interface
  static constexpr std::size_t jump = 2;    // Σ (κᵢ - κⱼ)/2 ρᵢ/(ρᵢ + ρⱼ) ∇W (Vᵢ² + Vⱼ²) of other phases
  static constexpr std::size_t count = 2 + D;
};

// Of a wall particle (extrapolate.hpp).
template <int D>
struct WallSums {
  static constexpr std::size_t weight = 0;        // Σ W
  static constexpr std::size_t pressure = 1;      // Σ p W
  static constexpr std::size_t lever = 2;         // Σ ρ r W
  static constexpr std::size_t velocity = 2 + D;  // Σ u W
  static constexpr std::size_t count = 2 + 2 * D;
};

// Of a wall particle of a body (react.hpp).
template <int D>
struct ReactSums {
  static constexpr std::size_t acceleration = 0;  // of the fluid around it, all particles together
};

// The weight R of close neighbours in the sums of crowding: Σ (1 + R (W/W₀)⁴) ∇W V.
template <class T>
inline constexpr T crowding_strength = T(0.2);

// A particle whose moments have an eigenvalue below this is part of a free surface (Marrone et al., J. Comput. Phys.
// 229 (2010) 3652).
inline constexpr double surface_threshold = 0.75;
// Below this a particle has too few neighbours for a gradient.
inline constexpr double solvable_threshold = 0.2;

}  // namespace vicinal::sph
