// The memory layout of bodies: values that a loop reads together are stored together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "dem/vec.hpp"

namespace vicinal::dem {

using Number = std::uint32_t;  // the number of a body, a contact or a wall

// Types of four numbers, which one lane (lanes.hpp) loads and stores in one instruction. Each type names all four.
template <class T>
concept FourWide = sizeof(T) == 4 * sizeof(double) && std::is_trivially_copyable_v<T>;

// A vector. Its fourth number is 0, so adding it to a `Place` leaves the radius unchanged.
struct alignas(32) Vec4 {
  double x = 0, y = 0, z = 0, zero = 0;
  operator Vec() const { return {x, y, z}; }
  Vec4& operator=(Vec a) { return x = a.x, y = a.y, z = a.z, *this; }
};
// Centre and radius.
struct alignas(32) Place {
  double x, y, z, r;
};
// Angular velocity and inverse mass. A contact needs the sum over both bodies of each of them.
struct alignas(32) Spin {
  double x = 0, y = 0, z = 0, inverse_mass = 0;
  operator Vec() const { return {x, y, z}; }
  Spin& operator=(Vec a) { return x = a.x, y = a.y, z = a.z, *this; }  // keeps the mass
};
// Velocity v and spin w, and the change of each in half a step (acceleration × dt / 2).
struct alignas(64) Motion {
  Vec4 v;
  Spin w;
  Vec4 dv, dw;
};
// Force and torque on a body.
struct alignas(64) Load {
  Vec4 force, torque;
};
// The history of a contact: the stretch of its tangential spring.
using Spring = Vec4;
// The history of the relative rotation of the two bodies: the angle rolled, and the angle about the normal.
struct alignas(32) Turning {
  double x = 0, y = 0, z = 0, twist = 0;
  operator Vec() const { return {x, y, z}; }
};

// The core of a tablet in its present orientation, and the radius of the ball that rounds it (shapes/tablet.hpp). For a
// sphere the core is a point.
struct alignas(32) AxisAndMargin {
  double x = 0, y = 0, z = 1, margin = 0;
  AxisAndMargin& operator=(Vec a) { return x = a.x, y = a.y, z = a.z, *this; }  // keeps the margin
};
struct alignas(32) TabletCore {
  double band = 0, cap = 0, cap_centre = 0, rim = 0;
};
struct alignas(64) TabletPose {
  AxisAndMargin axis;
  TabletCore core;
};
static_assert(FourWide<Vec4> && FourWide<Turning> && FourWide<Place> && FourWide<Spin> && FourWide<Quat>);
static_assert(FourWide<AxisAndMargin> && FourWide<TabletCore>);

inline void add(Load& to, Vec force, Vec torque) {
  to.force.x += force.x, to.force.y += force.y, to.force.z += force.z;
  to.torque.x += torque.x, to.torque.y += torque.y, to.torque.z += torque.z;
}
inline Vec centre(const Place& p) { return {p.x, p.y, p.z}; }

// The period along each axis; 0 for an open axis.
struct Period {
  std::array<double, 3> edge{0, 0, 0};
  [[nodiscard]] bool any() const { return edge[0] > 0 || edge[1] > 0 || edge[2] > 0; }
  // The vector to the nearest image.
  [[nodiscard]] Vec shortest(Vec d) const {
    const auto fold = [](double a, double edge) {
      if (edge > 0) {
        if (a > 0.5 * edge) return a - edge;
        if (a < -0.5 * edge) return a + edge;
      }
      return a;
    };
    return {fold(d.x, edge[0]), fold(d.y, edge[1]), fold(d.z, edge[2])};
  }
};

}  // namespace vicinal::dem
