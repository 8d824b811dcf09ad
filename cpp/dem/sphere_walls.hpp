// Contacts of spheres with walls: motion at the point of contact, law, forces. The code works for any number of lanes.
#pragma once

#include <cstddef>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/passes.hpp"

namespace vicinal::dem {
namespace {

template <class Law, class Lanes>
class WallPasses : Passes<Law, true, true, Lanes> {
  using Base = Passes<Law, true, true, Lanes>;
  using Base::chunk_, Base::respond_to, Base::width;
  using Real = typename Lanes::Real;
  using Vectors = Triple<Real>;

 public:
  explicit WallPasses(const WallJob& job) : Base(job), job_(job) {}

  // Lanes beyond `count` repeat the last contact; they change its springs in the same way and are not added to loads.
  void run(std::size_t from, std::size_t count) {
    contacts_ = job_.contacts + from;
    for (std::size_t c = 0; c < count; c += width) move(c);
    for (std::size_t c = 0; c < count; c += width) {
      Number entry[width], which[width];
      for (std::size_t lane = 0; lane < width; ++lane) {
        entry[lane] = contacts_[c + lane].entry;
        which[lane] = contacts_[c + lane].coefficients;
      }
      respond_to(c, entry, coefficients_of<Lanes>(job_.table, which));
    }
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
    const Real dt = Lanes::all(job_.dt);
    Real normal[4], place[4], w[4];
    Lanes::gather([&](std::size_t lane) -> const auto& { return contacts_[c + lane].normal; }, normal);
    Lanes::gather([&](std::size_t lane) -> const auto& { return job_.places[contacts_[c + lane].row]; }, place);
    Lanes::gather(of_row(c, &Motion::w), w);
    const Vectors n{normal[0], normal[1], normal[2]}, spin{w[0], w[1], w[2]};
    const Vectors before = gathered<Lanes>([&](std::size_t lane) -> const auto& { return contacts_[c + lane].before; });
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
    set<Lanes>(chunk_.rolled, c, dt * (spin - wall_w));
    set<Lanes>(chunk_.rolling_rate, c, (spin + dw) - wall_w);
    Lanes::store_lanes(normal[3], chunk_.overlap + c);
    Lanes::store_lanes(w[3], chunk_.inverse_mass + c);
    Lanes::store_lanes(place[3], chunk_.radius + c);
    Lanes::store_lanes((Lanes::all(0.5) * dt) * dot(spin + wall_w, n), chunk_.turn + c);
    Lanes::store_lanes(distance, chunk_.arm_i + c);
    set<Lanes>(wall_arms_, c, wall_arm);
  }

  // The torque of minus the force about the middle of the wall.
  void share(std::size_t c) {
    const auto force = gathered<Lanes>([&](std::size_t lane) -> const auto& { return chunk_.actions[c + lane].force; });
    const auto moment =
        gathered<Lanes>([&](std::size_t lane) -> const auto& { return chunk_.moments[c + lane].torque; });
    const auto torque = cross(force, get<Lanes>(wall_arms_, c)) - moment;
    Lanes::scatter({torque.x, torque.y, torque.z, Lanes::all(0)},
                   [&](std::size_t lane) -> Vec4& { return torques_[c + lane]; });
  }

  void act(std::size_t c, Load& on_wall) {
    using LoadPair = typename Lanes::LoadPair;
    const Vec force = chunk_.actions[c].force;
    on_wall.force = -force;
    on_wall.torque = torques_[c];
    Load& load = job_.loads[contacts_[c].row];
    const LoadPair action = LoadPair::load(chunk_.actions[c]).scaled(1, chunk_.arm_i[c]);
    (LoadPair::load(load) + (action + LoadPair::load(chunk_.moments[c]))).store(load);
  }

  const WallJob job_;  // a local copy: stores cannot alias it
  const WallContact* contacts_ = nullptr;
  Chunk::Vectors wall_arms_;  // from the middle of the wall to the point
  Vec4 torques_[Chunk::size];
};

template <class Law, class Lanes>
void wall_contacts(const WallJob& job) {
  WallPasses<Law, Lanes> passes(job);
  for (std::size_t c = 0; c < job.size; c += Chunk::size)
    passes.run(c, job.size - c < Chunk::size ? job.size - c : Chunk::size);
}

}  // namespace
}  // namespace vicinal::dem
