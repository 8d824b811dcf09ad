// A fluid and its walls, and their steps of time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "exec/memory.hpp"
#include "sph/bodies.hpp"
#include "sph/guard.hpp"
#include "sph/loops.hpp"
#include "sph/particles.hpp"
#include "sph/pressure_solver.hpp"
#include "sph/schemes/update.hpp"
#include "sph/settings.hpp"
#include "sph/share.hpp"
#include "sph/walls.hpp"

namespace vicinal::sph {

// What limits a step of time.
enum class Limit : std::uint8_t { sound, force, viscosity, shifting, tension, flow, pressure };

// The largest values of a step; the next one's length follows from them.
struct Largest {
  double acceleration = 0, shift = 0;
  double pressure = 0;                       // with dfsph
  std::array<double, most_phases> speeds{};  // by phase: a gas may be much faster than a liquid beside it
  [[nodiscard]] double speed() const { return *std::max_element(speeds.begin(), speeds.end()); }
  void add(const Largest& other) {
    acceleration = std::max(acceleration, other.acceleration);
    shift = std::max(shift, other.shift);
    pressure = std::max(pressure, other.pressure);
    for (std::size_t k = 0; k < most_phases; ++k) speeds[k] = std::max(speeds[k], other.speeds[k]);
  }
};

// What a thread has seen of particles at the end of a step.
struct Finished {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  Largest squares;              // of the largest values, but the pressure itself
  std::uint32_t blamed = none;  // the smallest id of a particle that is not sound
};

struct StepLength {
  double dt;
  Limit limit;
};

template <class T, int D>
class Simulation {
 public:
  explicit Simulation(const FluidSettings<D>& settings)
      : settings(settings), kernel_volume_(settings.volume() * settings.lattice_sum()) {}

  FluidSettings<D> settings;
  Buffer<Particle<D>> particles;
  Buffer<Particle<D>> ghosts;     // of other ranks, in this step
  Buffer<WallParticle<D>> walls;  // the last ones are those of bodies
  RigidBodies bodies;
  Guard* guard = nullptr;  // keeps particles on their side of walls, if there is one
  double time = 0;
  double end = std::numeric_limits<double>::infinity();  // a step that would pass it ends there
  std::int64_t steps = 0;
  Largest largest;
  bool walls_moved = true;  // since the last step
  bool primed = false;      // rates and largest values belong to the present state

  // On several ranks: what they share, the number of particles of all, and a function that replaces numbers by the
  // largest ones of all ranks. All ranks take a step together.
  std::optional<Share<D>> share;
  std::size_t total = 0;
  std::function<void(std::span<double>)> agree;

  // Takes a step. Returns whether the state is still sound; if not, `broken` is the id of the particle to blame.
  bool step();
  // Evaluates the rates of the present state.
  void prime();
  // The length of the next step.
  [[nodiscard]] StepLength next() const;
  [[nodiscard]] double pressure(const Particle<D>& p) const {
    return settings.scheme == Scheme::dfsph ? p.pressure + p.correction : settings.pressure(p.excess, p.phase);
  }
  [[nodiscard]] std::size_t fixed_walls() const { return walls.size() - bodies.parts.size(); }
  // Moves bodies to their poses; the next step has them there at its middle.
  void place_bodies() {
    bodies.place<D>(walls.span().subspan(fixed_walls()), settings.space);
    walls_moved = true;
  }
  std::uint32_t broken = 0;
  PressureSolver<T, D> solver;  // of dfsph

 private:
  [[nodiscard]] StepLength longest() const;
  void agree_on_largest();
  void sort(double dt);
  ParticleBounds<D> drift(double dt);
  ParticleBounds<D> agreed(const ParticleBounds<D>& own) const;
  void order(const ParticleGrid<D>& grid);
  void rearrange();
  void write_records(const ParticleGrid<D>& grid, double dt);
  void find_idle(const ParticleGrid<D>& grid);
  // The slot of a particle is its place in the order of cells; ghosts lie between own particles.
  [[nodiscard]] const Particle<D>& seen(std::size_t slot) const {
    const std::uint32_t item = items_[slot];
    return item < particles.size() ? particles[item] : ghosts[item - particles.size()];
  }
  void sort_walls(const ParticleGrid<D>& grid);
  void extrapolate();
  void curvature();
  [[nodiscard]] Vector<D> tension_on(std::size_t slot, Particle<D>& p) const;
  void solve(double dt);
  void react();
  void advance(Particle<D>& p, std::size_t slot, const Shifting& shifting, double dt);
  bool finish(double dt);
  void prepare_job(const ParticleGrid<D>& grid);
  Scratch<T, D> scratch_of(std::size_t thread);
  void each_cell(typename Loops<T, D>::Loop loop, std::size_t particles);

  double kernel_volume_;  // of a particle on a lattice, times the sum of the kernel there
  Buffer<Particle<D>> sorted_;
  Buffer<std::uint32_t> ids_;
  Buffer<std::uint64_t> named_;                  // id and item in each slot
  Buffer<std::uint32_t> items_;                  // the item in each slot: an own particle, or a ghost behind those
  std::vector<std::uint8_t> idle_, idle_walls_;  // see CellRecords
  std::vector<std::uint8_t> is_ghost_;           // by slot
  CellSort order_, wall_order_;
  std::optional<ParticleGrid<D>> grid_;       // of the last step
  std::optional<ParticleGrid<D>> wall_grid_;  // for which walls are sorted
  ParticleBounds<D> wall_bounds_;
  std::size_t sorts_ = 0;
  Buffer<Record<T, D>> records_, wall_records_;
  Buffer<T> shifts_;
  Buffer<Sums<T>> sums_, wall_sums_, curvature_sums_;
  Buffer<Record<T, D>> normals_;  // records of schemes/curvature.hpp
  Buffer<std::uint8_t> near_;
  std::vector<std::uint32_t> wall_ids_;  // in the order of cells
  std::vector<std::uint8_t> reacts_;     // in the order of cells
  std::vector<std::uint8_t> wet_;        // the same: fluid was near in the last step
  std::vector<Vector<D>> body_forces_;   // one per wall particle of a body
  Job<T, D> job_{};
  std::size_t cells_ = 0;
  struct Memory {
    Buffer<Record<T, D>> records;
    std::array<Buffer<T>, D> positions;
    Buffer<std::uint32_t> found;
  };
  std::vector<Memory> memory_;
};

}  // namespace vicinal::sph
