#include "sph/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sph/schemes/sums.hpp"
#include "sph/schemes/update.hpp"

namespace vicinal::sph {

// Puts a particle back that has passed through a wall in a step, whose first half it has made already.
template <int D>
[[gnu::always_inline]] inline void hold(Guard& guard, const Vector<D>& first_half, double dt, Particle<D>& p) {
  Vec3 to{p.x[0], p.x[1], 0};
  if constexpr (D == 3) to.z = p.x[2];
  if (guard.is_clear(to)) return;
  Vec3 way{}, velocity{p.u[0], p.u[1], 0};
  const auto whole = [&](std::size_t a) { return first_half[a] + 0.5 * dt * (p.u[a] + p.shift[a]); };
  way = {whole(0), whole(1), 0};
  if constexpr (D == 3) way.z = whole(2), velocity.z = p.u[2];
  const std::int32_t wall = guard.keep(to - way, to, velocity);
  if (wall < 0) return;
  guard.count(wall);
  p.x[0] = to.x, p.x[1] = to.y, p.u[0] = velocity.x, p.u[1] = velocity.y;
  if constexpr (D == 3) p.x[2] = to.z, p.u[2] = velocity.z;
}

// Two steps of half the length that is left take the place of one and a short rest: in a very short step, dfsph would
// remove what compression is left with large velocities.
template <class T, int D>
StepLength Simulation<T, D>::next() const {
  StepLength step = longest();
  const double left = end - time;
  if (left < 2 * step.dt) step.dt = left > step.dt ? 0.5 * left : left;
  return step;
}

// The longest step that the present state allows.
template <class T, int D>
StepLength Simulation<T, D>::longest() const {
  const double h = settings.smoothing_length;
  const bool implicit = settings.scheme == Scheme::dfsph;
  StepLength best{h / (settings.fastest_sound() + largest.speed()), Limit::sound};
  if (implicit) {
    // Nothing waits for sound, but particles must not pass each other. Sound has ten times the speed that is expected
    // of the flow; a hundredth of the latter is the least that counts, because fluid at rest would have no limit.
    double speed = std::max(largest.speed(), 1e-3 * settings.fastest_sound());
    for (const WallParticle<D>& wall : walls.span()) speed = std::max(speed, length<D>(wall.u));
    best = {settings.spacing / speed, Limit::flow};
  }
  const auto limit = [&](double dt, Limit kind) {
    if (dt < best.dt) best = {dt, kind};
  };
  // Neighbours under pressure push a particle back that leaves its place between them: it oscillates.
  if (implicit && largest.pressure > 0) limit(h / std::sqrt(largest.pressure / settings.state.rest), Limit::pressure);
  if (const double a = implicit ? length<D>(settings.gravity) : largest.acceleration; a > 0)
    limit(std::sqrt((implicit ? settings.spacing : h) / a), Limit::force);
  // Friction along the line of centres is three times as large in a flow that is compressed.
  const double most = differ_in_viscosity(settings.phases) ? 3 : 1;
  if (const double nu = most * settings.largest_viscosity(); nu > 0) limit(0.5 * h * h / nu, Limit::viscosity);
  if (settings.tense()) {
    // Of capillary waves (Brackbill et al. 1992), on the lightest two phases.
    std::vector<double> rest;
    for (const Phase& phase : settings.phases) rest.push_back(phase.rest);
    std::sort(rest.begin(), rest.end());
    limit(std::sqrt((rest[0] + rest[1]) * h * h * h / (4 * std::numbers::pi * settings.tension)), Limit::tension);
  }
  if (largest.shift > 0) limit(settings.spacing / largest.shift, Limit::shifting);
  return {settings.courant * best.dt, best.limit};
}

// Position Verlet with one right-hand side: half a drift, rates at the middle of the step with velocities and densities
// taken there by the rates of the step before, kick, half a drift.
template <class T, int D>
bool Simulation<T, D>::step() {
  if (!primed) prime();
  const double dt = next().dt;
  sort(dt);
  curvature();
  extrapolate();
  if (settings.scheme == Scheme::dfsph) solve(dt);
  react();
  const bool sound = finish(dt);
  time = dt == end - time ? end : time + dt;
  ++steps;
  return sound;
}

template <class T, int D>
void Simulation<T, D>::prime() {
  // The first pass has neither gradients nor a free surface; the second one uses those of the first. Curvatures of
  // interfaces need gradients, and forces need curvatures. The solvers of dfsph need none of these.
  const bool implicit = settings.scheme == Scheme::dfsph;
  // The pressures of dfsph depend on the length of the step, and this on the speed.
  if (implicit)
    for (const Particle<D>& p : particles.span())
      largest.speeds[p.phase] = std::max(largest.speeds[p.phase], length<D>(p.u));
  agree_on_largest();
  const int passes = implicit ? 1 : settings.tense() ? 3 : 2;
  for (int pass = 0; pass < passes; ++pass) {
    sort(0);
    curvature();
    extrapolate();
    if (implicit) solve(longest().dt);  // when the run ends must not matter
    finish(0);
  }
  primed = true;
}

template <class T, int D>
void Simulation<T, D>::prepare_job(const ParticleGrid<D>& grid) {
  const double h = settings.smoothing_length, c = settings.state.sound, reach = settings.reach();
  Job<T, D>& job = job_;
  for (std::size_t a = 0; a < D; ++a) {
    job.shape.count[a] = grid.count[a];
    job.shape.periodic[a] = grid.periodic[a];
    job.shape.size[a] = static_cast<T>(grid.size[a]);
  }
  cells_ = grid.cells();
  job.fluid = {records_.data(), order_.offsets(), nullptr};
  job.walls = {wall_records_.data(), wall_order_.offsets(), nullptr};
  job.has_walls = walls.size() > 0;
  job.wall_copies = settings.phases.size();
  job.wall_count = walls.size();
  job.square = static_cast<T>(reach * reach);
  const double scale = with_smoothing(
      settings.smoothing, [&]<class Kind>() { return (D == 2 ? Kind::scale2 : Kind::scale3) / std::pow(h, D); });
  job.smoothing = {settings.smoothing, static_cast<T>(1 / h), static_cast<T>(scale), static_cast<T>(scale / (h * h))};
  job.mass = static_cast<T>(settings.state.rest * settings.volume());
  job.mass_slope = job.mass * job.smoothing.slope;
  job.rest_density = static_cast<T>(settings.state.rest);
  job.volume = static_cast<T>(settings.volume() / kernel_volume_);
  job.floor = static_cast<T>(0.01 * h * h);
  job.diffusion = static_cast<T>(settings.diffusion * h * c);
  job.viscosity = static_cast<T>(settings.viscosity_kind == ViscosityKind::laminar ? settings.viscosity
                                                                                   : settings.viscosity * h * c);
  job.per_closest = static_cast<T>(1 / settings.kernel(settings.spacing));
  if (settings.scheme == Scheme::edac)
    job.phases = table_of<T>(settings.phases, settings.volume(), settings.diffusion * h);
  else {
    job.phases.count = 0;
    job.per_closest = static_cast<T>(scale / settings.kernel(settings.spacing));
  }
  for (std::size_t a = 0; a < D; ++a) job.gravity[a] = static_cast<T>(settings.gravity[a]);
  job.conserves = settings.background > 0;
  job.tensile_control = settings.tensile_control;
  job.viscosity_kind = settings.viscosity_kind;
  job.shifts = shifts_.data();
  near_.reset(items_.size());
  job.near = near_.data();
  job.reacts = reacts_.data();

  const std::size_t capacity =
      (D == 2 ? 9 : 27) * std::max(order_.largest(), wall_order_.largest()) + 2 * lane_count<T>;
  memory_.resize(static_cast<std::size_t>(std::max(1, thread_count())));
  for (Memory& memory : memory_) {
    memory.records.reset(capacity);
    for (Buffer<T>& column : memory.positions) column.reset(capacity);
    memory.found.reset(capacity);
  }
}

template <class T, int D>
Scratch<T, D> Simulation<T, D>::scratch_of(std::size_t thread) {
  Memory& memory = memory_[thread];
  Scratch<T, D> scratch{};
  scratch.records = memory.records.data();
  for (std::size_t a = 0; a < D; ++a) scratch.positions[a] = memory.positions[a].data();
  scratch.found = memory.found.data();
  return scratch;
}

template <class T, int D>
void Simulation<T, D>::each_cell(typename Loops<T, D>::Loop loop, std::size_t particles) {
  each_part(cells_, particles, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    Scratch<T, D> scratch = scratch_of(thread);
    loop(job_, begin, end, scratch);
  });
}

