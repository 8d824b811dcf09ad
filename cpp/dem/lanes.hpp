// The arithmetic types of the loops: one contact at a time, four (lanes_avx2.hpp) or eight (lanes_avx512.hpp). Every
// operation rounds in the same way for all of them, so the number of lanes changes speed only. Everything here, and in
// the files built on it, is in an unnamed namespace, so that each translation unit has its own copy, compiled for its
// own instruction set.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "dem/arrays.hpp"

namespace vicinal::dem {
namespace {

inline double root(double a) { return std::sqrt(a); }
inline double choose(bool yes, double a, double b) { return yes ? a : b; }
inline double magnitude(double a) { return std::fabs(a); }

// Four consecutive numbers in memory, which one lane loads and stores in one instruction.
struct Row {
  double c[4];
};
inline Row operator+(Row a, Row b) { return {{a.c[0] + b.c[0], a.c[1] + b.c[1], a.c[2] + b.c[2], a.c[3] + b.c[3]}}; }
inline Row operator-(Row a, Row b) { return {{a.c[0] - b.c[0], a.c[1] - b.c[1], a.c[2] - b.c[2], a.c[3] - b.c[3]}}; }
inline Row operator*(Row a, Row b) { return {{a.c[0] * b.c[0], a.c[1] * b.c[1], a.c[2] * b.c[2], a.c[3] * b.c[3]}}; }

template <class Lanes>
struct RowPair;

struct OneLane {
  using Real = double;
  using Row = vicinal::dem::Row;
  using LoadPair = RowPair<OneLane>;
  static constexpr std::size_t width = 1;
  static Real all(double a) { return a; }
  template <FourWide T>
  static Row load(const T& from) {
    return std::bit_cast<Row>(from);
  }
  template <FourWide T>
  static void store(T& to, Row row) {
    to = std::bit_cast<T>(row);
  }
  static Row spread(double a) { return {{a, a, a, a}}; }
  // Sets the fourth number to 0.
  static Row three(Row a) { return {{a.c[0], a.c[1], a.c[2], 0}}; }
  // Transposes the rows of all lanes to columns, and back.
  [[gnu::always_inline]] static void columns(const Row (&in)[width], Real (&out)[4]) {
    for (std::size_t k = 0; k < 4; ++k) out[k] = in[0].c[k];
  }
  [[gnu::always_inline]] static void rows(const Real (&in)[4], Row (&out)[width]) {
    out[0] = {{in[0], in[1], in[2], in[3]}};
  }
  // The same with rows that lie anywhere in memory: row_of(lane) returns a reference to the row of a lane.
  template <class RowOf>
  [[gnu::always_inline]] static void gather(RowOf&& row_of, Real (&out)[4]) {
    columns({load(row_of(0))}, out);
  }
  template <class RowOf>
  [[gnu::always_inline]] static void scatter(const Real (&in)[4], RowOf&& row_of) {
    store(row_of(0), {{in[0], in[1], in[2], in[3]}});
  }
  // The columns of row_of(lane) - other_row_of(lane).
  template <class RowOf, class OtherRowOf>
  [[gnu::always_inline]] static void gather_difference(RowOf&& row_of, OtherRowOf&& other_row_of, Real (&out)[4]) {
    columns({load(row_of(0)) - load(other_row_of(0))}, out);
  }
  static void store_lanes(Real a, double* to) { to[0] = a; }
  static Real load_lanes(const double* from) { return from[0]; }
  // The smallest number of all lanes; there is no NaN.
  static double smallest(Real a) { return a; }
  // Gathers one number of row which[lane] of a table.
  static Real pick(const double* table, std::size_t stride, const std::uint32_t* which) {
    return table[which[0] * stride];
  }
  // One bit per lane.
  static unsigned bits(bool yes) { return yes ? 1 : 0; }
  // Stores the numbers of the lanes whose bit is set without gaps. The rest, up to the width, is undefined.
  static void compress(const std::uint32_t* from, unsigned /*bits*/, std::uint32_t* to) { to[0] = from[0]; }
  // The same for the numbers `from`, `from` + 1, …
  static void compress_count(std::uint32_t from, unsigned /*bits*/, std::uint32_t* to) { to[0] = from; }
  // Converts bytes that are 0 or 1 to bits.
  static unsigned bits_of(const std::uint8_t* flags) { return flags[0]; }
};

// Force and torque of a load, in one register each.
template <class Lanes>
struct RowPair {
  using Row = typename Lanes::Row;
  Row force, torque;
  static RowPair load(const Load& from) { return {Lanes::load(from.force), Lanes::load(from.torque)}; }
  void store(Load& to) const {
    Lanes::store(to.force, force);
    Lanes::store(to.torque, torque);
  }
  // Multiplies force and torque by these factors.
  [[nodiscard]] RowPair scaled(double of_force, double of_torque) const {
    return {Lanes::spread(of_force) * force, Lanes::spread(of_torque) * torque};
  }
  friend RowPair operator+(RowPair a, RowPair b) { return {a.force + b.force, a.torque + b.torque}; }
};

// One vector per lane.
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
