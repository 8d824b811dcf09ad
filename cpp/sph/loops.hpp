// The loops over neighbours, compiled per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sph/candidate_tile.hpp"
#include "sph/phases.hpp"
#include "sph/schemes/rows.hpp"
#include "sph/smoothing/kinds.hpp"
#include "sph/viscosity/kinds.hpp"

namespace vicinal::sph {

// The sums over the neighbours of one particle; their meaning is that of the loop (schemes/).
template <class T>
struct Sums {
  T c[16];
};

// Particles whose neighbours are looked for, and those that they are looked for among.
template <class T, int D>
struct Job {
  CellShape<T, D> shape;
  CellRecords<T, D> fluid, walls;
  bool has_walls;
  // Each phase sees walls of its own: one copy of the records of wall particles after the other.
  std::size_t wall_copies, wall_count;
  T square;  // of the reach
  Smoothing<T> smoothing;
  T mass, rest_density;
  T volume;              // of a particle, one over the sum of the kernel on a lattice
  T mass_slope;          // mass times the scale of ∇W
  T floor;               // a hundredth of the squared smoothing length
  T diffusion;           // δ h c
  T viscosity;           // α h c or ν
  T per_closest;         // one over the kernel at the distance of neighbours on a lattice; for delta without its scale
  PhaseTable<T> phases;  // none of them: densities are those of a single fluid at rest_density
  T gravity[D];
  bool conserves;  // with edac: divergences are those that forces by sums of pressures do work on
  bool tensile_control;
  ViscosityKind viscosity_kind;
  const T* shifts;             // D numbers per fluid particle: the velocity relative to the fluid
  Sums<T>* sums;               // one per query
  const std::uint8_t* reacts;  // one per wall particle: it belongs to a body
  std::uint8_t* near;          // one per fluid particle: some neighbour is part of a free surface
  const std::uint8_t* ghosts;  // one per fluid particle: it needs no row; null if all of them do
};

// Each loop treats the queries of the cells from `begin` to `end`.
template <class T, int D>
struct Loops {
  using Loop = void (*)(const Job<T, D>&, std::size_t begin, std::size_t end, Scratch<T, D>&);
  Loop delta;        // schemes/delta.hpp; queries are fluid particles
  Loop plain_delta;  // the same without diffusion and shifting
  Loop edac;         // schemes/edac.hpp; the same
  Loop curvature;    // schemes/curvature.hpp; queries are fluid particles with a normal
  Loop extrapolate;  // schemes/extrapolate.hpp; queries are wall particles
  Loop react;        // schemes/react.hpp; queries are wall particles of bodies

  // schemes/dfsph.hpp; queries are fluid particles. Returns the cell for whose rows there is no room, or `end`.
  using Rows = std::size_t (*)(const Job<T, D>&, std::size_t begin, std::size_t end, Scratch<T, D>&, RowSink<T, D>&);
  Rows dfsph;
  // schemes/solver_sweep.hpp; of the n particles whose rows begin at `blocks`.
  using Sum = void (*)(const RowBlock<T, D>* blocks, const std::uint32_t* counts, std::size_t n, const T* values,
                       T* out);
  Sum gradient, divergence;
};

// Of one instruction set.
template <class T>
struct LoopTable {
  Loops<T, 2> in_2d;
  Loops<T, 3> in_3d;
};

extern const LoopTable<float> baseline_loops, avx2_loops, avx512_loops, neon_loops;
// Doubles are for studies of convergence: the compiler's own vectors do. Those of AVX2 and NEON are no faster than the
// baseline's.
extern const LoopTable<double> baseline_double_loops, avx512_double_loops;

// Of the instruction set in use.
template <class T, int D>
const Loops<T, D>& loops();

}  // namespace vicinal::sph
