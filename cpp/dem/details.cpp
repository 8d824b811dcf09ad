// Contacts in detail, for output: the forces of this moment from the springs as they are. Nothing changes.
#include "dem/forces.hpp"
#include "dem/laws/laws.hpp"
#include "dem/laws/response.hpp"

namespace vicinal::dem {
namespace {

struct Outcome {
  Vec force;  // on the first
  double normal_force = 0, tangential_force = 0, elastic_energy = 0;
};

// How the first moves relative to the second, at the point and by turning.
struct Rate {
  Vec speed, spin;
};

Triple<double> triple(Vec a) { return {a.x, a.y, a.z}; }
Vec vec(Triple<double> a) { return {a.x, a.y, a.z}; }

Outcome outcome_of(const Contact& contact, const Rate& rate, const LawTable& law, const Coefficients& p,
                   const Spring& stretched, const Spring& rolled) {
  const Terms& terms = law.terms();
  const Triple<double> none{0, 0, 0};
  Touch<double> touch;
  touch.overlap = contact.overlap;
  touch.mass = contact.mass;
  touch.radius = contact.radius;
  touch.normal = touch.midway = triple(contact.normal);
  touch.rate = triple(rate.speed);
  touch.rolling_rate = triple(rate.spin);
  touch.travel = touch.rolled = none;  // no time goes by
  touch.step = touch.turn = 0;

  Triple<double> spring = triple(stretched), rolling = triple(rolled);
  const LaneCoefficients<double> values{p.kn,        p.kt,       p.rate_n,  p.rate_t,  p.damping_n,
                                        p.damping_t, p.friction, p.rolling, p.cohesion};
  Response<double> r{};
  Outcome outcome;
  visit_law(law.law(), [&](auto chosen) {
    using Law = decltype(chosen);
    r = respond<Law, true, true, OneLane>(values, touch, terms, spring, rolling);
    outcome.elastic_energy = Law::stored_energy(r.stiffness_n, contact.overlap);
  });
  outcome.force = vec(r.force);
  outcome.normal_force = -dot(outcome.force, contact.normal);
  outcome.tangential_force = norm(vec(r.tangential));
  if (terms.history && outcome.tangential_force > 0) {
    // What is stretched against the force that holds it was not stretched by motion: it is no energy to get back.
    const double along = -dot(spring, r.tangential) / outcome.tangential_force;
    if (along > 0) outcome.elastic_energy += 0.5 * r.stiffness_t * along * along;
  }
  if (terms.rolling) {
    const double reach = p.rolling * contact.radius;
    outcome.elastic_energy += 0.5 * rolling_stiffness * r.stiffness_n * reach * reach * dot(rolling, rolling);
  }
  return outcome;
}

}  // namespace

std::vector<Detail> Forces::details() {
  std::vector<Detail> all;
  if (!lists_.ready()) return all;
  assembly_.place_elements();
  for (Wall& wall : assembly_.walls) wall.pose();
  const Assembly::Acting act = assembly_.acting();
  const Spring none{0, 0, 0, 0};
  // Velocities are those of the full step.
  const auto id = [&](std::size_t e) { return assembly_.bodies.ids[assembly_.body_of(e)]; };
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
    all.push_back(detail);
  };
  for (std::size_t i = 0; i < lists_.pairs.rows(); ++i) {
    for (std::size_t k = lists_.pairs.begin(i); k < lists_.pairs.end(i); ++k) {
      const Number j = lists_.pairs.indices()[k];
      const Contact contact = assembly_.pair_contact(i, j, {});
      if (contact.overlap <= 0) continue;
      const Vec arm = contact.point - centre(act.places[i]);
      const Vec other = assembly_.arm_of_second(i, j, arm);
      const Motion &a = act.motions[i], &b = act.motions[j];
      const Rate rate{(a.v + cross(a.w, arm)) - (b.v + cross(b.w, other)), a.w - b.w};
      const Outcome outcome =
          outcome_of(contact, rate, assembly_.law, assembly_.law.coefficients(act.materials[i], act.materials[j]),
                     lists_.pairs.springs()[k], assembly_.law.terms().rolling ? lists_.pairs.rollings()[k] : none);
      note(contact, outcome, id(i), id(j), -1);
    }
  }
  std::vector<WallTouch> touches;
  std::vector<double> wakes(lists_.walls.size(), 0.0);  // of its own: everything is looked at
  for (std::size_t i = 0; i < lists_.walls.rows(); ++i) {
    touch_walls(i, touches, wakes);
    for (const WallTouch& touch : touches) {
      const Wall& wall = assembly_.walls[touch.wall];
      const Contact& contact = touch.contact;
      const Motion& m = act.motions[i];
      const Vec speed = m.v + cross(m.w, contact.point - centre(act.places[i]));
      const Outcome outcome =
          outcome_of(contact, {speed - wall.velocity_at(contact.point), m.w - wall.spin}, assembly_.law,
                     assembly_.law.coefficients(act.materials[i], wall.material), lists_.walls.springs()[touch.entry],
                     assembly_.law.terms().rolling ? lists_.walls.rollings()[touch.entry] : none);
      note(contact, outcome, id(i), -1, static_cast<std::int32_t>(touch.wall));
    }
  }
  return all;
}

}  // namespace vicinal::dem
