// Contacts between spheres: geometry, law, forces. The code works for any number of lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/laws/laws.hpp"
#include "dem/passes.hpp"
#include "dem/search.hpp"
#include "exec/prefetch.hpp"

namespace vicinal::dem {
namespace {

template <class Law, bool dashpots, bool extras, class Lanes>
class SpherePasses : Passes<Law, dashpots, extras, Lanes> {
  using Base = Passes<Law, dashpots, extras, Lanes>;
  using Base::chunk_, Base::put, Base::remembers, Base::respond_to_all, Base::rolls, Base::width;
  using typename Base::Chunk;
  using Real = typename Lanes::Real;

 public:
  explicit SpherePasses(const SphereJob& job) : Base(job), job_(job), periodic_(job.period.any()) {}

  // Lanes beyond `count` repeat the last contact; they change its springs in the same way and are not added to loads.
  void run(std::size_t from, std::size_t count) {
    i_ = job_.i + from;
    j_ = job_.j + from;
    entry_ = job_.entry + from;
    left_ = job_.size - from;
    const std::size_t before = job_.endings;
    for (std::size_t c = 0; c < count; c += width) place(c, count);
    for (std::size_t c = 0; c < count; c += width) move(c);
    respond_to_all(
        count, entry_, job_.uniform, [this](std::size_t c) { return coefficients(c); },
        [this](std::size_t c, const Forced<Real>& forced, const Triple<Real>& normal) { share(c, forced, normal); });
    for (std::size_t e = before; e < job_.endings; ++e) {
      const Number c = job_.ended[e];
      chunk_.actions[c] = chunk_.moments[c] = {};
      job_.ended[e] = entry_[c];
    }
    for (std::size_t c = 0; c < count; ++c) act(c);
  }
  [[nodiscard]] std::size_t endings() const { return job_.endings; }

 private:
  void place(std::size_t c, std::size_t count) {
    const Number *const i = i_ + c, *const j = j_ + c;
    const auto between = apart<Lanes>(job_.places, i, j, job_.period, periodic_);
    const Real ri = between.ri, rj = between.rj;
    // Most bodies of a contact are close in memory, but not all: those of the next chunk are loaded meanwhile.
    for (std::size_t lane = 0; lane < width && c + Chunk::size + width <= left_; ++lane) {
      const Number next = j[Chunk::size + lane], entry = entry_[c + Chunk::size + lane];
      prefetch_to_read(job_.places + next);
      prefetch_to_read(&job_.motions[next].v);
      prefetch_to_read(&job_.motions[next].dv);
      if (remembers()) prefetch_to_write(job_.springs + entry);
      prefetch_to_write(job_.loads + job_.targets[entry]);
    }
    const Real half = Lanes::all(0.5);
    const Real square = dot(between.way, between.way);
    const unsigned touching = Lanes::bits(between.reach * between.reach > square);
    if (touching != (1u << width) - 1) {
      for (std::size_t lane = 0; lane < width && c + lane < count; ++lane)
        if ((touching >> lane & 1) == 0) job_.ended[job_.endings++] = static_cast<Number>(c + lane);
    }
    const Real distance = root(square);
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
    Lanes::store_lanes(sum[3], chunk_.inverse_mass + c);
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

  // The force on the second, and the torque on both for an arm of 1.
  void share(std::size_t c, const Forced<Real>& forced, const Triple<Real>& normal) {
    put(forced.force, [&](std::size_t lane) -> Vec4& { return chunk_.actions[c + lane].force; });
    put(cross(forced.tangential, normal), [&](std::size_t lane) -> Vec4& { return chunk_.actions[c + lane].torque; });
  }

  // Contacts are added one by one, in the order of the list, so that the sums do not depend on the number of lanes.
  void act(std::size_t c) {
    using LoadPair = typename Lanes::LoadPair;
    const LoadPair action = LoadPair::load(chunk_.actions[c]);
    LoadPair on_i = action.scaled(-1, chunk_.arm_i[c]), on_j = action.scaled(1, chunk_.arm_j[c]);
    if constexpr (extras) {
      const LoadPair moment = LoadPair::load(chunk_.moments[c]);
      on_i = on_i + moment;
      on_j = on_j + moment.scaled(1, -1);
    }
    Load& first = job_.loads[i_[c]];
    (LoadPair::load(first) + on_i).store(first);
    Load& second = job_.loads[job_.targets[entry_[c]]];
    (LoadPair::load(second) + on_j).store(second);
  }

  SphereJob job_;  // a local copy: stores cannot alias it
  const bool periodic_;
  const Number *i_ = nullptr, *j_ = nullptr, *entry_ = nullptr;
  std::size_t left_ = 0;  // number of contacts from here on
};

template <class Law, bool dashpots, bool extras, class Lanes>
void contacts_of(SphereJob& job) {
  SpherePasses<Law, dashpots, extras, Lanes> passes(job);
  for (std::size_t c = 0; c < job.size; c += ChunkOf<Lanes>::size)
    passes.run(c, job.size - c < ChunkOf<Lanes>::size ? job.size - c : ChunkOf<Lanes>::size);
  job.endings = passes.endings();
}

template <class Law, class Lanes>
void sphere_contacts(SphereJob& job) {
  const Terms& terms = job.terms;
  const bool extras = terms.extra();
  if (terms.dashpot) extras ? contacts_of<Law, true, true, Lanes>(job) : contacts_of<Law, true, false, Lanes>(job);
  else extras ? contacts_of<Law, false, true, Lanes>(job) : contacts_of<Law, false, false, Lanes>(job);
}

template <class Lanes>
void add_shares(const ShareJob& job) {
  using LoadPair = typename Lanes::LoadPair;
  for (std::size_t s = 0; s < job.size; ++s) {
    Load& load = job.loads[job.receivers[s]];
    (LoadPair::load(load) + LoadPair::load(job.shares[s])).store(load);
    job.shares[s] = {};
  }
}

}  // namespace
}  // namespace vicinal::dem
