// Forces of walls on a block of rows.
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "dem/forces.hpp"
#include "dem/kernels.hpp"

namespace vicinal::dem {
namespace {

// Whether the centre of a sphere may have passed through a wall. If a sphere moves by less than short_way × radius and
// its centre crosses the surface, the overlap is at least the rest of the radius; so most bodies need no further test.
bool may_have_crossed(double radius, Vec speed, double wall_speed, double step, const std::vector<WallTouch>& touches) {
  constexpr double short_way = 0.1;
  const double left = short_way * radius - wall_speed * step;
  if (left < 0 || dot(speed, speed) * (step * step) > left * left) return true;
  return std::any_of(touches.begin(), touches.end(),
                     [&](const WallTouch& touch) { return touch.contact.overlap > (1 - short_way) * radius; });
}

}  // namespace

void Forces::wall_forces(std::size_t block, double step) {
  const Assembly::Acting act = assembly_.acting();
  static thread_local std::vector<WallTouch> touches;
  static thread_local std::vector<PointContact> contacts;
  contacts.clear();
  for (std::size_t k = wall_row_offsets_[block]; k < wall_row_offsets_[block + 1]; ++k) {
    if (odometer_ < row_wakes_[k]) continue;
    const std::size_t row = wall_rows_[k];
    touch_walls(row, touches, wakes_);
    // This test does not work for other shapes: their radius is that of the bounding sphere, which may overlap a wall
    // deeply at any time.
    if (assembly_.is_convex(row) ||
        may_have_crossed(act.places[row].r, act.motions[row].v, assembly_.wall_speed, step, touches))
      note_crossings(row, step);
    meet_walls(row, touches);
    row_wakes_[k] = *std::min_element(wakes_.begin() + static_cast<std::ptrdiff_t>(lists_.walls.begin(row)),
                                      wakes_.begin() + static_cast<std::ptrdiff_t>(lists_.walls.end(row)));
    for (const WallTouch& touch : touches) {
      const Wall& wall = assembly_.walls[touch.wall];
      const Contact& from = touch.contact;
      Vec& normal = lists_.walls.normals()[touch.entry];
      const Number coefficients = assembly_.law.row(act.materials[row], wall.material);
      const std::size_t first = contacts.size();
      lists_.walls.set_points(touch.entry, touch.patch.size);
      for (std::size_t p = 0; p < touch.patch.size; ++p) {
        PointContact& to = contacts.emplace_back();
        set_contact(to, from, touch.fresh ? Vec{} : normal);
        set_point(to, touch.patch, p, lists_.walls.spring(touch.entry, p));
        to.row = static_cast<Number>(row);
        to.entry = static_cast<Number>(touch.entry);
        to.second = static_cast<Number>(touch.wall);
        to.coefficients = coefficients;
        // In the middle of the step the point of contact was elsewhere, where the velocity of a rotating wall differs.
        const Vec point = touch.patch.points[p], halfway = point - 0.5 * step * (act.motions[row].v - wall.velocity);
        set_second(to, {wall.velocity_at(halfway), wall.velocity_at(point), wall.spin, wall.spin});
      }
      normal = from.normal;
      const Motion& m = act.motions[row];
      damp_rocking(touch.patch, std::span(contacts).subspan(first), from.normal, (m.w + m.dw) - wall.spin);
    }
  }
  apply_law(contacts, lists_.walls, step);
  std::vector<WallShare>& shares = wall_shares_[block];
  shares.clear();
  for (const PointContact& contact : contacts) {
    const Vec force = contact.force, moment = contact.moment, point = contact.point;
    const Vec torque = cross(point - centre(act.places[contact.row]), force) + moment;
    add(loads_[contact.row], force, torque);
    const Vec middle = assembly_.walls[contact.second].middle();
    shares.push_back({contact.second, -force, cross(point - middle, -force) - moment});
  }
}

}  // namespace vicinal::dem
