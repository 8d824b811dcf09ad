// The last guard of a fluid: a particle that a step has moved through a wall is put back in front of it.
//
// Walls hold fluid off by their dummy particles. Where that fails, as in a violent impact with a coarse resolution, the
// guard does not: planes and cylinders are half-spaces and their like, so a look at the new position is enough; meshes
// are tested by the way of the particle, as seen from the mesh, against their triangles.
#pragma once

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "mesh/closest.hpp"
#include "mesh/passes.hpp"
#include "mesh/surface.hpp"
#include "mesh/vec3.hpp"
#include "sph/triangle_cells.hpp"

namespace vicinal::sph {

using mesh::Vec3;

// From the coordinates in which a wall was described to those of the world: a rotation, then a translation.
struct Pose {
  std::array<Vec3, 3> rows{Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}};  // of the rotation
  Vec3 translation{0, 0, 0};

  [[nodiscard]] Vec3 turn_out(const Vec3& v) const { return {dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)}; }
  [[nodiscard]] Vec3 out(const Vec3& p) const { return turn_out(p) + translation; }
  [[nodiscard]] Vec3 into(const Vec3& p) const {
    const Vec3 q = p - translation;
    return q.x * rows[0] + q.y * rows[1] + q.z * rows[2];
  }
};

struct MovingPose {
  Pose place;
  Vec3 velocity{0, 0, 0}, spin{0, 0, 0}, origin{0, 0, 0};  // spin about `origin`, in the world
  [[nodiscard]] Vec3 velocity_at(const Vec3& p) const { return velocity + cross(spin, p - origin); }
};

struct Triangles {
  std::vector<Vec3> vertices;
  std::vector<mesh::Corners> faces, face_edges;
  std::size_t edges = 0;
  [[nodiscard]] mesh::Surface surface() const { return {vertices, faces, face_edges, edges}; }
};

struct GuardWall {
  enum Kind { plane, cylinder, triangles } kind = plane;
  Vec3 point{0, 0, 0}, direction{0, 0, 1};  // the normal of a plane, the axis of a cylinder
  double radius = 0, side = 1;              // side: 1 if a cylinder contains the fluid, -1 if the fluid surrounds it
  Triangles mesh;
  TriangleCells cells;
  MovingPose before, now;
};

// A wall as most particles see it: how far along a normal a place is surely in front of it.
struct GuardFace {
  Vec3 normal{0, 0, 0};
  double clear = std::numeric_limits<double>::infinity();  // only planes have such a distance
};

class Guard {
 public:
  // `clearance`: how far in front of a wall a particle is put. `cell`: about the spacing of particles.
  Guard(double clearance, double cell) : clearance_(clearance), cell_(cell) {}

  void add(GuardWall wall) {
    if (wall.kind == GuardWall::triangles)
      wall.cells = TriangleCells(wall.mesh.surface(), 2 * cell_, clearance_ * (1 + 1e-9));
    walls_.push_back(std::move(wall));
    held_.push_back(0);
    faces_.emplace_back();
    face(walls_.size() - 1);
  }
  [[nodiscard]] std::size_t size() const { return walls_.size(); }

  // The place of a wall at the end of the step to come; the former one is that at its beginning.
  void move(std::size_t wall, const MovingPose& motion) {
    walls_[wall].before = std::exchange(walls_[wall].now, motion);
    face(wall);
  }
  // No step lies between the places of a wall.
  void set(std::size_t wall, const MovingPose& motion) {
    walls_[wall].before = walls_[wall].now = motion;
    face(wall);
  }

  // Whether a place is surely in front of all walls, which are planes then: a quick answer for most particles.
  [[nodiscard]] bool is_clear(const Vec3& place) const {
    bool clear = true;
    for (const GuardFace& face : faces_) clear &= dot(face.normal, place) > face.clear;
    return clear;
  }

  // How many particles each wall has put back; counted from any thread.
  void count(std::int32_t wall) {
    std::atomic_ref(held_[static_cast<std::size_t>(wall)]).fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] const std::vector<std::int64_t>& held() const { return held_; }

  // Puts a particle back that a step has taken from one place to another; returns the first wall that did so, or -1.
  // Its velocity loses the part that leads into the wall.
  std::int32_t keep(const Vec3& from, Vec3& to, Vec3& velocity) const {
    const std::int32_t first = settle(from, to, velocity);
    if (first != unsettled) return first;
    // Too far a way between several walls: it stays where it was as seen from one of them.
    std::int32_t held = 0;
    for (std::size_t k = walls_.size(); k-- > 0;) {
      const GuardWall& wall = walls_[k];
      to = wall.now.place.out(wall.before.place.into(from));
      velocity = wall.now.velocity_at(to);
      held = static_cast<std::int32_t>(k);
      if (settle(from, to, velocity) != unsettled) break;
    }
    return held;
  }

