// Contacts of bodies with walls: of those that last, normal and overlap; of all at one point, motion at the point, law
// and forces. The code works for any number of lanes.
#pragma once

#include <cstddef>

#include "dem/arrays.hpp"
#include "dem/feature.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/passes.hpp"

namespace vicinal::dem {
namespace {

// Contacts that last: the functions below repeat the operations of walls/plane.hpp, shapes/tablet.hpp and
// mesh/closest.hpp, so that a contact has the same bits as the general code of wall_forces.cpp gives it.
template <class Lanes>
struct LastingContacts {
  using Real = typename Lanes::Real;
  using Vectors = Triple<Real>;

  LastingContacts(const LastingJob& job, std::size_t c) : contacts(job.contacts + c) {
    Real place[4];
    Lanes::gather([&](std::size_t lane) -> const auto& { return job.places[contacts[lane].row]; }, place);
    centre = {place[0], place[1], place[2]};
    radius = place[3];
  }
  [[nodiscard]] Vectors of_plane(const LastingJob& job, Vec4 WallPlane::* part) const {
    return gathered<Lanes>([&](std::size_t lane) -> const auto& { return job.planes[contacts[lane].wall].*part; });
  }
  // Whether spheres cannot have crossed the wall; one bit per lane.
  [[nodiscard]] unsigned slow(const LastingJob& job, Real overlap) const {
    const auto speed =
        gathered<Lanes>([&](std::size_t lane) -> const auto& { return job.motions[contacts[lane].row].v; });
    const Real left = Lanes::all(short_way) * radius - Lanes::all(job.wall_speed * job.step);
    return Lanes::bits(left > Lanes::all(0)) &
           Lanes::bits(left * left > dot(speed, speed) * Lanes::all(job.step * job.step)) &
           Lanes::bits(Lanes::all(1 - short_way) * radius > overlap);
  }
  // Stores contacts, and lists those that do not touch, or whose bits `sure` are 0.
  void put(LastingJob& job, std::size_t c, const Vectors& normal, Real overlap, unsigned sure) const {
    Lanes::scatter({normal.x, normal.y, normal.z, overlap},
                   [&](std::size_t lane) -> auto& { return contacts[lane].normal; });
    sure &= Lanes::bits(overlap > Lanes::all(0));
    if (sure == (1u << Lanes::width) - 1) return;
    for (std::size_t lane = 0; lane < Lanes::width; ++lane)
      if ((sure >> lane & 1) == 0) job.doubtful[job.doubts++] = static_cast<Number>(c + lane);
  }

