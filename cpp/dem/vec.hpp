// Vectors and quaternions of doubles, for code that processes one body at a time.
#pragma once

#include <cmath>
#include <cstddef>

namespace vicinal::dem {

struct Vec {
  double x = 0, y = 0, z = 0;
};
inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec operator-(Vec a) { return {-a.x, -a.y, -a.z}; }
inline Vec operator*(double s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
inline Vec& operator+=(Vec& a, Vec b) { return a = a + b; }
inline double dot(Vec a, Vec b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
inline Vec cross(Vec a, Vec b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline double norm(Vec a) { return std::sqrt(dot(a, a)); }

// A rotation; w, x, y, z.
struct Quat {
  double w = 1, x = 0, y = 0, z = 0;
};
inline Quat operator*(Quat a, Quat b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
inline Quat conjugate(Quat q) { return {q.w, -q.x, -q.y, -q.z}; }
inline Vec rotate(Quat q, Vec a) {
  const Vec axis{q.x, q.y, q.z};
  const Vec t = 2.0 * cross(axis, a);
  return a + q.w * t + cross(axis, t);
}
inline Quat normalised(Quat q) {
  const double s = 1.0 / std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  return {s * q.w, s * q.x, s * q.y, s * q.z};
}

// The axes of a body in the world frame.
struct Axes {
  Vec x, y, z;
};
inline Axes axes_of(Quat q) {
  const double xx = q.x + q.x, yy = q.y + q.y, zz = q.z + q.z;
  return {{1 - (q.y * yy + q.z * zz), q.x * yy + q.w * zz, q.x * zz - q.w * yy},
          {q.x * yy - q.w * zz, 1 - (q.x * xx + q.z * zz), q.y * zz + q.w * xx},
          {q.x * zz + q.w * yy, q.y * zz - q.w * xx, 1 - (q.x * xx + q.y * yy)}};
}

}  // namespace vicinal::dem