 private:
  // Finds where a plane is now. Rounding is far below the margin.
  void face(std::size_t number) {
    const GuardWall& wall = walls_[number];
    if (wall.kind != GuardWall::plane) return;
    GuardFace& face = faces_[number];
    face.normal = wall.now.place.turn_out(wall.direction);
    face.clear = dot(face.normal, wall.now.place.out(wall.point)) + 1e-3 * cell_;
  }

  static constexpr int most_turns = 6;

  static constexpr std::int32_t unsettled = -2;

  // Puts a particle in front of all walls; returns the first one that it was not in front of, -1 without one.
  std::int32_t settle(const Vec3& from, Vec3& to, Vec3& velocity) const {
    std::int32_t first = -1;
    // In a corner one wall puts a particle back through another.
    for (int turn = 0; turn < most_turns; ++turn) {
      bool moved = false;
      for (std::size_t k = 0; k < walls_.size(); ++k)
        if (hold(walls_[k], from, to, velocity)) {
          moved = true;
          if (first < 0) first = static_cast<std::int32_t>(k);
        }
      if (!moved) return first;
    }
    return unsettled;
  }

  // Puts a particle in front of one wall; returns whether it was not there.
  bool hold(const GuardWall& wall, const Vec3& from, Vec3& to, Vec3& velocity) const {
    const Vec3 there = wall.now.place.into(to);
    Vec3 normal{0, 0, 0};  // into the fluid
    double lift = 0;       // along it
    switch (wall.kind) {
      case GuardWall::plane: {
        const double depth = dot(wall.point - there, wall.direction);
        if (!(depth > 0)) return false;
        normal = wall.direction;
        lift = depth + clearance_;
        break;
      }
      case GuardWall::cylinder: {
        const Vec3 arm = there - wall.point;
        const Vec3 radial = arm - dot(arm, wall.direction) * wall.direction;
        const double away = length(radial), depth = wall.side * (away - wall.radius);
        if (!(depth > 0)) return false;
        // On the axis of a cylinder every direction leads out of it.
        normal = away > 0 ? (-wall.side / away) * radial : any_across(wall.direction);
        lift = depth + clearance_;
        break;
      }
      case GuardWall::triangles:
        if (!meets_mesh(wall, wall.before.place.into(from), there, normal, lift)) return false;
    }
    to = wall.now.place.out(there + lift * normal);
    const Vec3 out = wall.now.place.turn_out(normal);
    const double into = dot(velocity - wall.now.velocity_at(to), out);
    if (into < 0) velocity = velocity - into * out;
    return true;
  }

  static Vec3 any_across(const Vec3& axis) {
    const Vec3 across = std::abs(axis.x) < 0.9 ? cross(axis, {1, 0, 0}) : cross(axis, {0, 1, 0});
    return (1 / length(across)) * across;
  }

  // Whether the way crosses a triangle, or ends closer to one than the clearance; and the way back.
  bool meets_mesh(const GuardWall& wall, const Vec3& from, const Vec3& to, Vec3& normal, double& lift) const {
    const mesh::Surface surface = wall.mesh.surface();
    double earliest = std::numeric_limits<double>::infinity();
    wall.cells.visit(from, to, [&](std::size_t face) {
      const Vec3& a = surface.corner(face, 0);
      if (!mesh::passes(from, to, a, surface.corner(face, 1), surface.corner(face, 2))) return;
      Vec3 n = surface.normal(face);
      const double size = length(n);
      if (!(size > 0)) return;  // without an area
      double before = dot(from - a, n), after = dot(to - a, n);
      const double when = before / (before - after);
      if (!(when < earliest)) return;
      earliest = when;
      if (before < 0 || (before == 0 && after > 0)) {
        n = -1.0 * n;
        after = -after;
      }
      normal = (1 / size) * n;
      lift = -after / size + clearance_;
    });
    if (earliest <= 1) return true;
    double nearest = clearance_ * clearance_;
    bool close = false;
    wall.cells.visit(to, to, [&](std::size_t face) {
      const mesh::Closest closest = mesh::closest_point(surface, face, to);
      if (!(closest.square < nearest * (1 - 1e-9))) return;
      nearest = closest.square;
      close = true;
      const double distance = std::sqrt(closest.square);
      const double far = length(from - to);
      // On the surface itself the way there is the only direction known.
      normal = distance > 0 ? (-1 / distance) * closest.offset : far > 0 ? (1 / far) * (from - to) : Vec3{0, 0, 0};
      lift = clearance_ - distance;
    });
    return close;
  }

  double clearance_, cell_;
  std::vector<GuardWall> walls_;
  std::vector<GuardFace> faces_;  // of the walls
  std::vector<std::int64_t> held_;
};

}  // namespace vicinal::sph
