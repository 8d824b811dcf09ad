// Contacts of spheres with walls: motion at the point of contact, law, forces. The code works for any number of lanes.
#pragma once

#include <cstddef>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/passes.hpp"

namespace vicinal::dem {
namespace {

template <class Law, bool extras, class Lanes>
class WallPasses : Passes<Law, true, extras, Lanes> {
  using Base = Passes<Law, true, extras, Lanes>;
  using Base::chunk_, Base::respond_to_all, Base::rolls, Base::width;
  using typename Base::Chunk;
  using Real = typename Lanes::Real;
  using Vectors = Triple<Real>;

 public:
  explicit WallPasses(const WallJob& job) : Base(job), job_(job) {}

  // Lanes beyond `count` repeat the last contact; they change its springs in the same way and are not added to loads.
  void run(std::size_t from, std::size_t count) {
    contacts_ = job_.contacts + from;
    for (std::size_t c = 0; c < count; c += width) move(c);
    respond_to_all(count, entry_, job_.uniform,
                   [this](std::size_t c) { return coefficients_of<Lanes>(job_.table, which_ + c); });
    for (std::size_t c = 0; c < count; c += width) share(c);
    for (std::size_t c = 0; c < count; ++c) act(c, job_.on_walls[from + c]);
  }

 private:
  auto of_row(std::size_t c, auto part) const {
    return [=, this](std::size_t lane) -> const auto& { return job_.motions[contacts_[c + lane].row].*part; };
  }
  auto of_wall(std::size_t c, auto part) const {
    return [=, this](std::size_t lane) -> const auto& { return job_.walls[contacts_[c + lane].wall].*part; };
  }

  void move(std::size_t c) {
    for (std::size_t lane = c; lane < c + width; ++lane) {
      entry_[lane] = contacts_[lane].entry;
      which_[lane] = contacts_[lane].coefficients;
    }
    const Real dt = Lanes::all(job_.dt);
    Real normal[4], place[4], w[4];
    Lanes::gather([&](std::size_t lane) -> const auto& { return contacts_[c + lane].normal; }, normal);
    Lanes::gather([&](std::size_t lane) -> const auto& { return job_.places[contacts_[c + lane].row]; }, place);
    Lanes::gather(of_row(c, &Motion::w), w);
    const Vectors n{normal[0], normal[1], normal[2]}, spin{w[0], w[1], w[2]};
    const auto stored = [&](std::size_t lane) -> Vec4& { return job_.normals[entry_[c + lane]]; };
    const Vectors before = gathered<Lanes>(stored);
    Lanes::scatter({n.x, n.y, n.z, Lanes::all(0)}, stored);
    const Vectors v = gathered<Lanes>(of_row(c, &Motion::v)), dw = gathered<Lanes>(of_row(c, &Motion::dw));
    const Vectors wall_v = gathered<Lanes>(of_wall(c, &WallMotion::velocity)),
                  wall_w = gathered<Lanes>(of_wall(c, &WallMotion::spin));

    const Real distance = place[3] - normal[3];
    const Vectors arm = distance * n;
    // From the middle of the wall to the point. In the middle of the step the point of contact was elsewhere, where the
    // velocity of a rotating wall differs.
    const Vectors wall_arm =
        (Vectors{place[0], place[1], place[2]} + arm) - gathered<Lanes>(of_wall(c, &WallMotion::middle));
    const Vectors midway_arm = wall_arm - (Lanes::all(0.5) * dt) * (v - wall_v);
    set<Lanes>(chunk_.normal, c, n);
    set<Lanes>(chunk_.midway, c, halfway<Lanes>(before, n));
    set<Lanes>(chunk_.travel, c, dt * ((v + cross(spin, arm)) - (wall_v + cross(wall_w, midway_arm))));
    set<Lanes>(
        chunk_.rate, c,
        ((v + gathered<Lanes>(of_row(c, &Motion::dv))) + cross(spin + dw, arm)) - (wall_v + cross(wall_w, wall_arm)));
    Lanes::store_lanes(normal[3], chunk_.overlap + c);
    Lanes::store_lanes(w[3], chunk_.inverse_mass + c);
    Lanes::store_lanes(place[3], chunk_.radius + c);
    Lanes::store_lanes((Lanes::all(0.5) * dt) * dot(spin + wall_w, n), chunk_.turn + c);
    Lanes::store_lanes(distance, chunk_.arm_i + c);
    set<Lanes>(wall_arms_, c, wall_arm);
    if (!rolls()) return;
    set<Lanes>(chunk_.rolled, c, dt * (spin - wall_w));
    set<Lanes>(chunk_.rolling_rate, c, (spin + dw) - wall_w);
  }

  // The torque on the wall, about its middle.
  void share(std::size_t c) {
    const auto force = gathered<Lanes>([&](std::size_t lane) -> const auto& { return chunk_.actions[c + lane].force; });
    auto torque = cross(get<Lanes>(wall_arms_, c), force);
    if constexpr (extras)
      torque =
          torque - gathered<Lanes>([&](std::size_t lane) -> const auto& { return chunk_.moments[c + lane].torque; });
    Lanes::scatter({torque.x, torque.y, torque.z, Lanes::all(0)},
                   [&](std::size_t lane) -> Vec4& { return torques_[c + lane]; });
  }

  void act(std::size_t c, Load& on_wall) {
    using LoadPair = typename Lanes::LoadPair;
    on_wall.force = chunk_.actions[c].force;
    on_wall.torque = torques_[c];
    Load& load = job_.loads[contacts_[c].row];
    LoadPair action = LoadPair::load(chunk_.actions[c]).scaled(-1, chunk_.arm_i[c]);
    if constexpr (extras) action = action + LoadPair::load(chunk_.moments[c]);
    (LoadPair::load(load) + action).store(load);
  }

  const WallJob job_;  // a local copy: stores cannot alias it
  const WallContact* contacts_ = nullptr;
  Number entry_[Chunk::size], which_[Chunk::size];
  typename Chunk::Vectors wall_arms_;  // from the middle of the wall to the point
  Vec4 torques_[Chunk::size];
};

template <class Law, bool extras, class Lanes>
void wall_contacts_of(const WallJob& job) {
  WallPasses<Law, extras, Lanes> passes(job);
  for (std::size_t c = 0; c < job.size; c += ChunkOf<Lanes>::size)
    passes.run(c, job.size - c < ChunkOf<Lanes>::size ? job.size - c : ChunkOf<Lanes>::size);
}

template <class Law, class Lanes>
void wall_contacts(const WallJob& job) {
  job.terms.extra() ? wall_contacts_of<Law, true, Lanes>(job) : wall_contacts_of<Law, false, Lanes>(job);
}

}  // namespace
}  // namespace vicinal::dem
