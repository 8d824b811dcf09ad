// Forces of one step: the loop over blocks, and the contacts of spheres.
#include <algorithm>
#include <cmath>

#include "dem/contact.hpp"
#include "dem/forces.hpp"
#include "dem/kernels.hpp"
#include "dem/parallel.hpp"
#include "exec/prefetch.hpp"

namespace vicinal::dem {
namespace {

// Repeats the last contact (see SphereJob).
void pad(Number* column, std::size_t size) {
  for (std::size_t k = 0; size > 0 && k < spare_contacts; ++k) column[size + k] = column[size - 1];
}

// The data of so many bodies with their contacts stay in the last cache from step to step (32 MB hold 30 000 to 60 000
// spheres). Those of more are read from memory in every step.
constexpr std::size_t cached_rows = 50'000;

}  // namespace

void Forces::prepare() {
  const Assembly::Acting act = assembly_.acting();
  wakes_.assign(lists_.walls.size(), 0.0);
  blocks_ = assembly_.block_offsets();
  odometers_.assign(blocks_.size() - 1, 0.0);
  wall_odometers_.assign(blocks_.size() - 1, 0.0);
  wall_rows_.clear();
  plain_rows_.clear();
  wall_row_offsets_.clear();
  for (std::size_t block = 0; block + 1 < blocks_.size(); ++block) {
    wall_row_offsets_.push_back(wall_rows_.size());
    for (std::size_t row = blocks_[block]; row < blocks_[block + 1]; ++row) {
      if (lists_.walls.begin(row) == lists_.walls.end(row)) continue;
      bool plain = !assembly_.is_convex(row);
      for (std::size_t k = lists_.walls.begin(row); k < lists_.walls.end(row); ++k)
        plain = plain && assembly_.walls[assembly_.primitives[lists_.walls.indices()[k]].wall].kind != Wall::mesh;
      wall_rows_.push_back(static_cast<Number>(row));
      plain_rows_.push_back(plain ? 1 : 0);
    }
  }
  wall_row_offsets_.push_back(wall_rows_.size());
  row_wakes_.assign(wall_rows_.size(), 0.0);
  reads_ = remote_.set(lists_.pairs, blocks_);
  loads_.assign(act.size + remote_.slots(), Load{});
  block_coefficients_.assign(blocks_.size() - 1, no_number);
  touching_.reset(lists_.pairs.size(), block_coefficients_.size());
  pair_wakes_.assign(lists_.pairs.size() / SearchJob::group + block_coefficients_.size() + 1, 0.0);
  for (std::size_t block = 0; block < block_coefficients_.size(); ++block) {
    const std::size_t begin = lists_.pairs.begin(blocks_[block]), end = lists_.pairs.begin(blocks_[block + 1]);
    const auto which = [&](std::size_t k) {
      return assembly_.law.row(act.materials[lists_.pairs.owners()[k]], act.materials[lists_.pairs.indices()[k]]);
    };
    std::size_t k = begin;
    while (k < end && which(k) == which(begin)) ++k;
    if (k == end && begin < end) block_coefficients_[block] = which(begin);
  }
}

void Forces::wake_all() {
  for (auto* wakes : {&pair_wakes_, &wakes_, &row_wakes_}) std::fill(wakes->begin(), wakes->end(), 0.0);
}

void Forces::moved(Speed all, std::span<const Speed> blocks, double dt) {
  for (std::size_t block = 0; block < odometers_.size(); ++block) {
    double most = blocks.empty() ? all.most : blocks[block].most;
    wall_odometers_[block] += (most + assembly_.wall_speed) * dt;
    if (!blocks.empty())
      for (const Number read : reads_[block]) most = std::max(most, blocks[read].most);
    odometers_[block] += most * dt;
  }
}

void Forces::begin_step() {
  const std::size_t walls = assembly_.walls.size();
  wall_motions_.resize(walls);
  wall_planes_.resize(walls);
  mesh_poses_.resize(walls);
  for (std::size_t k = 0; k < walls; ++k) {
    Wall& wall = assembly_.walls[k];
    wall.pose();
    wall_motions_[k].velocity = wall.velocity;
    wall_motions_[k].spin = wall.spin;
    wall_motions_[k].middle = mesh_poses_[k].middle = wall.middle();
    wall_planes_[k].facing = wall.facing;
    wall_planes_[k].base = wall.base;
    mesh_poses_[k].turned = wall.turned;
    mesh_poses_[k].centre = wall.centre;
    mesh_poses_[k].faces = wall.kind == Wall::mesh ? assembly_.meshes[k].flats.data() : nullptr;
  }
  if (assembly_.any_convex) assembly_.pose_elements();
  wall_shares_.resize(blocks_.size() - 1);
}

void Forces::load_rows(std::size_t begin, std::size_t end) const {
  const auto load = [=](const auto* column) { read_ahead(column + begin, column + end); };
  const Assembly::Acting act = assembly_.acting();
  load(act.places);
  load(act.motions);
  load(loads_.data());
  if (assembly_.elements.used()) return;  // the rows of bodies are others, which are read later
  load(assembly_.bodies.orientations.data());
  load(assembly_.bodies.inertias.data());
  load(lists_.inverse_margins());
}

void Forces::block_forces(std::size_t block, double step) {
  const std::size_t begin = blocks_[block], end = blocks_[block + 1];
  if (blocks_.back() > cached_rows) load_rows(begin, end);
  find_contacts(begin, end, block);
  sphere_forces(block, step);
  if (assembly_.any_convex) shape_forces(block, step);
  wall_forces(block, step);
}

std::vector<ExactSum> Forces::wall_loads() const {
  std::vector<ExactSum> sums(6 * assembly_.walls.size());
  std::vector<std::vector<double>> columns(sums.size());  // of a block: numbers are added faster many at a time
  for (const WallShares& shares : wall_shares_) {
    for (std::size_t c = 0; c < shares.walls.size(); ++c) {
      const auto& [force, torque] = shares.loads[c];
      std::vector<double>* const of_wall = columns.data() + 6 * shares.walls[c];
      std::size_t k = 0;
      for (const double part : {force.x, force.y, force.z, torque.x, torque.y, torque.z}) of_wall[k++].push_back(part);
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
      sums[k].add(columns[k].data(), columns[k].size());
      columns[k].clear();
    }
  }
  return sums;
}

void Forces::sphere_forces(std::size_t block, double step) {
  static thread_local std::vector<Number> ended;
  const Assembly::Acting act = assembly_.acting();
  const TouchingPairs::Part pairs = touching_.spheres(block, first_entry(block));
  if (pairs.size == 0) return;
  SphereJob job;
  static_cast<ContactJob&>(job) = law_job(lists_.pairs, step);
  job.size = pairs.size;
  job.i = pairs.i;
  job.j = pairs.j;
  job.entry = pairs.entry;
  job.materials = act.materials;
  job.table_edge = assembly_.law.materials();
  job.uniform = uniform(block);
  job.period = assembly_.period;
  job.loads = loads_.data();
  job.targets = remote_.targets();
  if (ended.size() < job.size) ended.resize(job.size);
  job.ended = ended.data();
  kernels().sphere_contacts(job, assembly_.law.law());
  for (std::size_t k = 0; k < job.endings; ++k) end_contact(ended[k], block);
}

void Forces::end_contact(Number entry, std::size_t block) {
  lists_.pairs.forget(entry);
  pair_wake(entry, block) = 0;
  touching_.change(block, entry);
}

ContactJob Forces::law_job(ContactRows& rows, double step) const {
  const Assembly::Acting act = assembly_.acting();
  return {act.places, act.motions, assembly_.law.table(), assembly_.law.terms(), step, rows.springs(), rows.turnings()};
}

void Forces::find_contacts(std::size_t begin, std::size_t end, std::size_t block) {
  static thread_local std::vector<Number> found;
  SearchJob job;
  job.begin = lists_.pairs.begin(begin);
  job.end = lists_.pairs.begin(end);
  job.first = lists_.pairs.owners();
  job.second = lists_.pairs.indices();
  job.places = assembly_.acting().places;
  job.period = assembly_.period;
  job.active = lists_.pairs.active();
  job.odometer = odometers_[block];
  job.wakes = pair_wakes(block);
  if (found.size() < job.end - job.begin) found.resize(job.end - job.begin);
  job.found = found.data();
  kernels().search(job);
  if (assembly_.any_convex) {
    begin_contacts(std::span(found).first(job.count), block);
  } else if (job.count > 0) {
    for (std::size_t k = 0; k < job.count; ++k) lists_.pairs.active()[found[k]] = 1;
    touching_.change(block, found[0]);
  }
  if (touching_.stale[block] >= job.end) return;
  const TouchingPairs::Part to = touching_.spheres(block, job.begin);
  CollectJob all{job.begin, job.end, job.first, job.second, job.active, to.i, to.j, to.entry, 0};
  if (!assembly_.any_convex) {  // pairs before the first change remain
    all.begin = std::max(job.begin, touching_.stale[block]);
    all.found = static_cast<std::size_t>(
        std::lower_bound(to.entry, to.entry + to.size, static_cast<Number>(all.begin)) - to.entry);
  }
  kernels().collect(all);
  touching_.sizes[block] = {all.found, 0, 0};
  if (assembly_.any_convex) sort_contacts({all.found, to.i, to.j, to.entry}, block);
  for (const auto& part : {touching_.spheres(block, job.begin), touching_.curved(block, job.begin)})
    for (Number* column : {part.i, part.j, part.entry}) pad(column, part.size);
  touching_.stale[block] = job.end;
}

void Forces::sum_elements(std::size_t begin, std::size_t end, Load* sums) {
  const Elements& elements = assembly_.elements;
  const std::size_t* const offsets = elements.offsets.data() + begin;
  gather(offsets[0], offsets[end - begin]);
  kernels().sum_elements(
      {end - begin, offsets, offsets[0], offsets[end - begin], elements.levers.data(), loads_.data(), sums});
  clear(offsets[0], offsets[end - begin]);
}

}  // namespace vicinal::dem
