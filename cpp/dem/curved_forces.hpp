// Forces of contacts of tablets and spheres at one point, whose geometry is known (curved.hpp): motion at the point,
// law, forces. The code works for any number of lanes.
#pragma once

#include <cstddef>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/laws/laws.hpp"
#include "dem/passes.hpp"
#include "exec/prefetch.hpp"

namespace vicinal::dem {
namespace {

template <class Law, bool dashpots, bool extras, class Lanes>
class CurvedPasses : Passes<Law, dashpots, extras, Lanes> {
  using Base = Passes<Law, dashpots, extras, Lanes>;
  using Base::chunk_, Base::respond_to_all, Base::rolls, Base::width;
  using typename Base::Chunk;
  using Real = typename Lanes::Real;
  using Vectors = Triple<Real>;

 public:
  explicit CurvedPasses(const CurvedForceJob& job) : Base(job), job_(job) {}

  // Lanes beyond `count` repeat the last contact; they change its springs in the same way and are not added to loads.
  void run(std::size_t from, std::size_t count) {
    for (std::size_t c = 0; c < count; c += width) move(c, job_.chosen + from + c);
    respond_to_all(count, entry_, job_.uniform, [this](std::size_t c) { return coefficients(c); });
    for (std::size_t c = 0; c < count; c += width) share(c);
    for (std::size_t c = 0; c < count; ++c) act(c);
  }

 private:
  auto motion(const Number* which, auto part) const {
    return [=, this](std::size_t lane) -> const auto& { return job_.motions[which[lane]].*part; };
  }

  void move(std::size_t c, const Number* chosen) {
    Number *const i = i_ + c, *const j = j_ + c, *const entry = entry_ + c;
    for (std::size_t lane = 0; lane < width; ++lane) {
      i[lane] = job_.i[chosen[lane]];
      j[lane] = job_.j[chosen[lane]];
      entry[lane] = job_.entry[chosen[lane]];
      prefetch_to_write(job_.springs + entry[lane]);  // for the next passes
      prefetch_to_write(job_.loads + job_.targets[entry[lane]]);
    }
    const auto of_contact = [&](auto part) {
      return [=, this](std::size_t lane) -> const auto& { return job_.contacts[chosen[lane]].*part; };
    };
    const auto stored = [=, this](std::size_t lane) -> Vec4& { return job_.normals[entry[lane]]; };
    const Real dt = Lanes::all(job_.dt);
    Real arm[4], wi[4], wj[4];
    Lanes::gather(of_contact(&CurvedContact::arm), arm);
    Lanes::gather(motion(i, &Motion::w), wi);
    Lanes::gather(motion(j, &Motion::w), wj);
    const Vectors at{arm[0], arm[1], arm[2]}, other = gathered<Lanes>(of_contact(&CurvedContact::other_arm));
    const Vectors n = gathered<Lanes>(of_contact(&CurvedContact::normal)), before = gathered<Lanes>(stored);
    const Vectors vi = gathered<Lanes>(motion(i, &Motion::v)), vj = gathered<Lanes>(motion(j, &Motion::v));
    const Vectors dwi = gathered<Lanes>(motion(i, &Motion::dw)), dwj = gathered<Lanes>(motion(j, &Motion::dw));
    const Vectors spin_i{wi[0], wi[1], wi[2]}, spin_j{wj[0], wj[1], wj[2]};
    const Vectors end_i = spin_i + dwi, end_j = spin_j + dwj;
    Lanes::scatter({n.x, n.y, n.z, Lanes::all(0)}, stored);

    set<Lanes>(chunk_.normal, c, n);
    set<Lanes>(chunk_.midway, c, halfway<Lanes>(before, n));
    set<Lanes>(chunk_.travel, c, dt * ((vi + cross(spin_i, at)) - (vj + cross(spin_j, other))));
    set<Lanes>(chunk_.rate, c,
               ((vi + gathered<Lanes>(motion(i, &Motion::dv))) + cross(end_i, at)) -
                   ((vj + gathered<Lanes>(motion(j, &Motion::dv))) + cross(end_j, other)));
    Lanes::store_lanes(arm[3], chunk_.overlap + c);
    Lanes::store_lanes(wi[3] + wj[3], chunk_.inverse_mass + c);
    Lanes::store_lanes((Lanes::all(0.5) * dt) * dot(spin_i + spin_j, n), chunk_.turn + c);
    if constexpr (Law::reads_radius || extras) {
      const Real ri = Lanes::pick(job_.sizes, 1, i), rj = Lanes::pick(job_.sizes, 1, j);
      Lanes::store_lanes(ri * rj / (ri + rj), chunk_.radius + c);
    }
    set<Lanes>(arms_, c, at);
    set<Lanes>(other_arms_, c, other);
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

  // Torques about the centres of both, and the force on the first.
  void share(std::size_t c) {
    const auto load = [=, this](auto part) {
      return [=, this](std::size_t lane) -> auto& { return chunk_.actions[c + lane].*part; };
    };
    const auto on_other = [=, this](auto part) {
      return [=, this](std::size_t lane) -> auto& { return on_others_[c + lane].*part; };
    };
    const auto put = [](Vectors value, auto&& row_of) {
      Lanes::scatter({value.x, value.y, value.z, Lanes::all(0)}, row_of);
    };
    const Real zero = Lanes::all(0);
    const Vectors none{zero, zero, zero}, force = gathered<Lanes>(load(&Load::force));
    Vectors torque = cross(force, get<Lanes>(arms_, c)), back = cross(get<Lanes>(other_arms_, c), force);
    if constexpr (extras) {
      const Vectors moment =
          gathered<Lanes>([=, this](std::size_t lane) -> const auto& { return chunk_.moments[c + lane].torque; });
      torque = torque + moment;
      back = back - moment;
    }
    put(none - force, load(&Load::force));
    put(torque, load(&Load::torque));
    put(force, on_other(&Load::force));
    put(back, on_other(&Load::torque));
  }

  // Contacts are added one by one, in the order of the list, so that the sums do not depend on the number of lanes.
  void act(std::size_t c) {
    using LoadPair = typename Lanes::LoadPair;
    Load& first = job_.loads[i_[c]];
    (LoadPair::load(first) + LoadPair::load(chunk_.actions[c])).store(first);
    Load& second = job_.loads[job_.targets[entry_[c]]];
    (LoadPair::load(second) + LoadPair::load(on_others_[c])).store(second);
  }

  const CurvedForceJob job_;  // a local copy: stores cannot alias it
  Number i_[Chunk::size], j_[Chunk::size], entry_[Chunk::size];
  typename Chunk::Vectors arms_, other_arms_;
  Load on_others_[Chunk::size];
};

template <class Law, bool dashpots, bool extras, class Lanes>
void curved_forces_of(const CurvedForceJob& job) {
  CurvedPasses<Law, dashpots, extras, Lanes> passes(job);
  for (std::size_t c = 0; c < job.size; c += ChunkOf<Lanes>::size)
    passes.run(c, job.size - c < ChunkOf<Lanes>::size ? job.size - c : ChunkOf<Lanes>::size);
}

template <class Law, class Lanes>
void curved_forces(const CurvedForceJob& job) {
  const Terms& terms = job.terms;
  if (terms.dashpot || terms.extra()) curved_forces_of<Law, true, true, Lanes>(job);
  else curved_forces_of<Law, false, false, Lanes>(job);
}

}  // namespace
}  // namespace vicinal::dem
