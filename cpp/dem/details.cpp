// Details of contacts for output: the present forces, computed from the present springs. The state does not change.
#include <cmath>

#include "dem/forces.hpp"
#include "dem/laws/laws.hpp"
#include "dem/laws/response.hpp"
#include "exec/threads.hpp"

namespace vicinal::dem {
namespace {

struct Outcome {
  Vec point;  // where the force acts
  Vec force;  // on the first body
  double normal_force = 0, tangential_force = 0, elastic_energy = 0;
};

// The velocity at the point of contact, and the spin, of the first body relative to the second.
struct Rate {
  Vec speed, spin;
};

Triple<double> triple(Vec a) { return {a.x, a.y, a.z}; }
Vec vec(Triple<double> a) { return {a.x, a.y, a.z}; }

// The outcome at one point, as if the contact consisted of this point only.
Outcome outcome_at(const Contact& contact, double overlap, const Rate& rate, const LawTable& law, const Coefficients& p,
                   const Spring& stretched, const Turning& turning) {
  const Terms& terms = law.terms();
  const Triple<double> none{0, 0, 0};
  Touch<double> touch;
  touch.overlap = overlap;
  touch.inverse_mass = 1 / contact.mass;
  touch.radius = contact.radius;
  touch.normal = touch.midway = triple(contact.normal);
  touch.rate = triple(rate.speed);
  touch.rolling_rate = triple(rate.spin);
  touch.travel = touch.rolled = none;  // the time step is 0
  touch.step = touch.turn = 0;

  Triple<double> spring = triple(stretched);
  Turned<double> turned{triple(turning), turning.twist};
  const LaneCoefficients<double> values{p.kn,       p.kt,      p.rate_n,   p.rate_t,  p.damping_n, p.damping_t,
                                        p.friction, p.rolling, p.cohesion, p.torsion, p.softness_t};
  Response<double> r{};
  Outcome outcome;
  visit_law(law.law(), [&](auto chosen) {
    using Law = decltype(chosen);
    r = respond<Law, OneLane>(values, touch, terms, spring, turned);
    outcome.elastic_energy = Law::stored_energy(r.stiffness_n, overlap);
  });
  outcome.force = vec(r.force);
  const double tangential = norm(vec(r.tangential));
  if (terms.history && tangential > 0) {
    // Only the stretch along the force stores energy that can be recovered.
    const double along = -dot(spring, r.tangential) / tangential;
    if (along > 0) outcome.elastic_energy += 0.5 * r.stiffness_t * along * along;
  }
  const auto stored = [&](double coefficient, double square) {
    const double reach = coefficient * contact.radius;
    return 0.5 * rolling_stiffness * r.stiffness_n * reach * reach * square;
  };
  if (terms.rolling) outcome.elastic_energy += stored(p.rolling, dot(turned.rolled, turned.rolled));
  if (terms.torsion) outcome.elastic_energy += stored(p.torsion, turned.twisted * turned.twisted);
  return outcome;
}

// The outcome of all points together. `rate_at(point)` returns the motion of the first relative to the second.
template <class RateAt>
Outcome outcome_of(const Contact& contact, const Patch& patch, RateAt&& rate_at, const LawTable& law,
                   const Coefficients& p, ContactMemory memory) {
  if (patch.size == 1) memory = memory.gathered();
  Outcome all;
  double pressed = 0;
  Vec place;
  for (std::size_t k = 0; k < patch.size; ++k) {
    const Vec at = patch.points[k];
    const Outcome one = outcome_at(contact, patch.overlap, rate_at(at), law, p, memory.springs[k], memory.turnings[k]);
    const double weight = patch.weight(), load = std::abs(dot(one.force, contact.normal));
    all.force += weight * one.force;
    all.elastic_energy += weight * one.elastic_energy;
    pressed += load;
    place += load * (at - contact.point);
  }
  all.point = pressed > 0 ? contact.point + (1 / pressed) * place : contact.point;
  all.normal_force = -dot(all.force, contact.normal);
  all.tangential_force = norm(all.force + all.normal_force * contact.normal);
  return all;
}

}  // namespace

std::vector<HugeVector<Detail>> Forces::details() {
  if (!lists_.ready()) return {};
  assembly_.place_elements();
  for (Wall& wall : assembly_.walls) wall.pose();
  if (assembly_.any_convex) assembly_.pose_elements();  // bodies may be new, or have been turned by the caller
  const Assembly::Acting act = assembly_.acting();
  // Velocities are those of the full step.
  const auto id = [&](std::size_t e) { return assembly_.bodies.ids[assembly_.body_of(e)]; };
  const auto note = [](HugeVector<Detail>& found, const Contact& contact, const Outcome& outcome, std::int64_t i,
                       std::int64_t j, std::int32_t wall) {
    Detail detail;
    detail.i = i;
    detail.j = j;
    detail.wall = wall;
    detail.point = outcome.point;
    detail.normal = contact.normal;
    detail.force = outcome.force;
    detail.overlap = contact.overlap;
    detail.normal_force = outcome.normal_force;
    detail.tangential_force = outcome.tangential_force;
    detail.energy = outcome.elastic_energy;
    found.push_back(detail);
  };
  const auto with_bodies = [&](std::size_t i, HugeVector<Detail>& found) {
    if (assembly_.bodies.ghosts[assembly_.body_of(i)] != 0) return;  // another rank has these
    for (std::size_t k = lists_.pairs.begin(i); k < lists_.pairs.end(i); ++k) {
      const Number j = lists_.pairs.indices()[k];
      const Contact contact = assembly_.pair_contact(i, j, {});
      if (contact.overlap <= 0) continue;
      const auto rate_at = [&](Vec point) -> Rate {
        const Vec arm = point - centre(act.places[i]), other = assembly_.arm_of_second(i, j, arm);
        const Motion &a = act.motions[i], &b = act.motions[j];
        return {(a.v + cross(a.w, arm)) - (b.v + cross(b.w, other)), a.w - b.w};
      };
      const Outcome outcome =
          outcome_of(contact, assembly_.pair_patch(i, j, contact), rate_at, assembly_.law,
                     assembly_.law.coefficients(act.materials[i], act.materials[j]), lists_.pairs.memory(k));
      note(found, contact, outcome, id(i), id(j), -1);
    }
  };
  std::vector<double> wakes(lists_.walls.size(), 0.0);  // separate from wakes_, so that all walls are tested
  const auto with_walls = [&](std::size_t i, std::vector<WallTouch>& touches, HugeVector<Detail>& found) {
    touch_walls(i, 0, touches, wakes);
    for (const WallTouch& touch : touches) {
      const Wall& wall = assembly_.walls[touch.wall];
      const Contact& contact = touch.contact;
      const auto rate_at = [&](Vec point) -> Rate {
        const Motion& m = act.motions[i];
        return {m.v + cross(m.w, point - centre(act.places[i])) - wall.velocity_at(point), m.w - wall.spin};
      };
      const Outcome outcome =
          outcome_of(contact, touch.patch, rate_at, assembly_.law,
                     assembly_.law.coefficients(act.materials[i], wall.material), lists_.walls.memory(touch.entry));
      note(found, contact, outcome, id(i), -1, static_cast<std::int32_t>(touch.wall));
    }
    pierced_meshes(i, touches);
    for (const WallTouch& touch : touches) {
      Outcome none;
      none.point = touch.contact.point;
      note(found, touch.contact, none, id(i), -1, static_cast<std::int32_t>(touch.wall));
    }
  };

  const std::size_t blocks = blocks_.size() - 1;
  std::vector<HugeVector<Detail>> parts(2 * blocks);
  parallel_for(blocks, [&](std::size_t block, int) {
    std::vector<WallTouch> touches;
    for (std::size_t i = blocks_[block]; i < blocks_[block + 1]; ++i) {
      with_bodies(i, parts[block]);
      with_walls(i, touches, parts[blocks + block]);
    }
  });
  return parts;
}

}  // namespace vicinal::dem