// Gives wall particles the pressure, density and velocity that the fluid at the wall implies, one for each phase.
template <class T, int D>
void Simulation<T, D>::extrapolate() {
  const std::size_t n = walls.size(), copies = job_.wall_copies;
  if (n == 0) return;
  wall_sums_.reset(copies * n);
  job_.sums = wall_sums_.data();
  using At = WallSums<D>;
  using Fields = Record<T, D>;
  const auto take = [&](std::size_t first, std::size_t last) {
    for (std::size_t slot = first; slot < last; ++slot) {
      bool wet = false;
      for (std::size_t k = 0; k < copies; ++k) wet |= wall_sums_[k * n + slot].c[At::weight] > 0;
      if (!wet && wet_[slot] == 0) continue;  // nothing has changed
      wet_[slot] = wet ? 1 : 0;
      WallParticle<D>& wall = walls[wall_ids_[slot]];
      wall.pressure = 0;
      double total = 0;
      for (std::size_t k = 0; k < copies; ++k) {
        const T* const sums = wall_sums_[k * n + slot].c;
        WallView<D> view = view_of<D>(wall, sums, settings.gravity);
        if (settings.scheme == Scheme::dfsph) view.pressure = std::max(view.pressure, 0.0);
        // That of the wall itself is the mean of what phases see.
        if (const double weight = sums[At::weight]; weight > 0) {
          total += weight;
          wall.pressure += (view.pressure - wall.pressure) * (weight / total);
        }
        Fields& record = wall_records_[k * n + slot];
        record.c[Fields::density] =
            static_cast<T>(settings.scheme == Scheme::delta ? settings.state.excess(view.pressure) : settings.volume());
        record.c[Fields::pressure] = static_cast<T>(view.pressure);
        for (std::size_t a = 0; a < D; ++a) record.c[Fields::extra + a] = static_cast<T>(view.velocity[a]);
      }
    }
  };
  each_part(cells_, n, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    Scratch<T, D> scratch = scratch_of(thread);
    loops<T, D>().extrapolate(job_, begin, end, scratch);
    // Idle cells have no sums, and wait until fluid of this rank comes near.
    for (std::size_t c = begin; c < end; ++c)
      if (job_.walls.idle == nullptr || job_.walls.idle[c] == 0) take(job_.walls.offsets[c], job_.walls.offsets[c + 1]);
  });
}

