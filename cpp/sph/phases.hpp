// The fluids of a simulation, and what a pair of them has in common.
#pragma once

#include <cstddef>
#include <vector>

namespace vicinal::sph {

inline constexpr std::size_t most_phases = 8;

struct Phase {
  double rest = 1, sound = 1;  // density at rest, speed of sound
  double viscosity = 0;        // dynamic
};

inline bool differ_in_viscosity(const std::vector<Phase>& phases) {
  bool differ = false;
  for (const Phase& phase : phases) differ |= phase.viscosity != phases[0].viscosity;
  return differ;
}

// Phases as loops over neighbours see them; tables of pairs have the row of the particle itself first.
template <class T>
struct PhaseTable {
  std::size_t count;
  bool stresses;  // viscosities differ: the whole tensor of stresses matters
  T rest[most_phases];
  T per_mass[most_phases];
  T diffusion[most_phases];               // of the density that a pressure stands for: 2 ν/c²
  T per_square[most_phases];              // of the speed of sound
  T share[most_phases][most_phases];      // ρᵢ/(ρᵢ + ρⱼ)
  T viscosity[most_phases][most_phases];  // harmonic mean
};

// `mass_volume` is the volume of a particle at rest, `reach` the strength of diffusion times the smoothing length.
template <class T>
PhaseTable<T> table_of(const std::vector<Phase>& phases, double mass_volume, double reach) {
  PhaseTable<T> table{};
  table.count = phases.size();
  table.stresses = differ_in_viscosity(phases);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const Phase& own = phases[i];
    table.rest[i] = static_cast<T>(own.rest);
    table.per_mass[i] = static_cast<T>(1 / (own.rest * mass_volume));
    table.diffusion[i] = static_cast<T>(2 * reach / own.sound);
    table.per_square[i] = static_cast<T>(1 / (own.sound * own.sound));
    for (std::size_t j = 0; j < phases.size(); ++j) {
      const double sum = own.viscosity + phases[j].viscosity;
      table.share[i][j] = static_cast<T>(own.rest / (own.rest + phases[j].rest));
      table.viscosity[i][j] = static_cast<T>(sum > 0 ? 2 * own.viscosity * phases[j].viscosity / sum : 0);
    }
  }
  return table;
}

}  // namespace vicinal::sph
