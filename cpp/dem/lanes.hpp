// Numbers the contact law is written for: one contact at a time, or (lanes_avx2.hpp) four. Every operation rounds the
// same way in both, so the number of lanes changes speed only. Everything is inside an unnamed namespace, here and in
// the files built on it: each translation unit keeps its own copy, compiled for its own processor.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace vicinal::dem {
namespace {

inline double root(double a) { return std::sqrt(a); }
inline double choose(bool yes, double a, double b) { return yes ? a : b; }
inline bool any(bool yes) { return yes; }
inline double magnitude(double a) { return std::fabs(a); }

struct OneLane {
  using Real = double;
  static constexpr std::size_t width = 1;
  static Real all(double a) { return a; }
  // Four neighbouring numbers of row which[lane] of a table, column by column.
  static void columns(const double* table, std::size_t stride, const std::uint32_t* which, Real (&out)[4]) {
    const double* const row = table + which[0] * stride;
    for (std::size_t c = 0; c < 4; ++c) out[c] = row[c];
  }
  static void rows(const Real (&in)[4], double (&out)[width][4]) {
    for (std::size_t c = 0; c < 4; ++c) out[0][c] = in[c];
  }
  static Real pick(const double* table, std::size_t stride, const std::uint32_t* which) {
    return table[which[0] * stride];
  }
};

// A vector in every lane.
template <class Real>
struct Triple {
  Real x, y, z;
};
template <class R>
[[gnu::always_inline]] inline Triple<R> operator+(Triple<R> a, Triple<R> b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class R>
[[gnu::always_inline]] inline Triple<R> operator-(Triple<R> a, Triple<R> b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class R>
[[gnu::always_inline]] inline Triple<R> operator*(R s, Triple<R> a) {
  return {s * a.x, s * a.y, s * a.z};
}
template <class R>
[[gnu::always_inline]] inline R dot(Triple<R> a, Triple<R> b) {
  return (a.x * b.x + a.y * b.y) + a.z * b.z;
}
template <class R>
[[gnu::always_inline]] inline Triple<R> cross(Triple<R> a, Triple<R> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

}  // namespace
}  // namespace vicinal::dem
