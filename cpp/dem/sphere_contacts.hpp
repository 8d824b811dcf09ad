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
  Real c[4];
  Lanes::gather([&](std::size_t lane) -> const Spring& { return springs[entry[lane]]; }, c);
  return {c[0], c[1], c[2]};
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline void keep(Spring* springs, const Number* entry, Triple<Real> stretch) {
  Lanes::scatter({stretch.x, stretch.y, stretch.z, Lanes::all(0)},
                 [&](std::size_t lane) -> Spring& { return springs[entry[lane]]; });
}

template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Turned<Real> turnings_of(const Turning* turnings, const Number* entry) {
  Real c[4];
  Lanes::gather([&](std::size_t lane) -> const Turning& { return turnings[entry[lane]]; }, c);
  return {{c[0], c[1], c[2]}, c[3]};
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline void keep(Turning* turnings, const Number* entry, const Turned<Real>& turned) {
  Lanes::scatter({turned.rolled.x, turned.rolled.y, turned.rolled.z, turned.twisted},
                 [&](std::size_t lane) -> Turning& { return turnings[entry[lane]]; });
}

template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline LaneCoefficients<Real> coefficients_of(const Coefficients* table, const Number* which) {
  Real a[4], b[4];
  Lanes::gather([&](std::size_t lane) -> const SpringCoefficients& { return table[which[lane]]; }, a);
  Lanes::gather([&](std::size_t lane) -> const FrictionCoefficients& { return table[which[lane]]; }, b);
  const auto more = [&](const double& column) { return Lanes::pick(&column, coefficient_stride, which); };
  return {a[0],
          a[1],
          a[2],
          a[3],
          b[0],
          b[1],
          b[2],
          b[3],
          more(table->cohesion),
          more(table->torsion),
          more(table->softness_t)};
}
template <class Lanes, class Real = typename Lanes::Real>
LaneCoefficients<Real> uniform_coefficients(const Coefficients& p) {
  const auto all = [](double a) { return Lanes::all(a); };
  return {all(p.kn),       all(p.kt),      all(p.rate_n),   all(p.rate_t),  all(p.damping_n), all(p.damping_t),
          all(p.friction), all(p.rolling), all(p.cohesion), all(p.torsion), all(p.softness_t)};
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
  Load actions[size];              // force on the first; torque for an arm of 1
  Load moments[size];              // moment on the first, without a force
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
    const Real ri = between.ri, rj = between.rj;
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
    const auto of = [&](const Number* which, auto part) {
      return [=, this](std::size_t lane) -> const auto& { return job_.motions[which[lane]].*part; };
    };
    const auto difference = [&](auto part) {
      Real d[4];
      Lanes::gather_difference(of(i, part), of(j, part), d);
      return Triple<Real>{d[0], d[1], d[2]};
    };
    Real wi[4], wj[4];
    Lanes::gather(of(i, &Motion::w), wi);
    Lanes::gather(of(j, &Motion::w), wj);
    const Real sum[4] = {wi[0] + wj[0], wi[1] + wj[1], wi[2] + wj[2], wi[3] + wj[3]};
    const Real to_i = Lanes::load_lanes(chunk_.arm_i + c), to_j = Lanes::load_lanes(chunk_.arm_j + c);
    // The sum of arm × spin of both bodies; its cross product with the normal is the relative velocity due to spin.
    const auto at_surface = [&](const Real(&a)[4], const Real(&b)[4]) {
      return Triple<Real>{to_i * a[0] + to_j * b[0], to_i * a[1] + to_j * b[1], to_i * a[2] + to_j * b[2]};
    };
    const auto normal = get<Lanes>(chunk_.normal, c);
    const auto relative = difference(&Motion::v), surface = at_surface(wi, wj);
    // The normal of the half step: the line of centres turns by half the angle of a step.
    const auto sideways = relative - dot(relative, normal) * normal;
    const auto midway = normal + (half * dt * Lanes::load_lanes(chunk_.closeness + c)) * sideways;
    auto rate = relative + difference(&Motion::dv);
    if constexpr (dashpots) {
      Real dwi[4], dwj[4];
      Lanes::gather(of(i, &Motion::dw), dwi);
      Lanes::gather(of(j, &Motion::dw), dwj);
      rate = rate + cross(surface + at_surface(dwi, dwj), normal);
    }
    Lanes::store_lanes(Lanes::all(1) / sum[3], chunk_.mass + c);
    set<Lanes>(chunk_.midway, c, midway);
    set<Lanes>(chunk_.travel, c, dt * (relative + cross(surface, midway)));
    Lanes::store_lanes(half * dt * dot(Triple<Real>{sum[0], sum[1], sum[2]}, normal), chunk_.turn + c);
    set<Lanes>(chunk_.rate, c, rate);
    if (!rolls()) return;
    const Triple<Real> rolling{wi[0] - wj[0], wi[1] - wj[1], wi[2] - wj[2]};
    set<Lanes>(chunk_.rolled, c, dt * rolling);
    set<Lanes>(chunk_.rolling_rate, c, rolling + difference(&Motion::dw));
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
    const auto put = [&](Triple<Real> value, Load* rows, MarkedSum Load::* part) {  // 1: the mark of a load
      Lanes::scatter({value.x, value.y, value.z, Lanes::all(1)},
                     [=](std::size_t lane) -> MarkedSum& { return rows[c + lane].*part; });
    };
    put(response.force, chunk_.actions, &Load::force);
    put(cross(touch.normal, response.tangential), chunk_.actions, &Load::torque);
    if constexpr (extras) put(response.moment, chunk_.moments, &Load::torque);
  }

  void act(std::size_t c) {
    using LoadPair = typename Lanes::LoadPair;
    // One by one, in the order of the list, so that the sums do not depend on the number of lanes.
    for (std::size_t one = c; one < c + width; ++one) {
      const LoadPair action = LoadPair::load(chunk_.actions[one]);
      LoadPair on_i = action.scaled(1, chunk_.arm_i[one]), on_j = action.scaled(-1, chunk_.arm_j[one]);
      if constexpr (extras) {
        const LoadPair moment = LoadPair::load(chunk_.moments[one]);
        on_i = on_i + moment;
        on_j = on_j + moment.scaled(1, -1);
      }
      const Number j = j_[one];
      Load& first = job_.loads[i_[one]];
      (LoadPair::load(first) + on_i).store(first);
      if (j < job_.block_end) {
        Load& second = job_.loads[j];
        (LoadPair::load(second) + on_j).store(second);
      } else {
        on_j.store(job_.remote[job_.slots[entry_[one]]]);
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
