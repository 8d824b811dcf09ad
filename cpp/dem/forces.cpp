// Forces of one step: the loop over blocks, and the contacts of spheres.
#include <algorithm>
#include <cmath>

#include "dem/contact.hpp"
#include "dem/forces.hpp"
#include "dem/kernels.hpp"
#include "dem/parallel.hpp"

namespace vicinal::dem {
namespace {

// Contacts in the block that a thread processes.
struct TouchingPairs {
  std::vector<Number> i, j, entry, ended;
  void make_room(std::size_t entries) {
    constexpr std::size_t registers = 8;  // loops store whole registers, so they may write past the last entry
    if (i.size() >= entries + registers) return;
    for (auto* column : {&i, &j, &entry, &ended}) column->resize(entries + registers);
  }
};
thread_local TouchingPairs touching;

}  // namespace

void Forces::prepare() {
  const Assembly::Acting act = assembly_.acting();
  wakes_.assign(lists_.walls.size(), 0.0);
  odometer_ = 0;
  overlapping_.clear();  // contacts overlap, so do their bounding spheres
  if (assembly_.any_convex) overlapping_.assign(lists_.pairs.active(), lists_.pairs.active() + lists_.pairs.size());
  blocks_ = assembly_.block_offsets();
  wall_rows_.clear();
  wall_row_offsets_.clear();
  for (std::size_t block = 0; block + 1 < blocks_.size(); ++block) {
    wall_row_offsets_.push_back(wall_rows_.size());
    for (std::size_t row = blocks_[block]; row < blocks_[block + 1]; ++row)
      if (lists_.walls.begin(row) < lists_.walls.end(row)) wall_rows_.push_back(static_cast<Number>(row));
  }
  wall_row_offsets_.push_back(wall_rows_.size());
  row_wakes_.assign(wall_rows_.size(), 0.0);
  remote_.set(lists_.pairs, blocks_);
  loads_.assign(act.size, Load{});
  block_coefficients_.assign(blocks_.size() - 1, no_number);
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
  for (auto* wakes : {&wakes_, &row_wakes_}) std::fill(wakes->begin(), wakes->end(), 0.0);
}

void Forces::begin_step() {
  for (Wall& wall : assembly_.walls) wall.pose();
  if (assembly_.any_convex) assembly_.pose_elements();
  wall_shares_.resize(blocks_.size() - 1);
}

void Forces::block_forces(std::size_t block, double step) {
  const std::size_t begin = blocks_[block], end = blocks_[block + 1];
  for (std::size_t row = begin; row < end; ++row) loads_[row] = {};
  static thread_local Entries others;
  sphere_forces(begin, end, block, step, others);
  if (assembly_.any_convex) shape_forces(others, end, step);
  wall_forces(block, step);
}

std::vector<ExactSum> Forces::wall_loads() const {
  std::vector<ExactSum> sums(6 * assembly_.walls.size());
  for (const auto& block : wall_shares_) {
    for (const WallShare& share : block) {
      const double parts[6] = {share.force.x,  share.force.y,  share.force.z,
                               share.torque.x, share.torque.y, share.torque.z};
      for (std::size_t k = 0; k < 6; ++k) sums[6 * share.wall + k].add(parts + k, 1);
    }
  }
  return sums;
}

// First finds the contacts of a block, then applies the law to all of them.
void Forces::sphere_forces(std::size_t begin, std::size_t end, std::size_t block, double step, Entries& others) {
  const Assembly::Acting act = assembly_.acting();
  touching.make_room(lists_.pairs.begin(end) - lists_.pairs.begin(begin));
  SphereJob job;
  job.size = find_contacts(begin, end, others);
  if (job.size == 0) return;
  job.i = touching.i.data();
  job.j = touching.j.data();
  job.entry = touching.entry.data();
  job.places = act.places;
  job.motions = act.motions;
  job.materials = act.materials;
  job.table = assembly_.law.table();
  job.table_edge = assembly_.law.materials();
  if (block_coefficients_[block] != no_number) job.uniform = assembly_.law.table() + block_coefficients_[block];
  job.terms = assembly_.law.terms();
  job.dt = step;
  job.period = assembly_.period;
  job.springs = lists_.pairs.springs();
  job.turnings = lists_.pairs.turnings();
  job.loads = loads_.data();
  job.block_end = end;
  job.remote = remote_.shares();
  job.slots = remote_.slots();
  kernels().sphere_contacts(job, assembly_.law.law());
}

// Finds the contacts of spheres in a block of rows; returns their number.
std::size_t Forces::find_contacts(std::size_t begin, std::size_t end, Entries& others) {
  const Assembly::Acting act = assembly_.acting();
  TouchingPairs& to = touching;
  SearchJob job;
  job.begin = lists_.pairs.begin(begin);
  job.end = lists_.pairs.begin(end);
  job.first = lists_.pairs.owners();
  job.second = lists_.pairs.indices();
  job.places = act.places;
  job.period = assembly_.period;
  job.active = assembly_.any_convex ? overlapping_.data() : lists_.pairs.active();
  job.i = to.i.data();
  job.j = to.j.data();
  job.entry = to.entry.data();
  job.ended = to.ended.data();
  kernels().search(job);
  for (std::size_t k = 0; k < job.endings; ++k) {
    const Number entry = job.ended[k];  // of spheres, `active` is already 0
    if (!assembly_.any_convex || lists_.pairs.active()[entry] != 0) lists_.pairs.forget(entry);
  }
  if (!assembly_.any_convex) return job.found;
  others.clear();
  std::size_t spheres = 0;
  for (std::size_t c = 0; c < job.found; ++c) {
    const Number i = job.i[c], j = job.j[c], k = job.entry[c];
    if (assembly_.is_convex(i) || assembly_.is_convex(j)) {
      others.push(i, j, k);
      continue;
    }
    job.i[spheres] = i;
    job.j[spheres] = j;
    job.entry[spheres++] = k;
    lists_.pairs.active()[k] = 1;
    lists_.pairs.set_points(k, 1);  // the loop over spheres knows one spring only
  }
  return spheres;
}

Load Forces::load_of(std::size_t body) const {
  Load sum{};
  for (std::size_t e = assembly_.elements.offsets[body]; e < assembly_.elements.offsets[body + 1]; ++e) {
    const Load& load = loads_[e];
    const Vec force = load.force;
    Vec torque = load.torque;
    const Vec arm = assembly_.elements.arms[e];
    if (dot(arm, arm) > 0) torque += cross(rotate(assembly_.bodies.orientations[body], arm), force);
    add(sum, force, torque);
  }
  return sum;
}

}  // namespace vicinal::dem
