#include "dem/clock.hpp"

#include <algorithm>
#include <cmath>

#include "dem/kernels.hpp"
#include "dem/parallel.hpp"

namespace vicinal::dem {

void Clock::prepare() {
  const Bodies& bodies = assembly_.bodies;
  round_blocks_.assign((bodies.size() + block_rows - 1) / block_rows, 1);
  for (std::size_t row = 0; row < bodies.size(); ++row)
    if (!bodies.isotropic(row)) round_blocks_[row / block_rows] = 0;
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

std::int64_t Clock::advance(std::int64_t most) {
  if (!lists_.ready() || most <= 0) return 0;
  next_ = {};
  if (!primed) prime();
  next_ = {0, 0, next_.finite};
  for (std::size_t b = 0; b < assembly_.bodies.size(); ++b) {
    const double speed = assembly_.speed_of(b);
    next_ = larger(next_, {speed, speed * lists_.inverse_margins()[b], std::isfinite(speed)});
  }
  if (!next_.finite) return 0;
  forces_.wake_all();
  if (!drifted) {
    throw_if_interrupted();
    drift();
  }
  for (std::int64_t done = 0;;) {
    if (!lists_.valid()) return done;
    bool interrupted = false;  // a step that has begun is finished
    try {
      throw_if_interrupted();
    } catch (const Interrupted&) {
      interrupted = true;
    }
    drifted = done + 1 < most && !interrupted;
    forces_and(drifted ? Then::kick_and_drift : Then::kick);
    ++done;
    ++steps;
    forces_.crossings.date(steps);
    if (!next_.finite) drifted = false;
    if (interrupted) throw Interrupted();
    if (!drifted) return done;
    follow();
  }
}

// Splits the rows of a block into jobs; the bodies of a job are all isotropic or all anisotropic.
template <class F>
void Clock::half_steps(std::size_t begin, std::size_t end, F&& f) {
  const bool all_round = round_blocks_[begin / block_rows] != 0;
  for (std::size_t first = begin, last; first < end; first = last) {
    const bool round = assembly_.bodies.isotropic(first);
    last = all_round ? end : first + 1;
    while (last < end && assembly_.bodies.isotropic(last) == round) ++last;
    HalfStepJob job;
    job.size = last - first;
    job.round = round;
    job.places = assembly_.bodies.places.data() + first;
    job.motions = assembly_.bodies.motions.data() + first;
    job.orientations = assembly_.bodies.orientations.data() + first;
    job.inertias = assembly_.bodies.inertias.data() + first;
    job.momenta = assembly_.bodies.momenta.data() + first;
    job.half_impulses = assembly_.bodies.half_impulses.data() + first;
    job.inverse_margins = lists_.inverse_margins() + first;
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
  follow();
}

void Clock::follow() {
  if (assembly_.elements.used()) assembly_.elements.follow(assembly_.bodies, dt);
  for (Wall& wall : assembly_.walls) wall.move(dt);
  lists_.moved(next_, dt);
  forces_.moved(next_, dt);
}

void Clock::forces_and(Then then) {
  const std::size_t bodies = assembly_.bodies.size();
  speeds_.assign((bodies + block_rows - 1) / block_rows, {});
  const double step = then == Then::prime ? 0 : dt;
  if (assembly_.elements.used()) {  // the elements of a body may belong to two blocks of forces
    forces_.compute(step, [](std::size_t, std::size_t) {});
    each_block(bodies, block_rows, [&](std::size_t begin, std::size_t end, std::size_t) { finish(begin, end, then); });
  } else {
    forces_.compute(step, [&](std::size_t begin, std::size_t end) {  // a block of forces has whole blocks of bodies
      for (std::size_t row = begin; row < end; row += block_rows) finish(row, std::min(end, row + block_rows), then);
    });
  }
  next_ = {};
  for (const Speed& speed : speeds_) next_ = larger(next_, speed);
}

void Clock::finish(std::size_t begin, std::size_t end, Then then) {
  // A few rows at a time, so that their data stay in the level-1 cache.
  constexpr std::size_t few = 64;
  Speed& speed = speeds_[begin / block_rows];
  for (std::size_t row = begin; row < end; row += few)
    speed = larger(speed, finish_few(row, std::min(end, row + few), then));
}

Speed Clock::finish_few(std::size_t begin, std::size_t end, Then then) {
  const Elements& elements = assembly_.elements;
  const Load* loads = forces_.loads() + begin;
  static thread_local std::vector<Load> sums;
  if (elements.used()) {
    forces_.gather(elements.offsets[begin], elements.offsets[end]);
    sums.resize(end - begin);
    for (std::size_t row = begin; row < end; ++row) sums[row - begin] = forces_.load_of(row);
    loads = sums.data();
  } else {
    forces_.gather(begin, end);
  }
  const Speed speed = kick_rows(begin, end, loads, then == Then::prime);
  // Bodies whose velocity is not finite stay where they are, so that positions are finite in any case.
  if (then == Then::kick_and_drift && speed.finite) drift_rows(begin, end);
  return speed;
}

// Computes the velocities at the end of the step. Returns the largest speeds in the next half step.
Speed Clock::kick_rows(std::size_t begin, std::size_t end, const Load* loads, bool priming) {
  Speed fastest;
  half_steps(begin, end, [&](HalfStepJob& job, std::size_t first) {
    job.loads = loads + (first - begin);
    job.priming = priming;
    kernels().kick(job);
    fastest = larger(fastest, {std::sqrt(job.fastest), std::sqrt(job.fastest_in_margins), std::isfinite(job.sum)});
  });
  if (!assembly_.elements.used()) return fastest;
  for (std::size_t row = begin; row < end; ++row) {
    const double speed = assembly_.speed_of(row);
    fastest = larger(fastest, {speed, speed * lists_.inverse_margins()[row]});
  }
  return fastest;
}

}  // namespace vicinal::dem
