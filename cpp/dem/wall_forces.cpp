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

// Whether the centre of a sphere may have passed through a wall; most bodies need no further test.
bool may_have_crossed(double radius, Vec speed, double wall_speed, double step, double deepest_overlap) {
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
    std::vector<WallContact> spheres, on_planes, on_faces;
    std::vector<PointContact> contacts;  // of other shapes
    std::vector<Number> doubtful;
  } of_thread;
  auto& [spheres, on_planes, on_faces, contacts, doubtful] = of_thread;
  WallShares& shares = wall_shares_[block];
  for (auto* list : {&spheres, &on_planes, &on_faces}) list->clear();
  contacts.clear();
  doubtful.clear();
  const double odometer = wall_odometers_[block];
  for (std::size_t k = wall_row_offsets_[block]; k < wall_row_offsets_[block + 1]; ++k) {
    if (odometer < row_wakes_[k]) take_lasting(wall_rows_[k], on_planes, on_faces);
    else visit_walls(k, odometer, step, spheres, contacts);
  }
  follow_lasting(kernels().lasting_planes, on_planes, step, doubtful);
  follow_lasting(kernels().lasting_faces, on_faces, step, doubtful);
  for (const Number row : doubtful) {
    const auto place = std::lower_bound(wall_rows_.begin(), wall_rows_.end(), row) - wall_rows_.begin();
    visit_walls(static_cast<std::size_t>(place), odometer, step, spheres, contacts);
  }
  // All contacts of one sphere come from the same list, in the order of their entries.
  for (const auto* list : {&on_planes, &on_faces}) spheres.insert(spheres.end(), list->begin(), list->end());
  sphere_wall_forces(spheres, step, shares);
  if (contacts.empty()) return;
  apply_law(contacts, lists_.walls, step);
  for (const PointContact& contact : contacts) {
    const Vec force = contact.force, moment = contact.moment, point = contact.point;
    const Vec torque = cross(point - centre(act.places[contact.row]), force) + moment;
    add(loads_[contact.row], force, torque);
    const Vec arm = point - assembly_.walls[contact.second].middle();
    shares.walls.push_back(contact.second);
    add(shares.loads.emplace_back(), -force, cross(arm, -force) - moment);
  }
}

void Forces::visit_walls(std::size_t k, double odometer, double step, std::vector<WallContact>& spheres,
                         std::vector<PointContact>& contacts) {
  static thread_local std::vector<WallTouch> touches;
  const Assembly::Acting act = assembly_.acting();
  const std::size_t row = wall_rows_[k], begin = lists_.walls.begin(row), end = lists_.walls.end(row);
  if (plain_rows_[k] != 0) {
    row_wakes_[k] = touch_surfaces(row, odometer, step, spheres);
    return;
  }
  const bool convex = assembly_.is_convex(row);
  const bool behind = touch_walls(row, odometer, touches, wakes_);
  // The second test does not work for other shapes than spheres: their radius is that of the bounding sphere, which
  // may overlap a wall deeply at any time.
  if (behind &&
      (convex || may_have_crossed(act.places[row].r, act.motions[row].v, assembly_.wall_speed, step, deepest(touches))))
    note_crossings(row, step);
  meet_walls(row, touches);
  const bool lasts = !convex && touches.size() == 1 && touches[0].lasts;
  row_wakes_[k] = std::numeric_limits<double>::infinity();
  for (std::size_t e = begin; e < end; ++e)
    if (!(lasts && e == touches[0].entry)) row_wakes_[k] = std::min(row_wakes_[k], wakes_[e]);
  for (const WallTouch& touch : touches) {
    lists_.walls.set_points(touch.entry, touch.patch.size);
    if (convex) take_wall_contact(row, touch, step, contacts);
    else spheres.push_back(sphere_contact(row, touch.entry, touch.contact.normal, touch.contact.overlap));
  }
}

