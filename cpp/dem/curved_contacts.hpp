// Contacts of tablets and spheres at one point: geometry, law, forces. The code works for any number of lanes.
#pragma once

#include <cstddef>

#include "dem/arrays.hpp"
#include "dem/curved.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/laws/laws.hpp"
#include "dem/passes.hpp"
#include "exec/prefetch.hpp"

namespace vicinal::dem {
namespace {

// With both dashpots and extras (passes.hpp) or with neither.
template <class Law, bool extras, class Lanes, class Chained>
class CurvedPasses : Passes<Law, extras, extras, Lanes> {
  using Base = Passes<Law, extras, extras, Lanes>;
  using Base::chunk_, Base::put, Base::respond_to_all, Base::rolls, Base::width;
  using typename Base::Chunk;
  using Real = typename Lanes::Real;
  using Vectors = Triple<Real>;
  static_assert(Chunk::size % Chained::width == 0);

 public:
  explicit CurvedPasses(const CurvedContactJob& job) : Base(job), job_(job) {}

  // Lanes beyond `count` repeat the last contact; they change its springs in the same way and are not added to loads.
  void run(std::size_t from, std::size_t count) {
    const std::size_t before = job_.leavings;
    take(from, count);
    for (std::size_t c = 0; c < count; c += Chained::width) connect(c, from, count);
    for (std::size_t e = before; e < job_.leavings; ++e) set_aside(e - before, job_.left[e].contact - from);
    for (std::size_t c = 0; c < count; c += width) move(c);
    respond_to_all(
        count, entry_, job_.uniform, [this](std::size_t c) { return coefficients(c); },
        [this](std::size_t c, const Forced<Real>& forced, const Vectors&) { share(c, forced.force); });
    for (std::size_t e = before; e < job_.leavings; ++e) put_back(e - before, job_.left[e].contact - from);
    for (std::size_t c = 0; c < count; ++c) act(c);
  }
  [[nodiscard]] std::size_t leavings() const { return job_.leavings; }

 private:
  auto motion(const Number* which, auto part) const {
    return [=, this](std::size_t lane) -> const auto& { return job_.motions[which[lane]].*part; };
  }

  void take(std::size_t from, std::size_t count) {
    const std::size_t end = (count + Chained::width - 1) / Chained::width * Chained::width;
    const auto copy = [=](const Number* column, Number* to) {
      for (std::size_t c = 0; c < count; ++c) to[c] = column[from + c];
      for (std::size_t c = count; c < end; ++c) to[c] = to[count - 1];
    };
    copy(job_.pairs.i, i_);
    copy(job_.pairs.j, j_);
    copy(job_.pairs.entry, entry_);
    for (std::size_t c = 0; c < count; ++c) {  // for the next passes
      prefetch_to_write(job_.springs + entry_[c]);
      prefetch_to_write(job_.loads + job_.targets[entry_[c]]);
    }
  }

  void connect(std::size_t c, std::size_t from, std::size_t count) {
    CurvedPair<Chained> pair(job_.pairs, i_ + c, j_ + c, entry_ + c);
    const auto found = connect_curved<Chained>(pair);
    set<Chained>(chunk_.normal, c, found.normal);
    set<Chained>(arms_, c, found.arm);
    set<Chained>(other_arms_, c, found.other_arm);
    Chained::store_lanes(found.overlap, chunk_.overlap + c);
    const unsigned single = found.known & found.touching & ~found.line;
    for (std::size_t lane = 0; lane < Chained::width && c + lane < count; ++lane) {
      const std::size_t k = c + lane;
      if ((single >> lane & 1) == 0) {
        LeftContact& left = job_.left[job_.leavings++];
        left.arm = {arms_.x[k], arms_.y[k], arms_.z[k], chunk_.overlap[k]};
        left.normal = Vec{chunk_.normal.x[k], chunk_.normal.y[k], chunk_.normal.z[k]};
        left.contact = static_cast<Number>(from + k);
        left.known = (found.known >> lane & 1) != 0;
      } else if (job_.spread[entry_[k]] != 0) {
        job_.gather(*job_.rows, entry_[k]);
      }
    }
  }

  // Contacts that are left keep their history: the passes change it, and it is put back afterwards.
  void set_aside(std::size_t k, std::size_t c) {
    History& kept = kept_[k];
    kept.normal = job_.normals[entry_[c]];
    kept.spring = job_.springs[entry_[c]];
    if (rolls()) kept.turning = job_.turnings[entry_[c]];
  }
  void put_back(std::size_t k, std::size_t c) {
    const History& kept = kept_[k];
    job_.normals[entry_[c]] = kept.normal;
    job_.springs[entry_[c]] = kept.spring;
    if (rolls()) job_.turnings[entry_[c]] = kept.turning;
    chunk_.actions[c] = on_others_[c] = {};
  }

