// Contacts of spheres that stay on one wall, or inside one triangle of a mesh: normal and overlap. The code works for
// any number of lanes and repeats the operations of walls/plane.hpp and mesh/closest.hpp, so that a contact has the
// same bits as the general code of wall_contacts.cpp gives it.
#pragma once

#include <cstddef>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/passes.hpp"

namespace vicinal::dem {
namespace {

template <class Lanes>
struct LastingSpheres {
  using Real = typename Lanes::Real;
  using Vectors = Triple<Real>;

  LastingSpheres(const LastingJob& job, std::size_t c) : contacts(job.contacts + c) {
    Real place[4];
    Lanes::gather([&](std::size_t lane) -> const auto& { return job.places[contacts[lane].row]; }, place);
    centre = {place[0], place[1], place[2]};
    radius = place[3];
    speed = gathered<Lanes>([&](std::size_t lane) -> const auto& { return job.motions[contacts[lane].row].v; });
  }
  // Stores contacts, and lists those that do not touch (the bits `touching` are 0) or may have crossed the wall.
  void put(LastingJob& job, std::size_t c, const Vectors& normal, Real overlap, unsigned touching) const {
    const Real left = Lanes::all(short_way) * radius - Lanes::all(job.wall_speed * job.step);
    const unsigned slow = Lanes::bits(left > Lanes::all(0)) &
                          Lanes::bits(left * left > dot(speed, speed) * Lanes::all(job.step * job.step)) &
                          Lanes::bits(Lanes::all(1 - short_way) * radius > overlap);
    Lanes::scatter({normal.x, normal.y, normal.z, overlap},
                   [&](std::size_t lane) -> auto& { return contacts[lane].normal; });
    const unsigned sure = touching & slow & Lanes::bits(overlap > Lanes::all(0));
    if (sure == (1u << Lanes::width) - 1) return;
    for (std::size_t lane = 0; lane < Lanes::width; ++lane)
      if ((sure >> lane & 1) == 0) job.doubtful[job.doubts++] = static_cast<Number>(c + lane);
  }

  WallContact* contacts;
  Vectors centre, speed;
  Real radius;
};

template <class Lanes>
std::size_t lasting_planes_from(LastingJob& job, std::size_t c) {
  for (; c + Lanes::width <= job.size; c += Lanes::width) {
    const LastingSpheres<Lanes> spheres(job, c);
    const auto of_wall = [&](auto part) {
      return gathered<Lanes>(
          [&](std::size_t lane) -> const auto& { return job.planes[spheres.contacts[lane].wall].*part; });
    };
    const auto facing = of_wall(&WallPlane::facing);
    const auto overlap = spheres.radius - dot(facing, spheres.centre - of_wall(&WallPlane::base));
    spheres.put(job, c, Lanes::all(-1) * facing, overlap, (1u << Lanes::width) - 1);
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
    const LastingSpheres<Lanes> spheres(job, c);
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
    spheres.put(job, c, towards, spheres.radius - distance, inside & ~apart & Lanes::bits(square > zero));
  }
  return c;
}

}  // namespace
}  // namespace vicinal::dem
