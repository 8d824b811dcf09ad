// One contact of any kind, one at a time: walls, shapes other than spheres, and whoever asks for details.
#pragma once

#include "dem/arrays.hpp"
#include "dem/laws.hpp"
#include "dem/vec.hpp"

namespace vicinal::dem {

// How a side of a contact moves at the point of contact: during the step, and at its end.
struct Side {
  Vec during, at_end;
  Vec spin_during, spin_at_end;
};

inline Side side_of(const Motion& m, Vec arm) {
  const Vec w = m.w + m.dw;
  return {m.v + cross(m.w, arm), (m.v + m.dv) + cross(w, arm), m.w, w};
}

struct Contact {
  Vec point, normal;  // from the first to the second
  double overlap = 0, mass = 0, radius = 0;
};

// What a contact remembers, while it is worked on.
struct Memory {
  Spring& spring;
  Spring* rolling;  // may be null
  Vec* normal;      // of the step before; null: it has not turned
  bool fresh;       // the contact began in this step
};

struct Outcome {
  Vec force, moment;  // on the first
  double normal_force = 0, tangential_force = 0, elastic_energy = 0;
};

namespace {

inline Triple<double> triple(Vec a) { return {a.x, a.y, a.z}; }
inline Vec vec(Triple<double> a) { return {a.x, a.y, a.z}; }

inline Outcome settle(const Contact& contact, const Side& first, const Side& second, const Parameters& parameters,
                      Law law, Terms terms, double dt, const Memory& memory) {
  Touch<double> touch;
  touch.overlap = contact.overlap;
  touch.mass = contact.mass;
  touch.radius = contact.radius;
  touch.normal = triple(contact.normal);
  Vec midway = contact.normal;
  if (memory.normal != nullptr) {
    if (!memory.fresh) {
      const Vec sum = *memory.normal + contact.normal;
      const double turned = dot(*memory.normal, contact.normal);
      // A normal that jumps by a right angle or more belongs to another contact; its spring is projected.
      if (turned > 0) midway = (1.0 / (1.0 + turned)) * sum;
    }
    *memory.normal = contact.normal;
  }
  touch.midway = triple(midway);
  touch.travel = triple(dt * (first.during - second.during));
  touch.rate = triple(first.at_end - second.at_end);
  touch.step = dt;
  touch.turn = 0.5 * dt * dot(first.spin_during + second.spin_during, contact.normal);
  touch.rolled = triple(dt * (first.spin_during - second.spin_during));
  touch.rolling_rate = triple(first.spin_at_end - second.spin_at_end);

  Triple<double> spring = triple(stretch(memory.spring));
  Triple<double> rolling = memory.rolling != nullptr ? triple(stretch(*memory.rolling)) : Triple<double>{0, 0, 0};
  terms.rolling = terms.rolling && memory.rolling != nullptr;
  const auto& p = parameters;
  const LawParameters<double> values{p.kn,        p.kt,       p.rate_n,  p.rate_t,  p.damping_n,
                                     p.damping_t, p.friction, p.rolling, p.cohesion};
  const auto r = law == Law::linear ? respond<Law::linear, true, true, OneLane>(values, touch, terms, spring, rolling)
                                    : respond<Law::hertz, true, true, OneLane>(values, touch, terms, spring, rolling);
  memory.spring = {spring.x, spring.y, spring.z, 1};
  if (memory.rolling != nullptr) *memory.rolling = {rolling.x, rolling.y, rolling.z, 1};

  Outcome outcome;
  outcome.force = vec(r.force);
  outcome.moment = vec(r.moment);
  outcome.normal_force = -dot(outcome.force, contact.normal);
  outcome.tangential_force = norm(vec(r.tangential));
  const double exponent = law == Law::linear ? 0.5 : 4.0 / 15;  // ∫F dδ: k δ²/2, or 4/15 S δ² with S = 2 E* sqrt(R* δ)
  outcome.elastic_energy = exponent * r.stiffness_n * contact.overlap * contact.overlap;
  if (terms.history && outcome.tangential_force > 0) {
    // What is stretched against the force that holds it was not stretched by motion: it is no energy to get back.
    const double along = -dot(spring, r.tangential) / outcome.tangential_force;
    if (along > 0) outcome.elastic_energy += 0.5 * r.stiffness_t * along * along;
  }
  if (terms.rolling) {
    const double reach = p.rolling * contact.radius;
    outcome.elastic_energy += 0.5 * 2.25 * r.stiffness_n * reach * reach * dot(rolling, rolling);
  }
  return outcome;
}

}  // namespace

}  // namespace vicinal::dem