  WallContact* contacts;
  Vectors centre;
  Real radius;  // of spheres, or of those around tablets
};

template <class Lanes>
std::size_t lasting_planes_from(LastingJob& job, std::size_t c) {
  for (; c + Lanes::width <= job.size; c += Lanes::width) {
    const LastingContacts<Lanes> spheres(job, c);
    const auto facing = spheres.of_plane(job, &WallPlane::facing);
    const auto overlap = spheres.radius - dot(facing, spheres.centre - spheres.of_plane(job, &WallPlane::base));
    spheres.put(job, c, Lanes::all(-1) * facing, overlap, spheres.slow(job, overlap));
  }
  return c;
}

// Tablets on planes. Those that may touch along a line are left to the general code.
template <class Lanes>
std::size_t lasting_tablets_from(LastingJob& job, std::size_t c) {
  using Real = typename Lanes::Real;
  for (; c + Lanes::width <= job.size; c += Lanes::width) {
    const LastingContacts<Lanes> tablets(job, c);
    const auto pose_of = [&](std::size_t lane) -> const TabletPose& { return job.poses[tablets.contacts[lane].row]; };
    Real pose[4], core[4];
    Lanes::gather([&](std::size_t lane) -> const auto& { return pose_of(lane).axis; }, pose);
    Lanes::gather([&](std::size_t lane) -> const auto& { return pose_of(lane).core; }, core);
    const Triple<Real> axis{pose[0], pose[1], pose[2]};
    const Real margin = pose[3], band = core[0], cap = core[1], cap_centre = core[2], rim = core[3];
    const auto facing = tablets.of_plane(job, &WallPlane::facing), base = tablets.of_plane(job, &WallPlane::base);
    const auto normal = Lanes::all(-1) * facing;

    const Real along = dot(normal, axis), zero = Lanes::all(0), one = Lanes::all(1);
    const auto across = normal - along * axis;
    const Real sine = root(dot(across, across)), length = root(along * along + sine * sine);
    const auto on_rim = cap * sine > band * length;
    const Real up = choose(zero > along, Lanes::all(-1), one) * choose(on_rim, rim, cap_centre);
    const auto out = choose(on_rim, band, cap) / choose(on_rim, sine, length);
    const Triple<Real> way{choose(on_rim, across.x, normal.x), choose(on_rim, across.y, normal.y),
                           choose(on_rim, across.z, normal.z)};
    const auto deepest = ((tablets.centre + up * axis) + out * way) + margin * normal;
    const Real distance = dot(facing, deepest - base), overlap = Lanes::all(-1) * distance;
    const auto arm = (deepest + distance * normal) - tablets.centre;

    Number rows[Lanes::width];
    for (std::size_t lane = 0; lane < Lanes::width; ++lane) rows[lane] = tablets.contacts[lane].row;
    Lanes::scatter({arm.x, arm.y, arm.z, Lanes::pick(job.sizes, 1, rows)},
                   [&](std::size_t lane) -> auto& { return job.arms[c + lane]; });
    const Real height = dot(facing, tablets.centre - base);
    tablets.put(job, c, normal, overlap,
                Lanes::bits(magnitude(along) > Lanes::all(sure_sine)) & Lanes::bits(height > zero) &
                    Lanes::bits(tablets.radius > height));
  }
  return c;
}

// Like `rotate` in vec.hpp.
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> turned_by(Real w, Triple<Real> axis, Triple<Real> a) {
  const auto t = Lanes::all(2) * cross(axis, a);
  return a + w * t + cross(axis, t);
}

template <class Lanes>
std::size_t lasting_faces_from(LastingJob& job, std::size_t c) {
  using Real = typename Lanes::Real;
  for (; c + Lanes::width <= job.size; c += Lanes::width) {
    const LastingContacts<Lanes> spheres(job, c);
    const auto mesh_of = [&](std::size_t lane) -> const MeshPose& { return job.meshes[spheres.contacts[lane].wall]; };
    const auto face_of = [&](std::size_t lane) -> const FlatFace& {
      return mesh_of(lane).faces[spheres.contacts[lane].face];
    };
    Real turned[4], face[4];
    Lanes::gather([&](std::size_t lane) -> const auto& { return mesh_of(lane).turned; }, turned);
    Lanes::gather([&](std::size_t lane) -> const auto& { return face_of(lane).normal; }, face);
    const auto centre = gathered<Lanes>([&](std::size_t lane) -> const auto& { return mesh_of(lane).centre; });
    const auto middle = gathered<Lanes>([&](std::size_t lane) -> const auto& { return mesh_of(lane).middle; });
    const Triple<Real> axis{turned[1], turned[2], turned[3]}, normal{face[0], face[1], face[2]};
    const Real zero = Lanes::all(0), back = Lanes::all(-1);
    const auto place = centre + turned_by<Lanes>(turned[0], back * axis, spheres.centre - middle);

    unsigned inside = (1u << Lanes::width) - 1;
    Real nearest = zero, height = zero;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto a = gathered<Lanes>([&](std::size_t lane) -> const auto& { return face_of(lane).corners[k]; }) - place;
      const auto outward = gathered<Lanes>([&](std::size_t lane) -> const auto& { return face_of(lane).outward[k]; });
      inside &= Lanes::bits(dot(outward, a) > zero);
      const Real square = dot(a, a), above = dot(normal, a);
      height = k == 0 ? above : choose(nearest > square, above, height);
      nearest = k == 0 ? square : choose(nearest > square, square, nearest);
    }
    const auto offset = (height / face[3]) * normal;
    const Real square = dot(offset, offset), distance = root(square);
    // The general code returns the direction away from the surface, and reverses it.
    const auto away = (Lanes::all(1) / distance) * (Triple<Real>{zero, zero, zero} - offset);
    const auto towards = turned_by<Lanes>(turned[0], axis, back * away);
    const unsigned apart = Lanes::bits(square > spheres.radius * spheres.radius);
    const Real overlap = spheres.radius - distance;
    spheres.put(job, c, towards, overlap, inside & ~apart & Lanes::bits(square > zero) & spheres.slow(job, overlap));
  }
  return c;
}

template <class Law, bool extras, class Lanes>
class WallPasses : Passes<Law, true, extras, Lanes> {
  using Base = Passes<Law, true, extras, Lanes>;
  using Base::chunk_, Base::put, Base::respond_to_all, Base::rolls, Base::width;
  using typename Base::Chunk;
  using Real = typename Lanes::Real;
  using Vectors = Triple<Real>;