// Sums the curvature of interfaces, whose normals are those of the step before.
template <class T, int D>
void Simulation<T, D>::curvature() {
  if (!settings.tense()) return;
  const std::size_t n = items_.size(), phases = settings.phases.size();
  // Normals of particles that hardly see another phase are noise (Morris, Int. J. Numer. Meth. Fluids 33 (2000) 333).
  std::vector<double> least(phases, 1);
  for (std::size_t k = 0; k < phases; ++k) {
    for (const Phase& other : settings.phases)
      least[k] = std::min(least[k], settings.phases[k].rest / (settings.phases[k].rest + other.rest));
    least[k] *= 0.01 / (settings.smoothing_length * settings.phases[k].rest);
  }
  normals_.reset(n + at_once<D>);
  curvature_sums_.reset(n);
  each_block(n, [&](std::size_t begin, std::size_t end, std::size_t) {
    using Fields = Record<T, D>;
    for (std::size_t k = begin; k < end; ++k) {
      const Particle<D>& p = seen(k);
      Fields record{};
      for (std::size_t a = 0; a < D; ++a) record.c[a] = records_[k].c[a];
      if (const double size = length<D>(p.gradient); size > least[p.phase])
        for (std::size_t a = 0; a < D; ++a) record.c[Fields::u + a] = static_cast<T>(p.gradient[a] / size);
      record.c[Fields::density] = static_cast<T>(p.volume);
      record.c[Fields::pressure] = static_cast<T>(p.phase);
      record.c[Fields::extra] = static_cast<T>(p.curvature);
      normals_[k] = record;
    }
  });
  job_.fluid.records = normals_.data();
  job_.sums = curvature_sums_.data();
  each_cell(loops<T, D>().curvature, n);
  job_.fluid.records = records_.data();
}

