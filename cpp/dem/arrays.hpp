// How bodies lie in memory: what the loops read together is together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "dem/vec.hpp"

namespace vicinal::dem {

using Number = std::uint32_t;  // of a body, a contact, a wall

// Rows of four numbers, read and written at once by one lane (lanes.hpp). Each type names all four.
template <class T>
concept FourWide = sizeof(T) == 4 * sizeof(double) && std::is_trivially_copyable_v<T>;

// A vector; rows of these can be added to each other and to a `Place` without changing its fourth number.
struct alignas(32) Vec4 {
  double x = 0, y = 0, z = 0, zero = 0;
  operator Vec() const { return {x, y, z}; }
  Vec4& operator=(Vec a) { return x = a.x, y = a.y, z = a.z, *this; }
};
// Centre and radius.
struct alignas(32) Place {
  double x, y, z, r;
};
// Angular velocity, and the inverse of the mass: contacts need the sum of each over both bodies.
struct alignas(32) Spin {
  double x = 0, y = 0, z = 0, inverse_mass = 0;
  operator Vec() const { return {x, y, z}; }
  Spin& operator=(Vec a) { return x = a.x, y = a.y, z = a.z, *this; }  // the mass stays
};
// Velocity and spin, and their changes in half a step (acceleration × dt / 2).
struct alignas(64) Motion {
  Vec4 v;
  Spin w;
  Vec4 dv, dw;
};
// A sum of forces or torques. `mark` is not 0 once a contact was added; loops over spheres write it along with the
// vector, and its value has no other meaning.
struct alignas(32) MarkedSum {
  double x = 0, y = 0, z = 0, mark = 0;
  operator Vec() const { return {x, y, z}; }
};
// Force and torque on a body.
struct alignas(64) Load {
  MarkedSum force, torque;
};
// What a contact remembers: the stretch of its spring.
using Spring = Vec4;
// The same for how the two turned against each other: the angle rolled, and the angle about the normal.
struct alignas(32) Turning {
  double x = 0, y = 0, z = 0, twist = 0;
  operator Vec() const { return {x, y, z}; }
};

// The core of a tablet, as it is turned, and the ball around it (shapes/tablet.hpp). A sphere is a ball around a point.
struct alignas(32) AxisAndMargin {
  double x = 0, y = 0, z = 1, margin = 0;
  AxisAndMargin& operator=(Vec a) { return x = a.x, y = a.y, z = a.z, *this; }  // the margin stays
};
struct alignas(32) TabletCore {
  double band = 0, cap = 0, cap_centre = 0, rim = 0;
};
struct alignas(64) Pose {
  AxisAndMargin axis;
  TabletCore core;
};
static_assert(FourWide<Vec4> && FourWide<Turning> && FourWide<Place> && FourWide<Spin> && FourWide<MarkedSum> &&
              FourWide<Quat>);
static_assert(FourWide<AxisAndMargin> && FourWide<TabletCore>);

inline void add(Load& to, Vec force, Vec torque) {
  to.force.x += force.x, to.force.y += force.y, to.force.z += force.z;
  to.torque.x += torque.x, to.torque.y += torque.y, to.torque.z += torque.z;
}
inline Vec centre(const Place& p) { return {p.x, p.y, p.z}; }

// Periodic edges, 0 where the space is open.
struct Period {
  std::array<double, 3> edge{0, 0, 0};
  [[nodiscard]] bool any() const { return edge[0] > 0 || edge[1] > 0 || edge[2] > 0; }
  // The shorter way from one image to the other.
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

// Bodies are worked on in blocks of this many rows. The size does not depend on the number of threads, so neither does
// the order in which forces are added.
inline constexpr std::size_t block_rows = 1024;
// Forces in larger blocks where there are many bodies: fewer pairs belong to two blocks, while what a block needs still
// fits into a cache of the second level. A few blocks are left for threads.
inline std::size_t force_block_rows(std::size_t rows) {
  std::size_t size = block_rows;
  while (size < 4 * block_rows && rows / (2 * size) >= 8) size *= 2;
  return size;
}

}  // namespace vicinal::dem
