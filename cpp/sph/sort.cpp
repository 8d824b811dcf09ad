// The first half of a step: particles drift, ranks exchange them, and they and the walls are sorted into cells.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sph/simulation.hpp"

namespace vicinal::sph {

// Moves own particles by half a step and finds their cells in the grid of the step before, which mostly is that of this
// step. Returns their bounds. Ranks find cells after they have exchanged particles.
template <class T, int D>
ParticleBounds<D> Simulation<T, D>::drift(double dt) {
  const std::size_t n = particles.size();
  ids_.reset(n);
  std::uint32_t* const keys = order_.keys(n);
  std::vector<ParticleBounds<D>> bounds((n + block_size - 1) / block_size);
  each_block(n, [&](std::size_t begin, std::size_t end, std::size_t block) {
    const ParticleGrid<D>* const grid = grid_ && !share ? &*grid_ : nullptr;
    ParticleBounds<D> own;
    for (std::size_t k = begin; k < end; ++k) {
      Particle<D>& p = particles[k];
      for (std::size_t a = 0; a < D; ++a) p.x[a] += 0.5 * dt * (p.u[a] + p.shift[a]);
      settings.space.wrap(p.x);
      own.add(p.x);
      if (grid != nullptr) keys[k] = grid->number(grid->cell_of(p.x));
      ids_[k] = p.id;
    }
    bounds[block] = own;
  });
  ParticleBounds<D> all;
  for (const ParticleBounds<D>& part : bounds) all.add(part);
  return all;
}

// The bounds of all ranks.
template <class T, int D>
ParticleBounds<D> Simulation<T, D>::agreed(const ParticleBounds<D>& own) const {
  if (!share) return own;
  std::array<double, 2 * D> ends;
  for (std::size_t a = 0; a < D; ++a) ends[a] = -own.low[a], ends[D + a] = own.high[a];
  agree(ends);
  ParticleBounds<D> all;
  for (std::size_t a = 0; a < D; ++a) all.low[a] = -ends[a], all.high[a] = ends[D + a];
  return all;
}

// Finds the slot of every particle, by cell and then by id: sums over neighbours have an order that depends neither on
// the steps before nor on ranks.
template <class T, int D>
void Simulation<T, D>::order(const ParticleGrid<D>& grid) {
  const std::size_t n = particles.size(), all = n + ghosts.size();
  if (share || grid_ != grid) {
    std::uint32_t* const keys = order_.keys(all);
    ids_.reset(all);
    each_block(all, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t k = begin; k < end; ++k) {
        const Particle<D>& p = k < n ? particles[k] : ghosts[k - n];
        keys[k] = grid.number(grid.cell_of(p.x));
        ids_[k] = p.id;
      }
    });
  }
  grid_ = grid;
  order_.sort(grid.cells());
  named_.reset(all);
  items_.reset(all);
  for (std::size_t k = 0; k < all; ++k) named_[order_.place(k)] = (std::uint64_t{ids_[k]} << 32) | k;
  const std::uint32_t* const offsets = order_.offsets();
  each_part(grid.cells(), all, [&](std::size_t begin, std::size_t end, std::size_t) {
    if (offsets[begin] == offsets[end]) return;
    for (std::size_t c = begin; c < end; ++c) {
      // By insertion: cells are small, and nearly in order since the last step.
      for (std::size_t k = offsets[c]; k < offsets[c + 1]; ++k) {
        const std::uint64_t one = named_[k];
        std::size_t to = k;
        for (; to > offsets[c] && named_[to - 1] > one; --to) named_[to] = named_[to - 1];
        named_[to] = one;
      }
      for (std::size_t k = offsets[c]; k < offsets[c + 1]; ++k) items_[k] = static_cast<std::uint32_t>(named_[k]);
    }
  });
}

// Puts particles that are near each other in space near each other in memory. In between, `items_` says where they are.
template <class T, int D>
void Simulation<T, D>::rearrange() {
  const std::size_t n = particles.size();
  sorted_.reset(n);
  std::uint32_t own = 0;
  for (std::uint32_t& item : items_.span()) {
    if (item >= n) continue;
    sorted_[own] = particles[item];
    item = own++;
  }
  std::swap(particles, sorted_);
}

// Moves particles by half a step, sorts them into cells and writes their records at the middle of the step.
template <class T, int D>
void Simulation<T, D>::sort(double dt) {
  ParticleBounds<D> bounds = drift(dt);
  if (share) {
    if (walls_moved || !share->has_seen_walls()) share->see_walls(walls.span());
    share->exchange(particles, ghosts);
  }
  const std::size_t n = particles.size(), all = n + ghosts.size();
  if (walls_moved) {
    wall_bounds_ = {};
    for (const WallParticle<D>& wall : walls.span()) wall_bounds_.add(wall.x);
  }
  bounds.add(wall_bounds_);
  if (share) {
    for (const Particle<D>& p : particles.span()) bounds.add(p.x);
    for (const Particle<D>& p : ghosts.span()) bounds.add(p.x);
  }
  if (all + walls.size() == 0) bounds.add(Vector<D>{});  // a grid needs a place even where there is no fluid
  const ParticleGrid<D> grid(settings.space, bounds, agreed(bounds), settings.reach(),
                             std::max<std::size_t>(std::size_t{1} << 16, 8 * ((share ? total : n) + walls.size())));
  order(grid);
  if (sorts_++ % 32 == 0) rearrange();  // a particle needs more steps than that for a cell
  write_records(grid, dt);
  sort_walls(grid);
  prepare_job(grid);
  if (share) find_idle(grid);
}

