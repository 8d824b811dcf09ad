// The fused loop over contacts between spheres: geometry, law, forces. The code works for any number of lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/laws/laws.hpp"
#include "dem/laws/response.hpp"
#include "dem/search.hpp"

namespace vicinal::dem {
namespace {

// One vector per lane, from rows whose fourth number is not needed.
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> vectors(const typename Lanes::Row (&rows)[Lanes::width]) {
  Real c[4];
  Lanes::columns(rows, c);
  return {c[0], c[1], c[2]};
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> springs_of(const Spring* springs, const Number* entry) {
  typename Lanes::Row rows[Lanes::width];
  for (std::size_t lane = 0; lane < Lanes::width; ++lane) rows[lane] = Lanes::load(springs[entry[lane]]);
  return vectors<Lanes>(rows);
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline void keep(Spring* springs, const Number* entry, Triple<Real> stretch) {
  typename Lanes::Row rows[Lanes::width];
  Lanes::rows({stretch.x, stretch.y, stretch.z, Lanes::all(0)}, rows);
  for (std::size_t lane = 0; lane < Lanes::width; ++lane) Lanes::store(springs[entry[lane]], rows[lane]);
}

template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Turned<Real> turnings_of(const Turning* turnings, const Number* entry) {
  typename Lanes::Row rows[Lanes::width];
  for (std::size_t lane = 0; lane < Lanes::width; ++lane) rows[lane] = Lanes::load(turnings[entry[lane]]);
  Real c[4];
  Lanes::columns(rows, c);
  return {{c[0], c[1], c[2]}, c[3]};
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline void keep(Turning* turnings, const Number* entry, const Turned<Real>& turned) {
  typename Lanes::Row rows[Lanes::width];
  Lanes::rows({turned.rolled.x, turned.rolled.y, turned.rolled.z, turned.twisted}, rows);
  for (std::size_t lane = 0; lane < Lanes::width; ++lane) Lanes::store(turnings[entry[lane]], rows[lane]);
}

template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline LaneCoefficients<Real> coefficients_of(const Coefficients* table, const Number* which) {
  typename Lanes::Row rows[Lanes::width];
  Real a[4], b[4];
  for (std::size_t lane = 0; lane < Lanes::width; ++lane)
    rows[lane] = Lanes::template load<SpringCoefficients>(table[which[lane]]);
  Lanes::columns(rows, a);
  for (std::size_t lane = 0; lane < Lanes::width; ++lane)
    rows[lane] = Lanes::template load<FrictionCoefficients>(table[which[lane]]);
  Lanes::columns(rows, b);
  const auto more = [&](const double& column) { return Lanes::pick(&column, coefficient_stride, which); };
  return {a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], more(table->cohesion), more(table->torsion)};
}
template <class Lanes, class Real = typename Lanes::Real>
LaneCoefficients<Real> uniform_coefficients(const Coefficients& p) {
  const auto all = [](double a) { return Lanes::all(a); };
  return {all(p.kn),        all(p.kt),       all(p.rate_n),  all(p.rate_t),   all(p.damping_n),
          all(p.damping_t), all(p.friction), all(p.rolling), all(p.cohesion), all(p.torsion)};
}

// Intermediate results of a few contacts, stored in columns.
struct Chunk {
  static constexpr std::size_t size = 64;
  using Column = double[size];
  struct Vectors {
    Column x, y, z;
  };
  Vectors normal, midway, travel, rate, rolled, rolling_rate;  // see Touch
  Column overlap, mass, radius, turn;
  Column closeness, arm_i, arm_j;  // 1 / distance of the centres; distances of the centres from the point of contact
  Vectors force, twist, moment;    // force on the first; torque for an arm of 1; moment on the first
};
template <class Lanes>
[[gnu::always_inline]] inline Triple<typename Lanes::Real> get(const Chunk::Vectors& v, std::size_t c) {
  return {Lanes::load_lanes(v.x + c), Lanes::load_lanes(v.y + c), Lanes::load_lanes(v.z + c)};
}
template <class Lanes>
[[gnu::always_inline]] inline void set(Chunk::Vectors& v, std::size_t c, Triple<typename Lanes::Real> value) {
  Lanes::store_lanes(value.x, v.x + c);
  Lanes::store_lanes(value.y, v.y + c);
  Lanes::store_lanes(value.z, v.z + c);
}

// Processes a few contacts of a job in several passes over a chunk. Each pass is a short chain of operations, so the
// processor can overlap several groups of lanes; a single long pass would wait for its square roots and divisions.
template <class Law, bool dashpots, bool extras, class Lanes>
class SpherePasses {
  using Real = typename Lanes::Real;
  using Row = typename Lanes::Row;
  static constexpr std::size_t width = Lanes::width;

 public:
  explicit SpherePasses(const SphereJob& job) : job_(job), periodic_(job.period.any()) {}

  void run(std::size_t from, std::size_t count) {
    i_ = job_.i + from;
    j_ = job_.j + from;
    entry_ = job_.entry + from;
    for (std::size_t c = 0; c < count; c += width) place(c);
    for (std::size_t c = 0; c < count; c += width) move(c);
    const auto same = uniform_coefficients<Lanes>(job_.uniform != nullptr ? *job_.uniform : *job_.table);
    for (std::size_t c = 0; c < count; c += width) respond_to(c, job_.uniform != nullptr ? same : coefficients(c));
    for (std::size_t c = 0; c < count; c += width) act(c);
  }

 private:
  [[nodiscard]] bool rolls() const { return extras && job_.terms.turning(); }
  [[nodiscard]] bool remembers() const { return !extras || job_.terms.history; }

  void place(std::size_t c) {
    const Number *const i = i_ + c, *const j = j_ + c;
    const auto between = apart<Lanes>(job_.places, i, j, job_.period, periodic_);
    const Real ri = Lanes::pick(&job_.places->r, 4, i), rj = Lanes::pick(&job_.places->r, 4, j);
    for (std::size_t lane = 0; lane < width; ++lane) {  // the next pass reads these
      prefetch_to_read(&job_.motions[j[lane]].v);
      prefetch_to_read(&job_.motions[j[lane]].dv);
    }
    const Real half = Lanes::all(0.5);
    const Real distance = root(dot(between.way, between.way));
    const Real closeness = Lanes::all(1) / distance;
    const Real overlap = between.reach - distance;
    set<Lanes>(chunk_.normal, c, closeness * between.way);
    Lanes::store_lanes(closeness, chunk_.closeness + c);
    Lanes::store_lanes(overlap, chunk_.overlap + c);
    if constexpr (Law::reads_radius || extras) Lanes::store_lanes(ri * rj / between.reach, chunk_.radius + c);
    Lanes::store_lanes(ri - half * overlap, chunk_.arm_i + c);
    Lanes::store_lanes(rj - half * overlap, chunk_.arm_j + c);
  }

  void move(std::size_t c) {
    const Number *const i = i_ + c, *const j = j_ + c;
    const Real half = Lanes::all(0.5), dt = Lanes::all(job_.dt);
    // Relative motion, computed in rows.
    Row relative_rows[width], rate_rows[width], surface_rows[width], surface_rate_rows[width], sum_rows[width];
    for (std::size_t lane = 0; lane < width; ++lane) {
      const Motion &mi = job_.motions[i[lane]], &mj = job_.motions[j[lane]];
      const Row wi = Lanes::load(mi.w), wj = Lanes::load(mj.w);
      const Row to_i = Lanes::spread(chunk_.arm_i[c + lane]), to_j = Lanes::spread(chunk_.arm_j[c + lane]);
      relative_rows[lane] = Lanes::load(mi.v) - Lanes::load(mj.v);
      rate_rows[lane] = relative_rows[lane] + (Lanes::load(mi.dv) - Lanes::load(mj.dv));
      surface_rows[lane] = to_i * wi + to_j * wj;
      sum_rows[lane] = wi + wj;
      if constexpr (dashpots)
        surface_rate_rows[lane] = surface_rows[lane] + (to_i * Lanes::load(mi.dw) + to_j * Lanes::load(mj.dw));
    }
    Real sum[4];
    Lanes::columns(sum_rows, sum);
    const auto normal = get<Lanes>(chunk_.normal, c);
    const auto relative = vectors<Lanes>(relative_rows), surface = vectors<Lanes>(surface_rows);
    // The normal of the half step: the line of centres turns by half the angle of a step.
    const auto sideways = relative - dot(relative, normal) * normal;
    const auto midway = normal + (half * dt * Lanes::load_lanes(chunk_.closeness + c)) * sideways;
    auto rate = vectors<Lanes>(rate_rows);
    if constexpr (dashpots) rate = rate + cross(vectors<Lanes>(surface_rate_rows), normal);
    Lanes::store_lanes(Lanes::all(1) / sum[3], chunk_.mass + c);
    set<Lanes>(chunk_.midway, c, midway);
    set<Lanes>(chunk_.travel, c, dt * (relative + cross(surface, midway)));
    Lanes::store_lanes(half * dt * dot(Triple<Real>{sum[0], sum[1], sum[2]}, normal), chunk_.turn + c);
    set<Lanes>(chunk_.rate, c, rate);
    if (!rolls()) return;
    for (std::size_t lane = 0; lane < width; ++lane) {
      const Motion &mi = job_.motions[i[lane]], &mj = job_.motions[j[lane]];
      surface_rows[lane] = Lanes::load(mi.w) - Lanes::load(mj.w);
      rate_rows[lane] = surface_rows[lane] + (Lanes::load(mi.dw) - Lanes::load(mj.dw));
    }
    set<Lanes>(chunk_.rolled, c, dt * vectors<Lanes>(surface_rows));
    set<Lanes>(chunk_.rolling_rate, c, vectors<Lanes>(rate_rows));
  }

  LaneCoefficients<Real> coefficients(std::size_t c) const {
    Number which[width];
    for (std::size_t lane = 0; lane < width; ++lane)
      which[lane] = static_cast<Number>(job_.materials[i_[c + lane]] * job_.table_edge + job_.materials[j_[c + lane]]);
    return coefficients_of<Lanes>(job_.table, which);
  }

  void respond_to(std::size_t c, const LaneCoefficients<Real>& p) {
    const Number* const entry = entry_ + c;
    const Triple<Real> none{Lanes::all(0), Lanes::all(0), Lanes::all(0)};
    Touch<Real> touch;
    touch.normal = get<Lanes>(chunk_.normal, c);
    touch.midway = get<Lanes>(chunk_.midway, c);
    touch.travel = get<Lanes>(chunk_.travel, c);
    touch.rate = get<Lanes>(chunk_.rate, c);
    touch.overlap = Lanes::load_lanes(chunk_.overlap + c);
    touch.mass = Lanes::load_lanes(chunk_.mass + c);
    if constexpr (Law::reads_radius || extras) touch.radius = Lanes::load_lanes(chunk_.radius + c);
    touch.turn = Lanes::load_lanes(chunk_.turn + c);
    touch.step = Lanes::all(job_.dt);
    touch.rolled = rolls() ? get<Lanes>(chunk_.rolled, c) : none;
    touch.rolling_rate = rolls() ? get<Lanes>(chunk_.rolling_rate, c) : none;
    auto spring = remembers() ? springs_of<Lanes>(job_.springs, entry) : none;
    auto turned = rolls() ? turnings_of<Lanes>(job_.turnings, entry) : Turned<Real>{none, none.x};
    const auto response = respond<Law, dashpots, extras, Lanes>(p, touch, job_.terms, spring, turned);
    if (remembers()) keep<Lanes>(job_.springs, entry, spring);
    if (rolls()) keep<Lanes>(job_.turnings, entry, turned);
    set<Lanes>(chunk_.force, c, response.force);
    set<Lanes>(chunk_.twist, c, cross(touch.normal, response.tangential));
    if constexpr (extras) set<Lanes>(chunk_.moment, c, response.moment);
  }

  void act(std::size_t c) {
    const auto rows_of = [&](const Chunk::Vectors& v, Row(&rows)[width]) {
      const auto value = get<Lanes>(v, c);
      Lanes::rows({value.x, value.y, value.z, Lanes::all(1)}, rows);  // 1: the mark of a load
    };
    Row force[width], torque[width], moment[width];
    rows_of(chunk_.force, force);
    rows_of(chunk_.twist, torque);
    if constexpr (extras) rows_of(chunk_.moment, moment);
    // Lane by lane, in the order of the list, so that the sums do not depend on the number of lanes.
    for (std::size_t lane = 0; lane < width; ++lane) {
      Row on_i = Lanes::spread(chunk_.arm_i[c + lane]) * torque[lane];
      Row on_j = Lanes::spread(chunk_.arm_j[c + lane]) * torque[lane];
      if constexpr (extras) {
        on_i = on_i + moment[lane];
        on_j = on_j - moment[lane];
      }
      const Number j = j_[c + lane];
      Load& first = job_.loads[i_[c + lane]];
      Lanes::store(first.force, Lanes::load(first.force) + force[lane]);
      Lanes::store(first.torque, Lanes::load(first.torque) + on_i);
      if (j < job_.block_end) {
        Load& second = job_.loads[j];
        Lanes::store(second.force, Lanes::load(second.force) - force[lane]);
        Lanes::store(second.torque, Lanes::load(second.torque) + on_j);
      } else {
        Load& second = job_.remote[job_.slots[entry_[c + lane]]];
        Lanes::store(second.force, Lanes::spread(0) - force[lane]);
        Lanes::store(second.torque, on_j);
      }
    }
  }

  const SphereJob job_;  // a local copy: stores cannot alias it
  const bool periodic_;
  const Number *i_ = nullptr, *j_ = nullptr, *entry_ = nullptr;
  Chunk chunk_;
};

template <class Law, bool dashpots, bool extras, class Lanes>
std::size_t contacts_of(const SphereJob& job, std::size_t c) {
  SpherePasses<Law, dashpots, extras, Lanes> passes(job);
  while (c + Lanes::width <= job.size) {
    const std::size_t whole = (job.size - c) / Lanes::width * Lanes::width;
    const std::size_t count = whole < Chunk::size ? whole : Chunk::size;
    passes.run(c, count);
    c += count;
  }
  return c;
}

// Processes full groups of lanes from contact c on; returns the first contact that is left.
template <class Law, class Lanes>
std::size_t sphere_contacts_from(const SphereJob& job, std::size_t c) {
  const Terms& terms = job.terms;
  const bool extras = terms.turning() || terms.cohesion || !terms.history;
  if (terms.dashpot)
    return extras ? contacts_of<Law, true, true, Lanes>(job, c) : contacts_of<Law, true, false, Lanes>(job, c);
  return extras ? contacts_of<Law, false, true, Lanes>(job, c) : contacts_of<Law, false, false, Lanes>(job, c);
}

}  // namespace
}  // namespace vicinal::dem
