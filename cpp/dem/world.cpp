// The step of time, and the life of the lists.
#include "dem/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "dem/kernels.hpp"
#include "dem/parallel.hpp"
#include "geometry/morton.hpp"

namespace vicinal::dem {

void World::stash() {
  if (!has_lists_) return;
  stashed_pairs = pairs_.history();
  stashed_walls = wall_rows_.history();
  has_lists_ = false;
}

void World::take(std::span<const Number> rows) {
  stash();
  // Elements move with their bodies.
  std::vector<Number> element_rows;
  if (elements.used()) {
    for (const Number row : rows)
      for (std::size_t e = elements.offsets[row]; e < elements.offsets[row + 1]; ++e)
        element_rows.push_back(static_cast<Number>(e));
  } else {
    element_rows.assign(rows.begin(), rows.end());
  }
  std::vector<Number> now(element_places().size(), nobody);
  for (std::size_t k = 0; k < element_rows.size(); ++k) now[element_rows[k]] = static_cast<Number>(k);

  stashed_pairs.renumber([&](Number& first, Number& second, Spring& spring, Spring& rolling, Vec& normal) {
    first = now[first];
    second = now[second];
    if (first == nobody || second == nobody) return false;
    if (first > second) {  // the other one is first now: what i did to j is what j did to i, reversed
      std::swap(first, second);
      const auto reverse = [](Spring& s) { s = -Vec(s); };
      reverse(spring);
      reverse(rolling);
      normal = -normal;
    }
    return true;
  });
  stashed_walls.renumber([&](Number& first, Number&, Spring&, Spring&, Vec&) {
    first = now[first];
    return first != nobody;
  });
  elements.take(rows);
  bodies.take(rows);
}

std::vector<Number> World::curve_order(double cell) const {
  std::vector<std::pair<std::uint64_t, Number>> keys(bodies.size());
  Vec low{INFINITY, INFINITY, INFINITY};
  for (const Place& p : bodies.places) low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
  constexpr double most = (1 << 21) - 1;
  const auto number = [&](double x, double from) {
    return static_cast<std::uint32_t>(std::clamp((x - from) / cell, 0.0, most));
  };
  for (std::size_t row = 0; row < keys.size(); ++row) {
    const Place& p = bodies.places[row];
    keys[row] = {morton_code<3>({number(p.x, low.x), number(p.y, low.y), number(p.z, low.z)}),
                 static_cast<Number>(row)};
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Number> order(keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k) order[k] = keys[k].second;
  return order;
}

void World::wrap() {
  if (!period.any()) return;
  const auto folded = [](double x, double edge) {
    if (edge <= 0) return x;
    const double inside = x - edge * std::floor(x / edge);
    return inside >= edge ? 0.0 : inside;
  };
  for (Place& p : bodies.places)
    p = {folded(p.x, period.edge[0]), folded(p.y, period.edge[1]), folded(p.z, period.edge[2]), p.r};
}

void World::set_lists(const RowsView& pairs, const RowsView& wall_rows, std::span<const double> centres,
                      std::span<const double> margins, double wall_margin, double wall_drift) {
  stash();
  pairs_.set(pairs, law.terms().rolling, any_convex, stashed_pairs);
  wall_rows_.set(wall_rows, law.terms().rolling, true, stashed_walls);
  stashed_pairs.clear();
  stashed_walls.clear();
  const std::size_t size = acting().size;
  remote_.set(pairs_, size, force_block_rows(size));
  loads_.assign(size, Load{});
  describe_blocks();
  watch_.remember(centres, {}, 0, false);  // bodies are wrapped only when lists are made: their ways are straight
  margins_.reset(margins.size());
  std::copy(margins.begin(), margins.end(), margins_.data());
  wall_margin_ = wall_margin;
  wall_drift_ = wall_drift;
  inverse_margins_.resize(bodies.size());
  for (std::size_t b = 0; b < bodies.size(); ++b)
    inverse_margins_[b] = 1.0 / margins_[elements.used() ? elements.offsets[b] : b];
  bound_.start(largest_share_used());
  has_lists_ = true;
}

void World::describe_blocks() {
  const Acting act = acting();
  wakes_.assign(wall_rows_.size(), 0.0);
  row_wakes_.assign(act.size, 0.0);
  odometer_ = 0;
  const std::size_t size = force_block_rows(act.size);
  block_coefficients_.assign((act.size + size - 1) / size, nobody);
  for (std::size_t block = 0; block < block_coefficients_.size(); ++block) {
    const std::size_t begin = pairs_.begin(block * size);
    const std::size_t end = pairs_.begin(std::min(act.size, (block + 1) * size));
    const auto which = [&](std::size_t k) {
      return law.row(act.materials[pairs_.owners()[k]], act.materials[pairs_.indices()[k]]);
    };
    std::size_t k = begin;
    while (k < end && which(k) == which(begin)) ++k;
    if (k == end && begin < end) block_coefficients_[block] = which(begin);
  }
  kinds_.resize(act.size);
  for (std::size_t e = 0; e < act.size; ++e) kinds_[e] = shape_of(e).kind;
  poses_.resize(any_convex ? act.size : 0);
  for (std::size_t e = 0; e < poses_.size(); ++e) {
    const Shape& shape = shape_of(e);
    poses_[e] = {{0, 0, 1, is_convex(e) ? shape.margin : act.places[e].r},
                 {shape.band, shape.cap, shape.cap_centre, shape.rim}};
  }
  round_blocks_.assign((bodies.size() + block_rows - 1) / block_rows, 1);
  for (std::size_t row = 0; row < bodies.size(); ++row)
    if (!bodies.isotropic(row)) round_blocks_[row / block_rows] = 0;
}

World::Acting World::acting() const {
  if (elements.used())
    return {elements.places.data(), elements.motions.data(), elements.materials.data(), elements.size()};
  return {bodies.places.data(), bodies.motions.data(), bodies.materials.data(), bodies.size()};
}

double World::largest_share_used() const {
  const Acting act = acting();
  std::vector<double> centres(3 * act.size);
  for (std::size_t e = 0; e < act.size; ++e) {
    const Vec at = centre(act.places[e]);
    centres[3 * e] = at.x, centres[3 * e + 1] = at.y, centres[3 * e + 2] = at.z;
  }
  return std::sqrt(watch_.drift_each(centres, [&](std::size_t e) { return margins_[e]; }).share);
}

bool World::serves() {
  if (wall_drift_ + wall_speed * dt > wall_margin_) return false;
  return bound_.lasts(next_.in_margins * dt, [&] { return largest_share_used(); });
}

double World::speed_of(std::size_t body) const {
  const Motion& m = bodies.motions[body];
  // The spin changes little between two steps; a tenth more covers it.
  const double tips = elements.used() ? 1.1 * norm(m.w + m.dw) * bodies.places[body].r : 0;
  return norm(m.v + m.dv) + tips;
}

std::vector<double> World::speeds() const {
  std::vector<double> found(bodies.size());
  for (std::size_t b = 0; b < found.size(); ++b) found[b] = speed_of(b);
  return found;
}

void World::prime() {
  for (Motion& m : bodies.motions) m.dv = m.dw = Vec{};
  for (std::size_t row = 0; row < bodies.size(); ++row) {
    if (bodies.isotropic(row)) continue;
    const Quat q = bodies.orientations[row];
    const Vec own = rotate(conjugate(q), bodies.motions[row].w), inertia = bodies.inertias[row];
    bodies.momenta[row] = rotate(q, {inertia.x * own.x, inertia.y * own.y, inertia.z * own.z});
  }
  place_elements();
  forces(0);
  finish(true);
  primed = true;
}

std::int64_t World::advance(std::int64_t most) {
  if (!has_lists_) return 0;
  if (!primed) prime();
  next_ = {};
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const double speed = speed_of(b);
    next_ = {std::max(next_.most, speed), std::max(next_.in_margins, speed * inverse_margins_[b])};
  }
  for (auto* wakes : {&wakes_, &row_wakes_}) std::fill(wakes->begin(), wakes->end(), 0.0);  // walls may have changed
  for (std::int64_t done = 0; done < most; ++done) {
    throw_if_interrupted();
    if (!serves()) return done;
    step();
  }
  return most;
}

// Jobs for the rows of a block, each for rows of one kind.
template <class F>
void World::half_steps(std::size_t begin, std::size_t end, F&& f) {
  const bool all_round = round_blocks_[begin / block_rows] != 0;
  for (std::size_t first = begin, last; first < end; first = last) {
    const bool round = bodies.isotropic(first);
    last = all_round ? end : first + 1;
    while (last < end && bodies.isotropic(last) == round) ++last;
    HalfStepJob job;
    job.size = last - first;
    job.round = round;
    job.places = bodies.places.data() + first;
    job.motions = bodies.motions.data() + first;
    job.orientations = bodies.orientations.data() + first;
    job.inertias = bodies.inertias.data() + first;
    job.momenta = bodies.momenta.data() + first;
    job.half_impulses = bodies.half_impulses.data() + first;
    job.inverse_margins = inverse_margins_.data() + first;
    job.gravity = gravity;
    job.dt = dt;
    f(job, first);
  }
}

void World::step() {
  each_block(bodies.size(), block_rows, [&](std::size_t begin, std::size_t end, std::size_t) {
    half_steps(begin, end, [](const HalfStepJob& job, std::size_t) { kernels().drift(job); });
  });
  if (elements.used()) elements.follow(bodies, dt);
  for (Wall& wall : walls) wall.move(dt);
  bound_.advance(next_.in_margins * dt);
  wall_drift_ += wall_speed * dt;
  odometer_ += (next_.most + wall_speed) * dt;
  forces(dt);
  finish(false);
  ++steps;
}

Load World::load_of(std::size_t body) const {
  Load sum{};
  for (std::size_t e = elements.offsets[body]; e < elements.offsets[body + 1]; ++e) {
    const Load& load = loads_[e];
    const Vec force = load.force;
    Vec torque = load.torque;
    const Vec arm = elements.arms[e];
    if (dot(arm, arm) > 0) torque += cross(rotate(bodies.orientations[body], arm), force);
    add(sum, force, torque);
  }
  return sum;
}

void World::finish(bool priming) {
  speeds_.assign((bodies.size() + block_rows - 1) / block_rows, {});
  each_block(bodies.size(), block_rows, [&](std::size_t begin, std::size_t end, std::size_t block) {
    const std::size_t first = elements.used() ? elements.offsets[begin] : begin;
    const std::size_t last = elements.used() ? elements.offsets[end] : end;
    remote_.add_to(loads_.data(), first, last);
    const Load* loads = loads_.data() + begin;
    static thread_local std::vector<Load> sums;
    if (elements.used()) {
      sums.resize(block_rows);
      for (std::size_t row = begin; row < end; ++row) sums[row - begin] = load_of(row);
      loads = sums.data();
    }
    speeds_[block] = finish_block(begin, end, loads, priming);
  });
  next_ = {};
  for (const Speed& speed : speeds_)
    next_ = {std::max(next_.most, speed.most), std::max(next_.in_margins, speed.in_margins)};
}

// Velocities at the end of the step. Returns the largest speeds of the next half step.
World::Speed World::finish_block(std::size_t begin, std::size_t end, const Load* loads, bool priming) {
  Speed fastest;
  const auto note = [&](double most, double in_margins) {
    fastest = {std::max(fastest.most, most), std::max(fastest.in_margins, in_margins)};
  };
  half_steps(begin, end, [&](HalfStepJob& job, std::size_t first) {
    job.loads = loads + (first - begin);
    job.priming = priming;
    kernels().kick(job);
    note(std::sqrt(job.fastest), std::sqrt(job.fastest_in_margins));
  });
  if (!elements.used()) return fastest;
  for (std::size_t row = begin; row < end; ++row) note(speed_of(row), speed_of(row) * inverse_margins_[row]);
  return fastest;
}

}  // namespace vicinal::dem