 public:
  explicit WallPasses(const WallJob& job) : Base(job), job_(job) {}

  // Lanes beyond `count` repeat the last contact; they change its springs in the same way and are not added to loads.
  void run(std::size_t from, std::size_t count) {
    contacts_ = job_.contacts + from;
    arms_from_ = job_.arms == nullptr ? nullptr : job_.arms + from;
    for (std::size_t c = 0; c < count; c += width) move(c);
    respond_to_all(
        count, entry_, job_.uniform, [this](std::size_t c) { return coefficients_of<Lanes>(job_.table, which_ + c); },
        [this](std::size_t c, const Forced<Real>& forced, const Vectors& normal) { share(c, forced, normal); });
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
    put(n, stored);
    const Vectors v = gathered<Lanes>(of_row(c, &Motion::v)), dw = gathered<Lanes>(of_row(c, &Motion::dw));
    const Vectors wall_v = gathered<Lanes>(of_wall(c, &WallMotion::velocity)),
                  wall_w = gathered<Lanes>(of_wall(c, &WallMotion::spin));

    Real arm_length = place[3] - normal[3], radius = place[3];
    Vectors arm = arm_length * n;
    if (job_.arms != nullptr) {
      Real given[4];
      Lanes::gather([&](std::size_t lane) -> const auto& { return arms_from_[c + lane]; }, given);
      arm = {given[0], given[1], given[2]};
      arm_length = Lanes::all(1);  // see `share`
      radius = given[3];
      set<Lanes>(arms_, c, arm);
    }
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
    Lanes::store_lanes(radius, chunk_.radius + c);
    Lanes::store_lanes((Lanes::all(0.5) * dt) * dot(spin + wall_w, n), chunk_.turn + c);
    Lanes::store_lanes(arm_length, chunk_.arm_i + c);
    set<Lanes>(wall_arms_, c, wall_arm);
    if (!rolls()) return;
    set<Lanes>(chunk_.rolled, c, dt * (spin - wall_w));
    set<Lanes>(chunk_.rolling_rate, c, (spin + dw) - wall_w);
  }

  // The force on the wall and the torque about its middle, and the torque on the body: of spheres for an arm of 1.
  void share(std::size_t c, const Forced<Real>& forced, const Vectors& normal) {
    auto torque = cross(get<Lanes>(wall_arms_, c), forced.force);
    if constexpr (extras)
      torque =
          torque - gathered<Lanes>([&](std::size_t lane) -> const auto& { return chunk_.moments[c + lane].torque; });
    put(torque, [&](std::size_t lane) -> Vec4& { return torques_[c + lane]; });
    put(forced.force, [&](std::size_t lane) -> Vec4& { return chunk_.actions[c + lane].force; });
    put(job_.arms == nullptr ? cross(forced.tangential, normal) : cross(forced.force, get<Lanes>(arms_, c)),
        [&](std::size_t lane) -> Vec4& { return chunk_.actions[c + lane].torque; });
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
  const ArmAndRadius* arms_from_ = nullptr;
  Number entry_[Chunk::size], which_[Chunk::size];
  typename Chunk::Vectors arms_, wall_arms_;  // to the point: from the centre, and from the middle of the wall
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
