// What a simulation of a fluid is told at its start.
#pragma once

#include <cstddef>
#include <vector>

#include "sph/particle_grid.hpp"
#include "sph/phases.hpp"
#include "sph/smoothing/kinds.hpp"
#include "sph/state_equation/kinds.hpp"
#include "sph/viscosity/kinds.hpp"

namespace vicinal::sph {

enum class Scheme { delta, edac, dfsph };

template <int D>
struct FluidSettings {
  Scheme scheme = Scheme::delta;
  std::vector<Phase> phases;  // one for delta
  double spacing = 1, smoothing_length = 1;
  SmoothingKind smoothing = SmoothingKind::wendland_c2;
  StateEquation state;
  ViscosityKind viscosity_kind = ViscosityKind::artificial;
  double viscosity = 0;    // α or ν
  double diffusion = 0.1;  // δ
  double shifting = 1;     // a factor; 0: none
  bool tensile_control = true;
  // With edac: pressure as a part of ρ c². Above it, sums of pressures act; with 0, differences to the mean pressure.
  double background = 0;
  double tension = 0;  // surface tension of all interfaces
  Vector<D> gravity{};
  FluidSpace<D> space;
  double courant = 0.25;    // of all limits of the step
  double tolerance = 1e-3;  // of the solvers of dfsph: mean compression that they leave

  [[nodiscard]] double reach() const;
  [[nodiscard]] double volume() const;  // of a particle at rest
  [[nodiscard]] double kernel(double distance) const;
  [[nodiscard]] double lattice_sum() const;  // of the kernel
  // How much faster than the pressure of a single particle that of a wave on a lattice may change the density.
  [[nodiscard]] double lattice_stiffness() const;
  [[nodiscard]] double pressure(double excess, std::size_t phase) const;
  [[nodiscard]] double fastest_sound() const;
  // Whether delta evens out densities by diffusion, or places by shifting.
  [[nodiscard]] bool evens() const { return diffusion > 0 || shifting > 0; }
  [[nodiscard]] bool tense() const { return tension > 0 && phases.size() > 1; }
  [[nodiscard]] double largest_viscosity() const;  // kinematic, if it limits steps
};

}  // namespace vicinal::sph
