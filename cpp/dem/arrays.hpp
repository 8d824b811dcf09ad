// How bodies lie in memory: what the loops read together is together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dem/vec.hpp"

namespace vicinal::dem {

using Number = std::uint32_t;  // of a body, a contact, a wall

// Centre and radius.
struct alignas(32) Place {
  double x, y, z, r;
};
// Velocity and spin, and what they gain in half a step (acceleration × dt / 2). Rows of four; where nothing else is the
// fourth number is 0, so that rows can be added as they are.
struct alignas(64) Motion {
  Vec v;
  double zero_v = 0;
  Vec w;
  double inverse_mass = 0;  // beside the spin: contacts need the sum of both
  Vec dv;
  double zero_dv = 0;
  Vec dw;
  double zero_dw = 0;
};
// Force and torque on a body; the fourth numbers make rows of four.
struct alignas(64) Load {
  double f[4];
  double t[4];
};
// What a contact remembers: the stretch of its spring; the fourth number makes a row of four.
struct alignas(32) Spring {
  double x, y, z, unused;
};
// The core of a tablet, as it is turned, and the ball around it (shape.hpp). A sphere is a ball around a point.
struct alignas(64) Pose {
  Vec axis{0, 0, 1};
  double margin = 0;
  double band = 0, cap = 0, cap_centre = 0, rim = 0;
};
static_assert(sizeof(Pose) == 8 * sizeof(double));
static_assert(sizeof(Place) == 4 * sizeof(double) && sizeof(Motion) == 16 * sizeof(double));

inline void add(Load& to, Vec force, Vec torque) {
  to.f[0] += force.x, to.f[1] += force.y, to.f[2] += force.z;
  to.t[0] += torque.x, to.t[1] += torque.y, to.t[2] += torque.z;
}
inline Vec centre(const Place& p) { return {p.x, p.y, p.z}; }
inline Vec stretch(const Spring& s) { return {s.x, s.y, s.z}; }

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
