// Forces of one step, block by block of rows. What a block adds up does not depend on who works on it.
#include <algorithm>
#include <cmath>

#include "dem/contact.hpp"
#include "dem/contact_job.hpp"
#include "dem/parallel.hpp"
#include "dem/world.hpp"
#include "exec/isa.hpp"

namespace vicinal::dem {
namespace {

void sphere_contacts(const ContactJob& job, Law law) {
#ifdef VICINAL_X86
  if (isa_setting() != Isa::baseline) return sphere_contacts_avx2(job, law);
#endif
  sphere_contacts_baseline(job, law);
}

}  // namespace

void World::forces(double step) {
  const Acting act = acting();
  const std::size_t blocks = (act.size + block_rows - 1) / block_rows;
  wall_loads_.assign(blocks * walls.size(), {});
  each_block(act.size, block_rows,
             [&](std::size_t begin, std::size_t end, std::size_t block) { block_forces(begin, end, block, step); });
  for (std::size_t w = 0; w < walls.size(); ++w) {
    walls[w].force = walls[w].torque = {};
    for (std::size_t block = 0; block < blocks; ++block) {
      walls[w].force += wall_loads_[block * walls.size() + w][0];
      walls[w].torque += wall_loads_[block * walls.size() + w][1];
    }
  }
}

void World::block_forces(std::size_t begin, std::size_t end, std::size_t block, double step) {
  const Acting act = acting();
  for (std::size_t row = begin; row < end; ++row) loads_[row] = {};

  // Who touches is found first, without branches, and the law then runs over what was found.
  const std::size_t base = pairs_.begin(begin);
  Number *const first = first_.data() + base, *const second = second_.data() + base,
                *const entry = entry_.data() + base;
  const Number* const partners = pairs_.partners();
  std::uint8_t* const active = pairs_.active();
  const bool periodic = period.any();
  std::size_t found = 0;
  for (std::size_t row = begin; row < end; ++row) {
    const Place a = act.places[row];
    for (std::size_t k = pairs_.begin(row), last = pairs_.end(row); k < last; ++k) {
      const Number j = partners[k];
      const Place b = act.places[j];
      Vec d{b.x - a.x, b.y - a.y, b.z - a.z};
      if (periodic) d = period.shortest(d);
      const double reach = a.r + b.r;
      const bool touches = dot(d, d) < reach * reach;
      if (any_convex && (is_convex(row) || is_convex(j))) {
        if (touches) shape_forces(row, k, end, step);
        else if (active[k] != 0) pairs_.forget(k);
        continue;
      }
      first[found] = static_cast<Number>(row);
      second[found] = j;
      entry[found] = static_cast<Number>(k);
      found += touches ? 1 : 0;
      if (static_cast<bool>(active[k]) != touches) {
        if (touches) active[k] = 1;
        else pairs_.forget(k);
      }
    }
  }
  ContactJob job;
  job.size = found;
  job.i = first;
  job.j = second;
  job.entry = entry;
  job.places = act.places;
  job.motions = act.motions;
  job.inverse_masses = act.inverse_masses;
  job.materials = act.materials;
  job.table = table.data();
  job.table_edge = table_edge;
  job.terms = terms;
  job.dt = step;
  job.period = period;
  job.springs = pairs_.springs();
  job.rollings = pairs_.rollings();
  job.loads = loads_.data();
  job.block_end = end;
  job.remote = remote_.shares();
  job.slots = remote_.slots();
  if (found > 0) sphere_contacts(job, law);

  for (std::size_t row = begin; row < end; ++row)
    if (wall_rows_.begin(row) < wall_rows_.end(row)) wall_forces(row, block, step);
}

void World::shape_forces(std::size_t row, std::size_t k, std::size_t block_end, double step) {
  const Acting act = acting();
  const Number j = pairs_.partners()[k];
  const bool fresh = pairs_.active()[k] == 0;
  const Contact contact = pair_contact(row, j, fresh ? Vec{} : pairs_.normals()[k]);
  if (contact.overlap <= 0) {
    if (!fresh) pairs_.forget(k);
    return;
  }
  pairs_.active()[k] = 1;
  const Vec arm = contact.point - centre(act.places[row]);
  const Vec other = arm - period.shortest(centre(act.places[j]) - centre(act.places[row]));
  const Memory memory{pairs_.springs()[k], terms.rolling ? pairs_.rollings() + k : nullptr, pairs_.normals() + k,
                      fresh};
  const Outcome outcome = settle(contact, side_of(act.motions[row], arm), side_of(act.motions[j], other),
                                 parameters(act.materials[row], act.materials[j]), law, terms, step, memory);
  const Vec f = outcome.force, t = cross(arm, f) + outcome.moment, back = cross(f, other) - outcome.moment;
  const Load first{{f.x, f.y, f.z, 1}, {t.x, t.y, t.z, 1}}, second{{-f.x, -f.y, -f.z, 1}, {back.x, back.y, back.z, 1}};
  const auto add = [](Load& to, const Load& share) {
    for (std::size_t c = 0; c < 4; ++c) to.f[c] += share.f[c];
    for (std::size_t c = 0; c < 4; ++c) to.t[c] += share.t[c];
  };
  add(loads_[row], first);
  if (j < block_end) add(loads_[j], second);
  else remote_.shares()[remote_.slots()[k]] = second;
}

Contact World::sphere_contact(std::size_t i, std::size_t j) const {
  const Acting act = acting();
  const Place &a = act.places[i], &b = act.places[j];
  const Vec apart = period.shortest(centre(b) - centre(a));
  const double distance = norm(apart), overlap = (a.r + b.r) - distance;
  const Vec normal = (1.0 / distance) * apart;
  return {centre(a) + (a.r - 0.5 * overlap) * normal, normal, overlap,
          1.0 / (act.inverse_masses[i] + act.inverse_masses[j]), a.r * b.r / (a.r + b.r)};
}

void World::wall_forces(std::size_t row, std::size_t block, double step) {
  const Acting act = acting();
  static thread_local std::vector<WallTouch> touches;
  touch_walls(row, touches);
  meet_walls(row, touches);
  for (const WallTouch& touch : touches) {
    const Wall& wall = walls[touch.wall];
    const std::size_t k = touch.entry;
    const Contact& contact = touch.contact;
    const Vec arm = contact.point - centre(act.places[row]);
    const Vec speed = wall.velocity_at(contact.point);
    // Halfway through the step the body was elsewhere, and the wall moves differently there.
    const Vec halfway = contact.point - 0.5 * step * (act.motions[row].v - wall.velocity);
    const Vec speed_before = wall.velocity_at(halfway);
    const Memory memory{wall_rows_.springs()[k], terms.rolling ? wall_rows_.rollings() + k : nullptr,
                        wall_rows_.normals() + k, touch.fresh};
    const Outcome outcome = settle(contact, side_of(act.motions[row], arm), {speed_before, speed, wall.spin, wall.spin},
                                   parameters(act.materials[row], wall.material), law, terms, step, memory);
    const Vec torque = cross(arm, outcome.force) + outcome.moment;
    Load& load = loads_[row];
    load.f[0] += outcome.force.x, load.f[1] += outcome.force.y, load.f[2] += outcome.force.z;
    load.t[0] += torque.x, load.t[1] += torque.y, load.t[2] += torque.z;
    auto& share = wall_loads_[block * walls.size() + touch.wall];
    share[0] += -outcome.force;
    share[1] += cross(contact.point - wall.middle(), -outcome.force) - outcome.moment;
  }
}

}  // namespace vicinal::dem
