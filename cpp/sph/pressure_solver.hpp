// The two solvers of DFSPH (Bender & Koschier, IEEE Trans. Vis. Comput. Graph. 23 (2017) 1193): pressures that end
// compression by the velocities at the beginning of a step, and pressures that keep densities at its end.
//
// Both are accelerated Jacobi iterations for pressures of at least 0 that start from those of the step before. An
// iteration is two sweeps over the rows of the step (schemes/solver_sweep.hpp): accelerations by the pressures, and
// their divergences. Ranks that share a fluid forward pressures and accelerations to ghosts before each sweep. Errors
// are exact sums, so that the number of iterations does not depend on how particles are divided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/memory.hpp"
#include "pairs/exact_sum.hpp"
#include "sph/loops.hpp"
#include "sph/particles.hpp"
#include "sph/settings.hpp"
#include "sph/share.hpp"

namespace vicinal::sph {

// How a solver ended.
struct Solved {
  std::int64_t iterations = 0;
  double error = 0;  // mean compression that is left, as a part of the density
};

// Solvers that gave up.
struct Unsolved {
  std::int64_t count = 0;
  double error = 0;  // the largest one that was left
};

template <class T, int D>
class PressureSolver {
 public:
  Solved density, divergence;  // of the last step
  Unsolved unsolved;           // in all steps

  // Makes room for the rows of a step, which are those of parts of the cells.
  void begin(std::size_t parts, std::size_t particles);
  // Gathers the rows and sums of a part.
  void gather(std::size_t part, const Job<T, D>& job, std::size_t begin, std::size_t end, Scratch<T, D>& scratch);
  // Finds pressures and accelerations for a step of the length dt. `items` are the particles in each slot; numbers
  // beyond the last particle are ghosts, which other ranks solve for. `total` is the number of particles of all ranks,
  // and `share` null if there is one.
  void solve(const FluidSettings<D>& settings, const Buffer<Particle<D>>& particles, const Buffer<std::uint32_t>& items,
             const Buffer<Sums<T>>& sums, double dt, std::size_t total, Share<D>* share);
  // What a particle takes from it.
  void update(std::size_t slot, double rest, Particle<D>& p) const;

 private:
  struct Part {
    RowBlock<T, D>* blocks = nullptr;
    std::size_t capacity = 0, used = 0;
    Buffer<RowBlock<T, D>> own;       // its rows if they have outgrown their place among those of all parts
    std::size_t first = 0, last = 0;  // slots of its particles
    ExactSum error;
  };
  // A particle. Pressures are divided by the density at rest.
  struct Node {
    T other[D];      // acceleration by everything else
    T pull[D];       // Σ ∇W V, walls counted twice, because they mirror the own pressure and velocity
    T excess;        // of the density, as a part of that at rest
    T rate;          // of the density, the same
    T factor;        // by which an acceleration of the density changes the pressure in an iteration
    T found, trial;  // the last pressure of the present solver, and the one it tries next
    T fixed;         // a pressure that acts besides
    T correction;    // found by the solver for divergence
    bool covered;    // has enough neighbours for a divergence
  };

  template <class F>
  void each_part(F&& f);
  void reserve(Part& part, std::size_t blocks);
  double mean_error();
  template <class Left>
  Solved iterate(double tolerance, std::int64_t least, double gain, double weight, bool others, Left&& left);

  double lattice_ = 0;  // sum of the kernel; 0 before the first step
  T stiffness_ = 1;
  double total_ = 1;  // particles
  Share<D>* share_ = nullptr;
  std::vector<Part> parts_;
  Buffer<RowBlock<T, D>> blocks_;  // of all parts
  bool backwards_ = false;
  Buffer<std::uint32_t> counts_;
  Buffer<Node> nodes_;
  // Four numbers per particle, of which sweeps use the first one or D.
  Buffer<T> pressures_, accelerations_;
  Buffer<T> gradients_, divergences_;  // results of sweeps
  Buffer<double> errors_;
};

}  // namespace vicinal::sph
