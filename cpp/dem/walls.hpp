// Walls: where they are, how they move, where a sphere touches them.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/names.hpp"
#include "dem/vec.hpp"

namespace vicinal::dem {

enum class WallKind { plane, cylinder, mesh };
inline constexpr std::string_view wall_kind_names[] = {"plane", "cylinder", "mesh"};

// Throws std::invalid_argument with all names if there is no kind of this name.
inline WallKind wall_kind(std::string_view name) {
  return static_cast<WallKind>(place_of(name, wall_kind_names, "kind of a wall"));
}

// A rigid surface. Its pose: a point p of the description is now at centre + moved + turned(p - centre).
struct Wall {
  WallKind kind = WallKind::plane;
  std::uint8_t material = 0;
  bool inside = true;    // of a cylinder: where bodies are
  Vec point, direction;  // of a plane: its normal; of a cylinder: its axis
  double radius = 0;
  Vec velocity, spin, centre;
  Vec moved;
  Quat turned;
  Vec facing, base;   // direction and point in the present pose
  Vec force, torque;  // that bodies exerted in the last step; the torque about the centre

  [[nodiscard]] Vec middle() const { return centre + moved; }
  [[nodiscard]] Vec to_world(Vec p) const { return middle() + rotate(turned, p - centre); }
  [[nodiscard]] Vec to_description(Vec p) const { return centre + rotate(conjugate(turned), p - middle()); }
  [[nodiscard]] Vec velocity_at(Vec p) const { return velocity + cross(spin, p - middle()); }
  [[nodiscard]] bool moves() const { return dot(velocity, velocity) > 0 || dot(spin, spin) > 0; }

  void pose() {
    facing = rotate(turned, direction);
    base = to_world(point);
  }
  void move(double dt) {
    if (!moves()) return;
    moved += dt * velocity;
    const double angle = norm(spin) * dt;
    if (angle == 0) return;
    const Vec axis = (std::sin(0.5 * angle) / norm(spin)) * spin;
    turned = normalised(Quat{std::cos(0.5 * angle), axis.x, axis.y, axis.z} * turned);
  }
};

// Where a posed wall is nearest to a point: direction to it (unit) and distance, negative behind the surface.
struct Nearest {
  Vec normal;
  double distance;
};

inline Nearest nearest_of_plane(const Wall& wall, Vec p) { return {-wall.facing, dot(wall.facing, p - wall.base)}; }

inline Nearest nearest_of_cylinder(const Wall& wall, Vec p) {
  const Vec from = p - wall.base;
  const Vec radial = from - dot(from, wall.facing) * wall.facing;
  const double length = norm(radial);
  // On the axis every direction is as good as another; there is no contact there anyway.
  const Vec outward = length > 0 ? (1.0 / length) * radial : Vec{1, 0, 0};
  if (wall.inside) return {outward, wall.radius - length};
  return {-outward, length - wall.radius};
}
inline Nearest nearest_of(const Wall& wall, Vec p) {
  return wall.kind == WallKind::plane ? nearest_of_plane(wall, p) : nearest_of_cylinder(wall, p);
}

}  // namespace vicinal::dem
