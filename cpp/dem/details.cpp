// Contacts in detail, for output: the forces of this moment from the springs as they are. Nothing changes.
#include "dem/contact.hpp"
#include "dem/world.hpp"

namespace vicinal::dem {
namespace {

// Velocities are those of the full step when nobody is in the middle of one.
Side at_rest_in_time(const Motion& m, Vec arm) {
  const Vec speed = m.v + cross(m.w, arm);
  return {speed, speed, m.w, m.w};
}

}  // namespace

std::size_t World::contacts() const {
  std::size_t count = 0;
  for (std::size_t k = 0; k < pairs_.size(); ++k) count += pairs_.active()[k];
  for (std::size_t k = 0; k < wall_rows_.size(); ++k) count += wall_rows_.active()[k];
  return count;
}

std::vector<Detail> World::details() {
  std::vector<Detail> found;
  if (!has_lists_) return found;
  place_elements();
  for (Wall& wall : walls) wall.pose();
  const Acting act = acting();
  const auto id = [&](std::size_t e) { return bodies.ids[elements.used() ? elements.owners[e] : e]; };
  const auto note = [&](const Contact& contact, const Outcome& outcome, std::int64_t i, std::int64_t j,
                        std::int32_t wall) {
    Detail detail;
    detail.i = i;
    detail.j = j;
    detail.wall = wall;
    detail.point = contact.point;
    detail.normal = contact.normal;
    detail.force = outcome.force;
    detail.overlap = contact.overlap;
    detail.normal_force = outcome.normal_force;
    detail.tangential_force = outcome.tangential_force;
    detail.energy = outcome.elastic_energy;
    found.push_back(detail);
  };
  for (std::size_t i = 0; i < pairs_.rows(); ++i) {
    for (std::size_t k = pairs_.begin(i); k < pairs_.end(i); ++k) {
      const Number j = pairs_.partners()[k];
      const Contact contact = pair_contact(i, j, {});
      if (contact.overlap <= 0) continue;
      const Vec arm = contact.point - centre(act.places[i]);
      const Vec other = arm - period.shortest(centre(act.places[j]) - centre(act.places[i]));
      Spring spring = pairs_.springs()[k], rolling = terms.rolling ? pairs_.rollings()[k] : Spring{0, 0, 0, 0};
      const Outcome outcome =
          settle(contact, at_rest_in_time(act.motions[i], arm), at_rest_in_time(act.motions[j], other),
                 parameters(act.materials[i], act.materials[j]), law, terms, 0, {spring, &rolling, nullptr, false});
      note(contact, outcome, id(i), id(j), -1);
    }
  }
  std::vector<WallTouch> touches;
  std::vector<double> wakes(wall_rows_.size(), 0.0);  // of its own: everything is looked at
  for (std::size_t i = 0; i < wall_rows_.rows(); ++i) {
    touch_walls(i, touches, wakes);
    for (const WallTouch& touch : touches) {
      const Wall& wall = walls[touch.wall];
      const Contact& contact = touch.contact;
      Spring spring = wall_rows_.springs()[touch.entry];
      Spring rolling = terms.rolling ? wall_rows_.rollings()[touch.entry] : Spring{0, 0, 0, 0};
      const Vec speed = wall.velocity_at(contact.point);
      const Outcome outcome = settle(contact, at_rest_in_time(act.motions[i], contact.point - centre(act.places[i])),
                                     {speed, speed, wall.spin, wall.spin}, parameters(act.materials[i], wall.material),
                                     law, terms, 0, {spring, &rolling, nullptr, false});
      note(contact, outcome, id(i), -1, static_cast<std::int32_t>(touch.wall));
    }
  }
  return found;
}

}  // namespace vicinal::dem
