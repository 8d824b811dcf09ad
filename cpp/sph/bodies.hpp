// Rigid bodies in a fluid: wall particles that move with them, and the load that the fluid puts on each body.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/vec3.hpp"
#include "sph/particle_grid.hpp"
#include "sph/walls.hpp"

namespace vicinal::sph {

struct BodyPose {
  mesh::Vec3 centre;
  std::array<double, 4> turn;  // a quaternion: w, x, y, z
  mesh::Vec3 velocity, spin, acceleration, spin_up;
};

struct BodyLoad {
  mesh::Vec3 force{}, torque{};  // about the centre
};

// A wall particle of a body, in the axes of the body.
struct BodyPart {
  mesh::Vec3 arm, normal;
  std::uint32_t body, slips;
};

inline mesh::Vec3 turned(const std::array<double, 4>& q, const mesh::Vec3& a) {
  const mesh::Vec3 axis{q[1], q[2], q[3]};
  const mesh::Vec3 twice = 2.0 * mesh::cross(axis, a);
  return a + q[0] * twice + mesh::cross(axis, twice);
}

template <int D>
Vector<D> flat(const mesh::Vec3& a) {
  if constexpr (D == 2) return {a.x, a.y};
  else return {a.x, a.y, a.z};
}

struct RigidBodies {
  std::vector<BodyPart> parts;
  std::vector<BodyPose> poses;
  std::vector<BodyLoad> loads;

  // Moves wall particles, one per part, to where the poses have them.
  template <int D>
  void place(std::span<WallParticle<D>> walls, const FluidSpace<D>& space) const {
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const BodyPose& pose = poses[parts[k].body];
      const mesh::Vec3 arm = turned(pose.turn, parts[k].arm), swing = mesh::cross(pose.spin, arm);
      WallParticle<D>& wall = walls[k];
      wall.x = flat<D>(pose.centre + arm);
      wall.normal = flat<D>(turned(pose.turn, parts[k].normal));
      wall.u = flat<D>(pose.velocity + swing);
      wall.acceleration = flat<D>(pose.acceleration + mesh::cross(pose.spin_up, arm) + mesh::cross(pose.spin, swing));
      wall.slips = parts[k].slips;
      space.wrap(wall.x);
    }
  }
  // Adds up the forces on parts, body by body in the order of the parts, so that threads change no bit.
  template <int D>
  void add_up(std::span<const Vector<D>> forces) {
    loads.assign(poses.size(), {});
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const BodyPose& pose = poses[parts[k].body];
      mesh::Vec3 force{forces[k][0], forces[k][1], 0};
      if constexpr (D == 3) force.z = forces[k][2];
      BodyLoad& load = loads[parts[k].body];
      load.force = load.force + force;
      load.torque = load.torque + mesh::cross(turned(pose.turn, parts[k].arm), force);
    }
  }
};

}  // namespace vicinal::sph
