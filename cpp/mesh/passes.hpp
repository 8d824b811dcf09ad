// Whether the way from one place to another leads through a triangle.
#pragma once

#include "mesh/vec3.hpp"

namespace vicinal::mesh {

// Its ends are on different sides of the plane, and the line between them passes the three edges on the same side. Two
// triangles with a common edge compute the same number for it but for its sign, so no line slips through between them.
inline bool passes(const Vec3& from, const Vec3& to, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 normal = cross(b - a, c - a);
  if ((dot(from - a, normal) > 0) == (dot(to - a, normal) > 0)) return false;
  const Vec3 way = to - from;
  const auto side = [&](const Vec3& p, const Vec3& q) { return dot(way, cross(p - from, q - from)); };
  const double ab = side(a, b), bc = side(b, c), ca = side(c, a);
  return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

}  // namespace vicinal::mesh