// Takes the curvature of the interface in front of a particle, and returns the acceleration by surface tension. Radii
// below half of the reach are not resolved: they are noise of particles that see little of the interface.
template <class T, int D>
Vector<D> Simulation<T, D>::tension_on(std::size_t slot, Particle<D>& p) const {
  if (!settings.tense()) return {};
  using At = CurvatureSums<D>;
  const T* const found = curvature_sums_[slot].c;
  const double moment = found[At::moment], most = 2 * (D - 1) / settings.reach();
  p.curvature = moment < 0 ? std::clamp((D - 1) * found[At::bend] / moment, -most, most) : 0.0;
  const double per_mass = settings.tension / (settings.phases[p.phase].rest * settings.volume());
  Vector<D> acceleration;
  for (std::size_t a = 0; a < D; ++a) acceleration[a] = -per_mass * found[At::jump + a];
  return acceleration;
}

// Finds pressures and accelerations of dfsph.
template <class T, int D>
void Simulation<T, D>::solve(double dt) {
  const std::size_t n = items_.size(), grain = cells_of_part(cells_);
  sums_.reset(n);
  job_.sums = sums_.data();
  if (share) {
    is_ghost_.resize(n);
    for (std::size_t slot = 0; slot < n; ++slot) is_ghost_[slot] = items_[slot] < particles.size() ? 0 : 1;
    job_.ghosts = is_ghost_.data();
    share->link(
        n, [&](std::size_t slot) -> const Particle<D>& { return seen(slot); },
        [&](std::size_t slot) { return is_ghost_[slot] == 0; });
  }
  solver.begin((cells_ + grain - 1) / grain, n);
  each_part(cells_, n, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    Scratch<T, D> scratch = scratch_of(thread);
    solver.gather(begin / grain, job_, begin, end, scratch);
  });
  solver.solve(settings, particles, items_, sums_, dt, share ? total : n, share ? &*share : nullptr);
}

// Finds the loads of the fluid on bodies: minus the momentum that their wall particles give to the fluid.
template <class T, int D>
void Simulation<T, D>::react() {
  const std::size_t parts = bodies.parts.size(), fixed = fixed_walls();
  if (parts == 0) return;
  wall_sums_.reset(walls.size());
  job_.sums = wall_sums_.data();
  each_cell(loops<T, D>().react, parts);
  body_forces_.resize(parts);
  each_block(walls.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t slot = begin; slot < end; ++slot)
      if (reacts_[slot] != 0)
        for (std::size_t a = 0; a < D; ++a)
          body_forces_[wall_ids_[slot] - fixed][a] =
              -settings.state.rest * settings.volume() * wall_sums_[slot].c[ReactSums<D>::acceleration + a];
  });
  if (share) {
    // The force on a wall particle is known to the rank in whose part it is; others say what any force exceeds.
    Vector<D> unknown;
    unknown.fill(-std::numeric_limits<double>::infinity());
    for (std::size_t k = 0; k < parts; ++k)
      if (!share->owns(walls[fixed + k].x)) body_forces_[k] = unknown;
    agree(std::span(body_forces_.data()->data(), parts * D));
  }
  bodies.add_up<D>(body_forces_);
}

// Takes rates, gradients and shifting of a particle from its sums or from the solver, then kicks and drifts it.
template <class T, int D>
void Simulation<T, D>::advance(Particle<D>& p, std::size_t slot, const Shifting& shifting, double dt) {
  Vector<D> first_half;  // of the way in this step
  for (std::size_t a = 0; a < D; ++a) first_half[a] = 0.5 * dt * (p.u[a] + p.shift[a]);
  if (settings.scheme == Scheme::delta)
    update_delta<D>(p, sums_[slot].c, settings.gravity, settings.evens(), shifting, near_[slot] != 0);
  else if (settings.scheme == Scheme::dfsph) solver.update(slot, settings.state.rest, p);
  else {
    const Phase& phase = settings.phases[p.phase];
    const double pressure = records_[slot].c[Record<T, D>::pressure];
    update_edac<D>(p, sums_[slot].c, settings.gravity, shifting, tension_on(slot, p), kernel_volume_, phase.rest,
                   Background{settings, phase, pressure});
  }
  for (std::size_t a = 0; a < D; ++a) {
    p.u[a] += dt * p.acceleration[a];
    p.x[a] += 0.5 * dt * (p.u[a] + p.shift[a]);
  }
  if (guard != nullptr && dt > 0) hold<D>(*guard, first_half, dt, p);
  p.excess += dt * p.rate;
  settings.space.wrap(p.x);
}