  void move(std::size_t c) {
    const Number *const i = i_ + c, *const j = j_ + c, *const entry = entry_ + c;
    const auto difference = [&](auto part) {
      Real d[4];
      Lanes::gather_difference(motion(i, part), motion(j, part), d);
      return Vectors{d[0], d[1], d[2]};
    };
    const auto stored = [=, this](std::size_t lane) -> Vec4& { return job_.normals[entry[lane]]; };
    const Real dt = Lanes::all(job_.dt);
    Real wi[4], wj[4];
    Lanes::gather(motion(i, &Motion::w), wi);
    Lanes::gather(motion(j, &Motion::w), wj);
    const Vectors at = get<Lanes>(arms_, c), other = get<Lanes>(other_arms_, c);
    const Vectors n = get<Lanes>(chunk_.normal, c), before = gathered<Lanes>(stored);
    const Vectors relative = difference(&Motion::v);
    const Vectors dwi = gathered<Lanes>(motion(i, &Motion::dw)), dwj = gathered<Lanes>(motion(j, &Motion::dw));
    const Vectors spin_i{wi[0], wi[1], wi[2]}, spin_j{wj[0], wj[1], wj[2]};
    const Vectors end_i = spin_i + dwi, end_j = spin_j + dwj;
    put(n, stored);

    set<Lanes>(chunk_.midway, c, halfway<Lanes>(before, n));
    set<Lanes>(chunk_.travel, c, dt * (relative + (cross(spin_i, at) - cross(spin_j, other))));
    set<Lanes>(chunk_.rate, c, (relative + difference(&Motion::dv)) + (cross(end_i, at) - cross(end_j, other)));
    Lanes::store_lanes(wi[3] + wj[3], chunk_.inverse_mass + c);
    Lanes::store_lanes((Lanes::all(0.5) * dt) * dot(spin_i + spin_j, n), chunk_.turn + c);
    if constexpr (Law::reads_radius || extras) {
      const Real ri = Lanes::pick(job_.sizes, 1, i), rj = Lanes::pick(job_.sizes, 1, j);
      Lanes::store_lanes(ri * rj / (ri + rj), chunk_.radius + c);
    }
    if (!rolls()) return;
    set<Lanes>(chunk_.rolled, c, dt * (spin_i - spin_j));
    set<Lanes>(chunk_.rolling_rate, c, end_i - end_j);
  }

  LaneCoefficients<Real> coefficients(std::size_t c) const {
    Number which[width];
    for (std::size_t lane = 0; lane < width; ++lane)
      which[lane] = static_cast<Number>(job_.materials[i_[c + lane]] * job_.table_edge + job_.materials[j_[c + lane]]);
    return coefficients_of<Lanes>(job_.table, which);
  }

  // Forces, and torques about the centres of both.
  void share(std::size_t c, const Vectors& force) {
    const auto in = [c](Load* loads, auto part) {
      return [=](std::size_t lane) -> Vec4& { return loads[c + lane].*part; };
    };
    const Real zero = Lanes::all(0);
    const Vectors none{zero, zero, zero};
    Vectors torque = cross(force, get<Lanes>(arms_, c)), back = cross(get<Lanes>(other_arms_, c), force);
    if constexpr (extras) {
      const Vectors moment = gathered<Lanes>(in(chunk_.moments, &Load::torque));
      torque = torque + moment;
      back = back - moment;
    }
    put(none - force, in(chunk_.actions, &Load::force));
    put(torque, in(chunk_.actions, &Load::torque));
    put(force, in(on_others_, &Load::force));
    put(back, in(on_others_, &Load::torque));
  }

  // Contacts are added one by one, in the order of the list, so that the sums do not depend on the number of lanes.
  void act(std::size_t c) {
    using LoadPair = typename Lanes::LoadPair;
    Load& first = job_.loads[i_[c]];
    (LoadPair::load(first) + LoadPair::load(chunk_.actions[c])).store(first);
    Load& second = job_.loads[job_.targets[entry_[c]]];
    (LoadPair::load(second) + LoadPair::load(on_others_[c])).store(second);
  }

  CurvedContactJob job_;  // a local copy: stores cannot alias it
  Number i_[Chunk::size], j_[Chunk::size], entry_[Chunk::size];
  typename Chunk::Vectors arms_, other_arms_;
  Load on_others_[Chunk::size];
  struct History {
    Vec4 normal;
    Spring spring;
    Turning turning;
  };
  History kept_[Chunk::size];
};

template <class Law, bool extras, class Lanes, class Chained>
void curved_contacts_of(CurvedContactJob& job) {
  CurvedPasses<Law, extras, Lanes, Chained> passes(job);
  const std::size_t size = job.pairs.size;
  for (std::size_t c = 0; c < size; c += ChunkOf<Lanes>::size)
    passes.run(c, size - c < ChunkOf<Lanes>::size ? size - c : ChunkOf<Lanes>::size);
  job.leavings = passes.leavings();
}

template <class Law, class Lanes, class Chained>
void curved_contacts(CurvedContactJob& job) {
  const Terms& terms = job.terms;
  if (terms.dashpot || terms.extra()) curved_contacts_of<Law, true, Lanes, Chained>(job);
  else curved_contacts_of<Law, false, Lanes, Chained>(job);
}

}  // namespace
}  // namespace vicinal::dem