template <class T, int D>
void Simulation<T, D>::write_records(const ParticleGrid<D>& grid, double dt) {
  const std::size_t all = items_.size();
  records_.reset(all + at_once<D>);
  shifts_.reset(all * D);
  const bool delta = settings.scheme == Scheme::delta, implicit = settings.scheme == Scheme::dfsph;
  // The solvers of dfsph begin with the velocities that there are.
  const double ahead = implicit ? 0 : 0.5 * dt;
  using Fields = Record<T, D>;
  const std::uint32_t* const offsets = order_.offsets();
  each_part(grid.cells(), all, [&](std::size_t begin, std::size_t end, std::size_t) {
    if (offsets[begin] == offsets[end]) return;
    for (std::size_t c = begin; c < end; ++c) {
      if (offsets[c] == offsets[c + 1]) continue;
      const auto cell = grid.cell_at(c);
      Vector<D> corner;
      for (std::size_t a = 0; a < D; ++a) corner[a] = grid.corner(cell, a);
      for (std::size_t slot = offsets[c]; slot < offsets[c + 1]; ++slot) {
        const Particle<D>& p = seen(slot);
        Fields record{};
        for (std::size_t a = 0; a < D; ++a) {
          record.c[Fields::x + a] = static_cast<T>(p.x[a] - corner[a]);
          record.c[Fields::u + a] = static_cast<T>(p.u[a] + ahead * p.acceleration[a]);
          if (delta) record.c[Fields::extra + a] = static_cast<T>(0.5 * p.gradient[a]);
          shifts_[slot * D + a] = static_cast<T>(p.shift[a]);
        }
        const double excess = p.excess + 0.5 * dt * p.rate;
        const T pressure = static_cast<T>(settings.pressure(excess, p.phase));
        if (delta) {
          record.c[Fields::density] = static_cast<T>(excess);
          record.c[Fields::pressure] = marked(pressure, p.surface != 0);
        } else if (implicit) {
          record.c[Fields::pressure] = static_cast<T>(this->pressure(p));
          record.c[Fields::place] = std::bit_cast<T>(static_cast<Bits<T>>(4 * slot));
        } else {
          record.c[Fields::density] = static_cast<T>(p.volume);
          record.c[Fields::pressure] = pressure;
          record.c[Fields::extra] = static_cast<T>(p.phase);
          record.c[Fields::extra + 1] = static_cast<T>(p.per_moment);
        }
        records_[slot] = record;
      }
    }
  });
}

// Rates are needed of own particles only, and pressures of wall particles in the own part or near own particles.
template <class T, int D>
void Simulation<T, D>::find_idle(const ParticleGrid<D>& grid) {
  const std::size_t cells = grid.cells();
  idle_.assign(cells, 1);
  idle_walls_.assign(cells, 0);
  const std::uint32_t *const offsets = order_.offsets(), *const walls_from = wall_order_.offsets();
  Vector<D> half;
  for (std::size_t a = 0; a < D; ++a) half[a] = 0.5 * grid.size[a];
  typename ParticleGrid<D>::Cell cell{};
  for (std::size_t c = 0; c < cells; ++c) {
    for (std::size_t slot = offsets[c]; slot < offsets[c + 1] && idle_[c] != 0; ++slot)
      if (items_[slot] < particles.size()) idle_[c] = 0;
    if (walls_from[c] != walls_from[c + 1]) {
      Vector<D> middle;
      for (std::size_t a = 0; a < D; ++a) middle[a] = grid.corner(cell, a) + half[a];
      idle_walls_[c] = share->reaches(middle, half, settings.reach()) ? 0 : 1;
    }
    for (std::size_t a = 0; a < D && ++cell[a] == grid.count[a]; ++a) cell[a] = 0;
  }
  job_.fluid.idle = idle_.data();
  job_.walls.idle = idle_walls_.data();
}

template <class T, int D>
void Simulation<T, D>::sort_walls(const ParticleGrid<D>& grid) {
  if (!walls_moved && wall_grid_ == grid) return;
  wall_grid_ = grid;
  walls_moved = false;
  const std::size_t n = walls.size();
  std::uint32_t* const keys = wall_order_.keys(n);
  for (std::size_t k = 0; k < n; ++k) keys[k] = grid.number(grid.cell_of(walls[k].x));
  wall_order_.sort(grid.cells());
  wall_ids_.resize(n);
  reacts_.resize(n);
  wet_.assign(n, 1);
  const std::size_t fixed = fixed_walls();
  const std::size_t copies = settings.phases.size();
  wall_records_.reset(copies * n + at_once<D>);
  using Fields = Record<T, D>;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t to = wall_order_.place(k);
    const WallParticle<D>& wall = walls[k];
    wall_ids_[to] = static_cast<std::uint32_t>(k);
    reacts_[to] = k < fixed ? 0 : 1;
    const auto cell = grid.cell_of(wall.x);
    Fields record{};
    for (std::size_t a = 0; a < D; ++a) {
      record.c[Fields::x + a] = static_cast<T>(wall.x[a] - grid.corner(cell, a));
      record.c[Fields::u + a] = static_cast<T>(wall.u[a]);
    }
    for (std::size_t copy = 0; copy < copies; ++copy) wall_records_[copy * n + to] = record;
  }
}

template void Simulation<float, 2>::sort(double dt);
template void Simulation<float, 3>::sort(double dt);
template void Simulation<double, 2>::sort(double dt);
template void Simulation<double, 3>::sort(double dt);

}  // namespace vicinal::sph
