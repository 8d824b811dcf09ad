// Forces of one step, block by block of rows. What a block adds up does not depend on who works on it.
#include <algorithm>
#include <cmath>

#include "dem/contact.hpp"
#include "dem/kernels.hpp"
#include "dem/parallel.hpp"
#include "dem/world.hpp"

namespace vicinal::dem {
namespace {

// Contacts found in the block a thread works on.
struct TouchingPairs {
  std::vector<Number> i, j, entry, ended;
  void make_room(std::size_t entries) {
    constexpr std::size_t registers = 8;  // loops write whole registers
    if (i.size() >= entries + registers) return;
    for (auto* column : {&i, &j, &entry, &ended}) column->resize(entries + registers);
  }
};
thread_local TouchingPairs found_here;

}  // namespace

void World::forces(double step) {
  const Acting act = acting();
  const std::size_t size = force_block_rows(act.size), blocks = (act.size + size - 1) / size;
  for (Wall& wall : walls) wall.pose();
  if (any_convex) pose_elements();
  wall_loads_.assign(blocks * walls.size(), {});
  each_block(act.size, size, [&](std::size_t begin, std::size_t end, std::size_t block) {
    for (std::size_t row = begin; row < end; ++row) loads_[row] = {};
    sphere_forces(begin, end, block, step);
    if (any_convex) shape_forces(begin, end, step);
    wall_forces(begin, end, block, step);
  });
  for (std::size_t w = 0; w < walls.size(); ++w) {
    walls[w].force = walls[w].torque = {};
    for (std::size_t block = 0; block < blocks; ++block) {
      walls[w].force += wall_loads_[block * walls.size() + w][0];
      walls[w].torque += wall_loads_[block * walls.size() + w][1];
    }
  }
}

// Who touches is found first, and the law then runs over what was found.
void World::sphere_forces(std::size_t begin, std::size_t end, std::size_t block, double step) {
  const Acting act = acting();
  found_here.make_room(pairs_.begin(end) - pairs_.begin(begin));
  SphereJob job;
  job.size = find_contacts(begin, end);
  if (job.size == 0) return;
  job.i = found_here.i.data();
  job.j = found_here.j.data();
  job.entry = found_here.entry.data();
  job.places = act.places;
  job.motions = act.motions;
  job.materials = act.materials;
  job.table = law.table();
  job.table_edge = law.materials();
  if (block_coefficients_[block] != nobody) job.uniform = law.table() + block_coefficients_[block];
  job.terms = law.terms();
  job.dt = step;
  job.period = period;
  job.springs = pairs_.springs();
  job.rollings = pairs_.rollings();
  job.loads = loads_.data();
  job.block_end = end;
  job.remote = remote_.shares();
  job.slots = remote_.slots();
  kernels().sphere_contacts(job, law.law());
}

// Contacts of spheres in a block of rows.
std::size_t World::find_contacts(std::size_t begin, std::size_t end) {
  const Acting act = acting();
  TouchingPairs& found = found_here;
  SearchJob job;
  job.begin = pairs_.begin(begin);
  job.end = pairs_.begin(end);
  job.first = pairs_.owners();
  job.second = pairs_.indices();
  job.places = act.places;
  job.period = period;
  job.active = pairs_.active();
  job.i = found.i.data();
  job.j = found.j.data();
  job.entry = found.entry.data();
  job.ended = found.ended.data();
  if (!any_convex) {
    kernels().search(job);
    for (std::size_t k = 0; k < job.endings; ++k) pairs_.forget(job.ended[k]);
    return job.found;
  }
  for (std::size_t k = job.begin; k < job.end; ++k) {
    const Number i = job.first[k], j = job.second[k];
    if (is_convex(i) || is_convex(j)) continue;
    const Place &a = act.places[i], &b = act.places[j];
    const Vec apart = period.shortest(centre(b) - centre(a));
    const double reach = a.r + b.r;
    if (dot(apart, apart) < reach * reach) {
      job.i[job.found] = i;
      job.j[job.found] = j;
      job.entry[job.found++] = static_cast<Number>(k);
      job.active[k] = 1;
    } else if (job.active[k] != 0) {
      pairs_.forget(k);
    }
  }
  return job.found;
}

Contact World::sphere_contact(std::size_t i, std::size_t j) const {
  const Acting act = acting();
  const Place &a = act.places[i], &b = act.places[j];
  const Vec apart = period.shortest(centre(b) - centre(a));
  const double distance = norm(apart), overlap = (a.r + b.r) - distance;
  const Vec normal = (1.0 / distance) * apart;
  return {centre(a) + (a.r - 0.5 * overlap) * normal, normal, overlap,
          1.0 / (act.motions[i].w.inverse_mass + act.motions[j].w.inverse_mass), a.r * b.r / (a.r + b.r)};
}

}  // namespace vicinal::dem