// Sums over neighbours, takes rates, gradients and shifting from the sums, then kicks and drifts. Particles of some
// cells at a time: their sums are still in the cache. Records, which neighbours in other cells need, stay as they are.
template <class T, int D>
bool Simulation<T, D>::finish(double dt) {
  std::array<Shifting, most_phases> shifting{};
  for (std::size_t k = 0; k < settings.phases.size(); ++k)
    shifting[k] = {4 * settings.smoothing_length * largest.speeds[k] * settings.shifting, 0.5 * largest.speeds[k]};
  const bool implicit = settings.scheme == Scheme::dfsph;  // it has its sums already
  const Loops<T, D>& kinds = loops<T, D>();
  const auto loop = settings.scheme == Scheme::edac ? kinds.edac : settings.evens() ? kinds.delta : kinds.plain_delta;
  if (!implicit) {
    sums_.reset(items_.size());
    job_.sums = sums_.data();
  }
  std::vector<Finished> parts(memory_.size());  // one per thread
  each_part(cells_, particles.size(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
    Scratch<T, D> scratch = scratch_of(thread);
    if (!implicit) loop(job_, begin, end, scratch);
    Finished part = parts[thread];
    for (std::size_t slot = job_.fluid.offsets[begin]; slot < job_.fluid.offsets[end]; ++slot) {
      if (items_[slot] >= particles.size()) continue;
      Particle<D>& p = particles[items_[slot]];
      advance(p, slot, shifting[p.phase], dt);
      const Phase& phase = settings.phases[p.phase];
      const double fast = square<D>(p.u), pushed = square<D>(p.acceleration);
      double& fastest = part.squares.speeds[p.phase];
      fastest = std::max(fastest, fast);
      part.squares.acceleration = std::max(part.squares.acceleration, pushed);
      part.squares.shift = std::max(part.squares.shift, square<D>(p.shift));
      if (implicit) part.squares.pressure = std::max(part.squares.pressure, pressure(p));
      // Also false for what is not a number.
      const bool sound = fast < phase.sound * phase.sound && pushed < 1e300 && std::abs(p.excess) < 0.5 * phase.rest;
      if (!sound) part.blamed = std::min(part.blamed, p.id);
    }
    parts[thread] = part;
  });
  Finished all;
  for (const Finished& part : parts) {
    all.squares.add(part.squares);
    all.blamed = std::min(all.blamed, part.blamed);
  }
  broken = all.blamed;
  largest = {std::sqrt(all.squares.acceleration), std::sqrt(all.squares.shift), all.squares.pressure, {}};
  for (std::size_t k = 0; k < most_phases; ++k) largest.speeds[k] = std::sqrt(all.squares.speeds[k]);
  agree_on_largest();
  ghosts.reset(0);
  return broken == Finished::none;
}

// Takes the largest values of all ranks, and the smallest id of what is to blame.
template <class T, int D>
void Simulation<T, D>::agree_on_largest() {
  if (!share) return;
  std::array<double, 4 + most_phases> numbers{-static_cast<double>(broken), largest.acceleration, largest.shift,
                                              largest.pressure};
  std::copy(largest.speeds.begin(), largest.speeds.end(), numbers.begin() + 4);
  agree(numbers);
  broken = static_cast<std::uint32_t>(-numbers[0]);
  largest.acceleration = numbers[1], largest.shift = numbers[2], largest.pressure = numbers[3];
  std::copy(numbers.begin() + 4, numbers.end(), largest.speeds.begin());
}

template class Simulation<float, 2>;
template class Simulation<float, 3>;
template class Simulation<double, 2>;
template class Simulation<double, 3>;

}  // namespace vicinal::sph
