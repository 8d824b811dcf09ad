// The numbers that loops over neighbours are written for: 16 floats or 8 doubles at a time, on every processor.
//
// The number of lanes is the same everywhere (lanes_avx2.hpp keeps 16 floats in two registers), no operation is fused
// or reordered, and sums over lanes are formed by halving. So the instruction set changes speed only. Everything is
// inside an unnamed namespace, here and in the files built on it: each translation unit keeps its own copy, compiled
// for its own processor.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace vicinal::sph {
namespace {

template <class T>
inline constexpr std::size_t lane_count = 64 / sizeof(T);

template <class T>
struct Plain {
  T c[lane_count<T>];
};
template <class T, class F>
[[gnu::always_inline]] inline Plain<T> each(F f) {
  Plain<T> r;
  for (std::size_t k = 0; k < lane_count<T>; ++k) r.c[k] = f(k);
  return r;
}
template <class T>
inline Plain<T> operator+(const Plain<T>& a, const Plain<T>& b) {
  return each<T>([&](std::size_t k) { return a.c[k] + b.c[k]; });
}
template <class T>
inline Plain<T> operator-(const Plain<T>& a, const Plain<T>& b) {
  return each<T>([&](std::size_t k) { return a.c[k] - b.c[k]; });
}
template <class T>
inline Plain<T> operator*(const Plain<T>& a, const Plain<T>& b) {
  return each<T>([&](std::size_t k) { return a.c[k] * b.c[k]; });
}
template <class T>
inline Plain<T> operator/(const Plain<T>& a, const Plain<T>& b) {
  return each<T>([&](std::size_t k) { return a.c[k] / b.c[k]; });
}

template <class T_>
struct PlainLanes {
  using T = T_;
  using Real = Plain<T>;
  using Mask = std::uint32_t;  // one bit per lane
  static constexpr std::size_t width = lane_count<T>;

  static Real all(T a) {
    return each<T>([&](std::size_t) { return a; });
  }
  static Real load(const T* from) {
    return each<T>([&](std::size_t k) { return from[k]; });
  }
  static Mask less(const Real& a, const Real& b) {
    Mask m = 0;
    for (std::size_t k = 0; k < width; ++k) m |= (a.c[k] < b.c[k] ? Mask{1} : Mask{0}) << k;
    return m;
  }
  static Real choose(Mask m, const Real& a, const Real& b) {
    return each<T>([&](std::size_t k) { return (m >> k & 1) != 0 ? a.c[k] : b.c[k]; });
  }
  static Real root(const Real& a) {
    return each<T>([&](std::size_t k) { return std::sqrt(a.c[k]); });
  }
  // The larger one; b where a is not larger.
  static Real larger(const Real& a, const Real& b) {
    return each<T>([&](std::size_t k) { return a.c[k] > b.c[k] ? a.c[k] : b.c[k]; });
  }
  // The lanes before the given one.
  static Mask first(std::size_t lanes) { return lanes >= width ? ~Mask{0} : (Mask{1} << lanes) - 1; }
  // The lanes whose last bit is set.
  static Mask odd(const Real& a) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    Mask m = 0;
    for (std::size_t k = 0; k < width; ++k) m |= static_cast<Mask>(std::bit_cast<Bits>(a.c[k]) & 1) << k;
    return m;
  }
  static bool any(Mask m) { return m != 0; }
  static Mask both(Mask a, Mask b) { return a & b; }
  // Writes (`number` + lane) × `stride` for the lanes of the mask, without gaps; returns how many. Up to `width`
  // numbers after them are overwritten.
  template <std::uint32_t stride>
  static std::size_t pack(Mask m, std::uint32_t number, std::uint32_t* to) {
    std::size_t n = 0;
    for (std::size_t k = 0; k < width; ++k) {
      to[n] = (number + static_cast<std::uint32_t>(k)) * stride;
      n += m >> k & 1;
    }
    return n;
  }
  // Four neighbouring numbers of one record per lane, as columns; `which` says where records begin.
  static void columns(const T* records, const std::uint32_t* which, Real* out) {
    for (std::size_t k = 0; k < width; ++k)
      for (std::size_t c = 0; c < 4; ++c) out[c].c[k] = records[which[k] + c];
  }
  // The sums over the lanes of 16 numbers.
  static void sums(const Real (&in)[16], T (&out)[16]) {
    for (std::size_t n = 0; n < 16; ++n) {
      Real r = in[n];
      for (std::size_t half = width / 2; half > 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) r.c[k] = r.c[k] + r.c[k + half];
      out[n] = r.c[0];
    }
  }
};

}  // namespace
}  // namespace vicinal::sph
