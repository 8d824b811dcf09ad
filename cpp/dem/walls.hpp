// Walls: surface, motion and pose. Each kind of surface has its own file (walls/).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/vec.hpp"

namespace vicinal::dem {

// A rigid surface. In the present pose a point p of the description is at centre + moved + turned(p - centre).
struct Wall {
  static constexpr std::size_t mesh = ~std::size_t{0};
  std::size_t kind = 0;  // position in the list in walls/kinds.hpp, or `mesh`
  std::uint8_t material = 0;
  bool inside = true;    // of a cylinder: whether bodies are inside
  Vec point, direction;  // direction: normal of a plane, axis of a cylinder
  double radius = 0;
  Vec velocity, spin, centre;
  Vec moved;
  Quat turned;
  Vec facing, base;  // direction and point in the present pose

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

// The reading of the odometer up to which a wall with this gap to a body need not be tested again; 0 if the gap is
// negligible. Only 0.9 of the gap is used, to allow for rounding.
inline double wake(double odometer, double gap, double radius) {
  constexpr double negligible = 1e-6, usable = 0.9;
  return gap > negligible * radius ? odometer + usable * gap : 0;
}

// The nearest point of a wall: unit vector towards it, and distance, which is negative behind the surface.
struct Nearest {
  Vec normal;
  double distance;
};

}  // namespace vicinal::dem
