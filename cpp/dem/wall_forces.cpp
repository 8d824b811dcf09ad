// Forces of walls on a block of rows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "dem/forces.hpp"
#include "dem/kernels.hpp"
#include "dem/walls/kinds.hpp"

namespace vicinal::dem {
namespace {

// Whether the centre of a sphere may have passed through a wall. If a sphere moves by less than short_way × radius and
// its centre crosses the surface, the overlap is at least the rest of the radius; so most bodies need no further test.
bool may_have_crossed(double radius, Vec speed, double wall_speed, double step, double deepest_overlap) {
  constexpr double short_way = 0.1;
  const double left = short_way * radius - wall_speed * step;
  if (left < 0 || dot(speed, speed) * (step * step) > left * left) return true;
  return deepest_overlap > (1 - short_way) * radius;
}
double deepest(const std::vector<WallTouch>& touches) {
  double overlap = 0;
  for (const WallTouch& touch : touches) overlap = std::max(overlap, touch.contact.overlap);
  return overlap;
}

}  // namespace

void Forces::wall_forces(std::size_t block, double step) {
  const Assembly::Acting act = assembly_.acting();
  // A reference: each use of the thread-local variable itself would be a function call.
  static thread_local struct {
    std::vector<WallTouch> touches;
    std::vector<WallContact> spheres;
    std::vector<PointContact> contacts;  // of other shapes
  } of_thread;
  auto& [touches, spheres, contacts] = of_thread;
  wall_shares_[block].clear();
  spheres.clear();
  contacts.clear();
  for (std::size_t k = wall_row_offsets_[block]; k < wall_row_offsets_[block + 1]; ++k) {
    if (odometer_ < row_wakes_[k]) continue;
    const std::size_t row = wall_rows_[k];
    if (plain_rows_[k] != 0) {
      row_wakes_[k] = touch_surfaces(row, step, spheres);
      continue;
    }
    const bool convex = assembly_.is_convex(row);
    const bool behind = touch_walls(row, touches, wakes_);
    // The second test does not work for other shapes than spheres: their radius is that of the bounding sphere, which
    // may overlap a wall deeply at any time.
    if (behind && (convex || may_have_crossed(act.places[row].r, act.motions[row].v, assembly_.wall_speed, step,
                                              deepest(touches))))
      note_crossings(row, step);
    meet_walls(row, touches);
    row_wakes_[k] = *std::min_element(wakes_.begin() + static_cast<std::ptrdiff_t>(lists_.walls.begin(row)),
                                      wakes_.begin() + static_cast<std::ptrdiff_t>(lists_.walls.end(row)));
    for (const WallTouch& touch : touches) {
      lists_.walls.set_points(touch.entry, touch.patch.size);
      if (convex) take_wall_contact(row, touch, step, contacts);
      else take_sphere(row, touch.entry, touch.wall, touch.contact.normal, touch.contact.overlap, touch.fresh, spheres);
    }
  }
  if (!spheres.empty()) sphere_wall_forces(spheres, block, step);
  if (contacts.empty()) return;
  apply_law(contacts, lists_.walls, step);
  for (const PointContact& contact : contacts) {
    const Vec force = contact.force, moment = contact.moment, point = contact.point;
    const Vec torque = cross(point - centre(act.places[contact.row]), force) + moment;
    add(loads_[contact.row], force, torque);
    const Vec arm = point - assembly_.walls[contact.second].middle();
    add_to_wall(block, contact.second, -force, cross(arm, -force) - moment);
  }
}

// A sphere has one contact with a plane or cylinder, so no contact takes over the history of another one.
double Forces::touch_surfaces(std::size_t row, double step, std::vector<WallContact>& contacts) {
  const Assembly::Acting act = assembly_.acting();
  const Place p = act.places[row];
  std::uint8_t* const active = lists_.walls.active();
  double deepest = 0, first = std::numeric_limits<double>::infinity();
  for (std::size_t k = lists_.walls.begin(row); k < lists_.walls.end(row); ++k) {
    if (odometer_ >= wakes_[k]) {
      const auto [number, which] = assembly_.primitives[lists_.walls.indices()[k]];
      const Nearest near = nearest_of(assembly_.walls[number], centre(p));
      const double overlap = p.r - near.distance;
      wakes_[k] = which > 0 ? std::numeric_limits<double>::infinity() : wake(-overlap, p.r);
      if (which == 0 && overlap > 0) {
        lists_.walls.set_points(k, 1);
        take_sphere(row, k, number, near.normal, overlap, active[k] == 0, contacts);
        active[k] = 1;
        deepest = std::max(deepest, overlap);
      } else if (active[k] != 0) {
        lists_.walls.forget(k);
      }
    }
    first = std::min(first, wakes_[k]);
  }
  if (may_have_crossed(p.r, act.motions[row].v, assembly_.wall_speed, step, deepest)) note_crossings(row, step);
  return first;
}

void Forces::take_sphere(std::size_t row, std::size_t entry, std::size_t wall, Vec normal, double overlap, bool fresh,
                         std::vector<WallContact>& contacts) {
  Vec4& stored = lists_.walls.normals()[entry];
  const Vec before = fresh ? Vec{} : Vec(stored);
  contacts.push_back({{normal.x, normal.y, normal.z, overlap},
                      {before.x, before.y, before.z, 0},
                      static_cast<Number>(row),
                      static_cast<Number>(entry),
                      static_cast<Number>(wall),
                      assembly_.law.row(assembly_.acting().materials[row], assembly_.walls[wall].material)});
  stored = normal;
}

void Forces::take_wall_contact(std::size_t row, const WallTouch& touch, double step,
                               std::vector<PointContact>& contacts) {
  const Assembly::Acting act = assembly_.acting();
  const Wall& wall = assembly_.walls[touch.wall];
  const Motion& m = act.motions[row];
  Vec4& normal = lists_.walls.normals()[touch.entry];
  const std::size_t first = contacts.size();
  for (std::size_t p = 0; p < touch.patch.size; ++p) {
    PointContact& to = contacts.emplace_back();
    set_contact(to, touch.contact, touch.fresh ? Vec{} : Vec(normal));
    set_point(to, touch.patch, p, lists_.walls.spring(touch.entry, p));
    to.row = static_cast<Number>(row);
    to.entry = static_cast<Number>(touch.entry);
    to.second = static_cast<Number>(touch.wall);
    to.coefficients = assembly_.law.row(act.materials[row], wall.material);
    // In the middle of the step the point of contact was elsewhere, where the velocity of a rotating wall differs.
    const Vec point = touch.patch.points[p], halfway = point - 0.5 * step * (m.v - wall.velocity);
    set_second(to, {wall.velocity_at(halfway), wall.velocity_at(point), wall.spin, wall.spin});
  }
  normal = touch.contact.normal;
  damp_rocking(touch.patch, std::span(contacts).subspan(first), normal, (m.w + m.dw) - wall.spin);
}

void Forces::sphere_wall_forces(std::vector<WallContact>& contacts, std::size_t block, double step) {
  static thread_local std::vector<WallMotion> walls;
  static thread_local std::vector<Load> on_walls;
  const std::size_t size = contacts.size();
  contacts.resize(size + spare_contacts, contacts.back());
  walls.clear();
  for (const Wall& wall : assembly_.walls) {
    WallMotion& to = walls.emplace_back();
    to.velocity = wall.velocity;
    to.spin = wall.spin;
    to.middle = wall.middle();
  }
  on_walls.resize(size);
  WallJob job{law_job(lists_.walls, step)};
  job.size = size;
  job.contacts = contacts.data();
  job.walls = walls.data();
  job.loads = loads_.data();
  job.on_walls = on_walls.data();
  kernels().wall_contacts(job, assembly_.law.law());
  for (std::size_t c = 0; c < size; ++c) add_to_wall(block, contacts[c].wall, on_walls[c].force, on_walls[c].torque);
}

void Forces::add_to_wall(std::size_t block, std::size_t wall, Vec force, Vec torque) {
  wall_shares_[block].push_back({wall, force, torque});
}

}  // namespace vicinal::dem
