#include "dem/clock.hpp"

#include <algorithm>
#include <cmath>

#include "dem/kernels.hpp"
#include "dem/parallel.hpp"

namespace vicinal::dem {

void Clock::prepare() {
  const GrainBodies& bodies = assembly_.bodies;
  runs_.clear();
  for (std::size_t row = 0; row < bodies.size(); ++row) {
    const bool round = bodies.isotropic(row);
    if (runs_.empty() || runs_.back().round != round) runs_.push_back({row, round});
  }
  runs_.push_back({bodies.size(), true});
}

std::vector<double> Clock::speeds() const {
  std::vector<double> all(assembly_.bodies.size());
  for (std::size_t b = 0; b < all.size(); ++b) all[b] = assembly_.speed_of(b);
  return all;
}

void Clock::prime() {
  for (Motion& m : assembly_.bodies.motions) m.dv = m.dw = Vec{};
  for (std::size_t row = 0; row < assembly_.bodies.size(); ++row) {
    if (assembly_.bodies.isotropic(row)) continue;
    const Quat q = assembly_.bodies.orientations[row];
    const Vec own = rotate(conjugate(q), assembly_.bodies.motions[row].w), inertia = assembly_.bodies.inertias[row];
    assembly_.bodies.momenta[row] = rotate(q, {inertia.x * own.x, inertia.y * own.y, inertia.z * own.z});
  }
  assembly_.place_elements();
  forces_and(Then::prime);
  primed = true;
  drifted = false;
}

void Clock::forward(Border::Sends sends) {
  agree_by(&Exchange::exchange);
  if (!next_.finite) drifted = false;
  const double fastest = border.unpack(assembly_.bodies, sends, drifted ? dt : 0);
  for (Speed& speed : speeds_) speed.most = std::max(speed.most, fastest);  // any block may have ghosts
}

void Clock::agree_by(void (Exchange::*way)(Agreed&)) {
  if (!border.used()) return;
  Agreed agreed{next_.most, next_.in_margins, next_.finite ? 0.0 : 1.0, 0.0};
  (border.exchange->*way)(agreed);
  next_ = {agreed[0], agreed[1], agreed[2] == 0};
  if (agreed[3] > 0) stopping = true;
}

bool Clock::lists_valid() {
  return lists_.valid([&](double share) {
    if (!border.used()) return share;
    Agreed agreed{share};
    border.exchange->agree(agreed);
    if (agreed[3] > 0) stopping = true;
    return agreed[0];
  });
}

std::int64_t Clock::advance(std::int64_t most) {
  if (!lists_.ready()) return 0;
  next_ = {};
  if (!primed && border.used() && !drifted) {  // velocities may have been assigned
    border.pack(assembly_.bodies, Border::Sends::velocities, 0, assembly_.bodies.size());
    forward(Border::Sends::velocities);
  }
  if (most <= 0) return 0;
  if (!primed) prime();
  next_ = {0, 0, next_.finite};
  for (std::size_t b = 0; b < assembly_.bodies.size(); ++b) {
    if (assembly_.bodies.ghosts[b] != 0) continue;
    const double speed = assembly_.speed_of(b);
    const double surface = assembly_.any_convex ? assembly_.surface_speed_of(b) : speed;
    next_ = larger(next_, {surface, speed * lists_.inverse_margins()[b], std::isfinite(speed)});
  }
  agree_by(&Exchange::agree);
  if (!next_.finite) return 0;
  forces_.wake_all();
  if (!drifted) {
    if (!border.used()) throw_if_interrupted();
    drift();
  }
  for (std::int64_t done = 0;;) {
    if (!lists_valid()) return done;
    bool interrupted = false;  // a step that has begun is finished
    try {
      if (!border.used()) throw_if_interrupted();
    } catch (const Interrupted&) {
      interrupted = true;
    }
    drifted = done + 1 < most && !interrupted && !stopping;
    forces_and(drifted ? Then::kick_and_drift : Then::kick);
    ++done;
    ++steps;
    forces_.crossings.date(steps);
    if (border.used()) forward(Border::Sends::kick);
    if (!next_.finite) drifted = false;
    if (interrupted) throw Interrupted();
    if (!drifted) return done;
    // The speeds of ghosts are those of their centres, which do not suffice for other shapes than spheres.
    const bool by_block = !assembly_.elements.used() && !(assembly_.any_convex && border.used());
    follow(by_block ? speeds_ : std::span<const Speed>());
  }
}

template <class F>
void Clock::half_steps(std::size_t begin, std::size_t end, F&& f) {
  GrainBodies& bodies = assembly_.bodies;
  auto run = std::upper_bound(runs_.begin(), runs_.end(), begin,
                              [](std::size_t row, const Run& one) { return row < one.begin; }) -
             1;
  for (; run->begin < end; ++run) {
    const std::size_t first = std::max(begin, run->begin), last = std::min(end, (run + 1)->begin);
    HalfStepJob job;
    job.size = last - first;
    job.round = run->round;
    job.places = bodies.places.data() + first;
    job.motions = bodies.motions.data() + first;
    job.orientations = bodies.orientations.data() + first;
    job.inertias = bodies.inertias.data() + first;
    job.momenta = bodies.momenta.data() + first;
    job.half_impulses = bodies.half_impulses.data() + first;
    job.gravity = assembly_.gravity;
    job.dt = dt;
    f(job, first);
  }
}

void Clock::drift_rows(std::size_t begin, std::size_t end) {
  half_steps(begin, end, [](const HalfStepJob& job, std::size_t) { kernels().drift(job); });
}

void Clock::drift() {
  each_block(assembly_.bodies.size(), block_rows,
             [&](std::size_t begin, std::size_t end, std::size_t) { drift_rows(begin, end); });
  drifted = true;
  if (border.used()) {
    border.pack(assembly_.bodies, Border::Sends::drift, 0, assembly_.bodies.size());
    forward(Border::Sends::drift);
  }
  follow({});
}

void Clock::follow(std::span<const Speed> blocks) {
  if (assembly_.elements.used()) assembly_.elements.follow(assembly_.bodies, dt);
  for (Wall& wall : assembly_.walls) wall.move(dt);
  lists_.moved(next_, dt);
  forces_.moved(next_, blocks, dt);
}

void Clock::forces_and(Then then) {
  const double step = then == Then::prime ? 0 : dt;
  if (assembly_.elements.used()) {  // the loop over contacts reads the elements of a body, which follow it later
    forces_.compute(step, [](std::size_t) {});
    const std::size_t bodies = assembly_.bodies.size();
    speeds_.assign((bodies + block_rows - 1) / block_rows, {});
    each_block(bodies, block_rows, [&](std::size_t begin, std::size_t end, std::size_t block) {
      speeds_[block] = finish(begin, end, then);
    });
  } else {
    const auto blocks = forces_.blocks();
    speeds_.assign(blocks.size() - 1, {});
    forces_.compute(step, [&](std::size_t block) {
      for (std::size_t row = blocks[block]; row < blocks[block + 1]; row += block_rows)
        speeds_[block] = larger(speeds_[block], finish(row, std::min(blocks[block + 1], row + block_rows), then));
    });
  }
  next_ = {};
  for (const Speed& speed : speeds_) next_ = larger(next_, speed);
}

Speed Clock::finish(std::size_t begin, std::size_t end, Then then) {
  // A few rows at a time, so that their data stay in the level-1 cache.
  constexpr std::size_t few = 64;
  Speed speed;
  std::size_t sent = border.used() ? border.first_from(begin) : 0;
  for (std::size_t row = begin; row < end; row += few) {
    const std::size_t last = std::min(end, row + few);
    speed = larger(speed, finish_few(row, last, then));
    if (border.used()) sent = border.pack(assembly_.bodies, Border::Sends::kick, sent, last);
  }
  return speed;
}

Speed Clock::finish_few(std::size_t begin, std::size_t end, Then then) {
  const Elements& elements = assembly_.elements;
  const Load* loads = forces_.loads() + begin;
  static thread_local std::vector<Load> sums;
  if (elements.used()) {
    sums.resize(end - begin);
    forces_.sum_elements(begin, end, sums.data());
    loads = sums.data();
  } else {
    forces_.gather(begin, end);
  }
  const Speed speed = kick_rows(begin, end, loads, then == Then::prime);
  if (!elements.used()) forces_.clear(begin, end);
  // Bodies whose velocity is not finite stay where they are, so that positions are finite in any case.
  if (then == Then::kick_and_drift && speed.finite) drift_rows(begin, end);
  return speed;
}

// Computes the velocities at the end of the step. Returns the largest speeds in the next half step.
Speed Clock::kick_rows(std::size_t begin, std::size_t end, const Load* loads, bool priming) {
  Speed fastest;
  half_steps(begin, end, [&](HalfStepJob& job, std::size_t first) {
    job.inverse_margins = lists_.inverse_margins() + first;
    job.loads = loads + (first - begin);
    job.priming = priming;
    kernels().kick(job);
    fastest = larger(fastest, {std::sqrt(job.fastest), std::sqrt(job.fastest_in_margins), std::isfinite(job.sum)});
  });
  if (assembly_.any_convex) fastest.most += assembly_.tip_speed(begin, end);
  if (!assembly_.elements.used()) return fastest;
  for (std::size_t row = begin; row < end; ++row) {
    if (assembly_.bodies.ghosts[row] != 0) continue;
    const double speed = assembly_.speed_of(row);
    fastest = larger(fastest, {speed, speed * lists_.inverse_margins()[row]});
  }
  return fastest;
}

}  // namespace vicinal::dem