// A sphere has one contact with a plane or cylinder, so no contact takes over the history of another one.
double Forces::touch_surfaces(std::size_t row, double odometer, double step, std::vector<WallContact>& contacts) {
  const Assembly::Acting act = assembly_.acting();
  const Place p = act.places[row];
  std::uint8_t* const active = lists_.walls.active();
  double deepest = 0, first = std::numeric_limits<double>::infinity();
  for (std::size_t k = lists_.walls.begin(row); k < lists_.walls.end(row); ++k) {
    bool lasts = false;
    if (odometer >= wakes_[k]) {
      const auto [number, which] = assembly_.primitives[lists_.walls.indices()[k]];
      const Nearest near = nearest_of(assembly_.walls[number], centre(p));
      const double overlap = p.r - near.distance;
      wakes_[k] = which > 0 ? std::numeric_limits<double>::infinity() : wake(odometer, -overlap, p.r);
      if (which == 0 && overlap > 0) {
        lists_.walls.set_points(k, 1);
        contacts.push_back(sphere_contact(row, k, near.normal, overlap));
        active[k] = 1;
        deepest = std::max(deepest, overlap);
        lasts = is_plane(assembly_.walls[number]);
      } else if (active[k] != 0) {
        lists_.walls.forget(k);
      }
    }
    if (!lasts) first = std::min(first, wakes_[k]);
  }
  if (may_have_crossed(p.r, act.motions[row].v, assembly_.wall_speed, step, deepest)) note_crossings(row, step);
  return first;
}

WallContact Forces::sphere_contact(std::size_t row, std::size_t entry, Vec normal, double overlap) const {
  const Assembly::Primitive& primitive = assembly_.primitives[lists_.walls.indices()[entry]];
  return {{normal.x, normal.y, normal.z, overlap},
          static_cast<Number>(row),
          static_cast<Number>(entry),
          primitive.wall,
          assembly_.law.row(assembly_.acting().materials[row], assembly_.walls[primitive.wall].material),
          primitive.face};
}

void Forces::take_lasting(std::size_t row, std::vector<WallContact>& on_planes,
                          std::vector<WallContact>& on_faces) const {
  const std::uint8_t* const active = lists_.walls.active();
  for (std::size_t k = lists_.walls.begin(row); k < lists_.walls.end(row); ++k) {
    if (active[k] == 0) continue;
    const WallContact contact = sphere_contact(row, k, {}, 0);
    (assembly_.walls[contact.wall].kind == Wall::mesh ? on_faces : on_planes).push_back(contact);
  }
}

void Forces::follow_lasting(void (*loop)(LastingJob&), std::vector<WallContact>& contacts, double step,
                            std::vector<Number>& doubtful) const {
  static thread_local std::vector<Number> doubts;
  doubts.resize(contacts.size());
  const Assembly::Acting act = assembly_.acting();
  LastingJob job{contacts.size(),     contacts.data(),    act.places, act.motions,
                 wall_planes_.data(), mesh_poses_.data(), step,       assembly_.wall_speed,
                 doubts.data()};
  loop(job);
  if (job.doubts == 0) return;
  const std::size_t first = doubtful.size();
  for (std::size_t k = 0; k < job.doubts; ++k) {
    const Number row = contacts[doubts[k]].row;
    if (doubtful.size() == first || doubtful.back() != row) doubtful.push_back(row);
  }
  const auto rows = std::span(doubtful).subspan(first);  // ascending, as the contacts are
  std::erase_if(contacts, [&](const WallContact& c) { return std::binary_search(rows.begin(), rows.end(), c.row); });
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

void Forces::sphere_wall_forces(std::vector<WallContact>& contacts, double step, WallShares& shares) {
  const std::size_t size = contacts.size();
  shares.walls.resize(size);
  shares.loads.resize(size);
  if (size == 0) return;
  for (std::size_t c = 0; c < size; ++c) shares.walls[c] = contacts[c].wall;
  const Number which = contacts[0].coefficients;
  const bool same = std::all_of(contacts.begin(), contacts.end(),
                                [=](const WallContact& contact) { return contact.coefficients == which; });
  contacts.resize(size + spare_contacts, contacts.back());
  WallJob job{law_job(lists_.walls, step)};
  job.size = size;
  job.contacts = contacts.data();
  job.walls = wall_motions_.data();
  job.uniform = same ? assembly_.law.table() + which : nullptr;
  job.normals = lists_.walls.normals();
  job.loads = loads_.data();
  job.on_walls = shares.loads.data();
  kernels().wall_contacts(job, assembly_.law.law());
}

}  // namespace vicinal::dem
