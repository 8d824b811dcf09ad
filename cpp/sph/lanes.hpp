// The numbers that loops over neighbours are written for: 16 floats or 8 doubles at a time, on every processor.
//
// The number of lanes is the same everywhere (lanes_avx2.hpp keeps 16 floats in two registers), no operation is fused
// or reordered, and sums over lanes are formed by halving. So the instruction set changes speed only. Some kinds of
// lanes have a `Half` for up to 8 numbers: `widen` adds lanes of 0, as those beyond the last neighbour are. Everything
// is inside an unnamed namespace, here and in the files built on it: each translation unit keeps its own copy, compiled
// for its own processor.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace vicinal::sph {
namespace {

// The compiler's own vectors: it has no loops to find and to unroll, and compiles in half the time.
#if defined(__AVX512F__)
inline constexpr std::size_t plain_bytes = 64;
#else
inline constexpr std::size_t plain_bytes = 16;
#endif

template <class T>
inline constexpr std::size_t lane_count = 64 / sizeof(T);

// 64 bytes in several vectors.
template <class T>
struct Plain {
  static constexpr std::size_t width = plain_bytes / sizeof(T), vectors = 64 / plain_bytes;
  typedef T Vector [[gnu::vector_size(plain_bytes)]];
  Vector v[vectors];

  [[nodiscard]] T operator[](std::size_t lane) const { return v[lane / width][lane % width]; }
};
template <class T, class F>
[[gnu::always_inline]] inline Plain<T> each(F f) {
  if constexpr (Plain<T>::vectors == 1) return {{f(0)}};
  else return {{f(0), f(1), f(2), f(3)}};
}
template <class T>
[[gnu::always_inline]] inline Plain<T> operator+(const Plain<T>& a, const Plain<T>& b) {
  return each<T>([&](std::size_t k) { return a.v[k] + b.v[k]; });
}
template <class T>
[[gnu::always_inline]] inline Plain<T> operator-(const Plain<T>& a, const Plain<T>& b) {
  return each<T>([&](std::size_t k) { return a.v[k] - b.v[k]; });
}
template <class T>
[[gnu::always_inline]] inline Plain<T> operator*(const Plain<T>& a, const Plain<T>& b) {
  return each<T>([&](std::size_t k) { return a.v[k] * b.v[k]; });
}
template <class T>
[[gnu::always_inline]] inline Plain<T> operator/(const Plain<T>& a, const Plain<T>& b) {
  return each<T>([&](std::size_t k) { return a.v[k] / b.v[k]; });
}

template <class T_>
struct PlainLanes {
  using T = T_;
  using Real = Plain<T>;
  using Whole = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  using Mask = Plain<Whole>;  // all bits of a lane are set, or none
  static constexpr std::size_t width = lane_count<T>;

  static Real all(T a) {
    return each<T>([&](std::size_t) { return typename Real::Vector{} + a; });
  }
  static Real load(const T* from) {
    Real r;
    std::memcpy(&r, from, sizeof(r));
    return r;
  }
  static void store(const Real& a, T* to) { std::memcpy(to, &a, sizeof(a)); }
  static Mask less(const Real& a, const Real& b) {
    return each<Whole>([&](std::size_t k) { return a.v[k] < b.v[k]; });
  }
  static Real choose(const Mask& m, const Real& a, const Real& b) {
    return each<T>([&](std::size_t k) { return m.v[k] ? a.v[k] : b.v[k]; });
  }
  static Real root(const Real& a) {
    T r[width];
    std::memcpy(r, &a, sizeof(r));
    for (T& x : r) x = std::sqrt(x);
    return load(r);
  }
  // The larger one; b where a is not larger.
  static Real larger(const Real& a, const Real& b) {
    return each<T>([&](std::size_t k) { return a.v[k] > b.v[k] ? a.v[k] : b.v[k]; });
  }
  // The lanes before the given one.
  static Mask first(std::size_t lanes) {
    Mask m;
    for (std::size_t k = 0; k < Mask::vectors; ++k)
      for (std::size_t lane = 0; lane < Mask::width; ++lane) m.v[k][lane] = k * Mask::width + lane < lanes ? -1 : 0;
    return m;
  }
  // The lanes whose last bit is set.
  static Mask odd(const Real& a) {
    const auto bits = std::bit_cast<Mask>(a);
    return each<Whole>([&](std::size_t k) { return (bits.v[k] & 1) != 0; });
  }
  static bool any(const Mask& m) {
    auto all = m.v[0];
    for (std::size_t k = 1; k < Mask::vectors; ++k) all |= m.v[k];
    Whole bits = 0;
    for (std::size_t lane = 0; lane < Mask::width; ++lane) bits |= all[lane];
    return bits != 0;
  }
  static Mask both(const Mask& a, const Mask& b) {
    return each<Whole>([&](std::size_t k) { return a.v[k] & b.v[k]; });
  }
  // Writes (`number` + lane) × `stride` for the lanes of the mask, without gaps; returns how many. Up to `width`
  // numbers after them are overwritten.
  template <std::uint32_t stride>
  static std::size_t pack(const Mask& m, std::uint32_t number, std::uint32_t* to) {
    std::size_t n = 0;
    for (std::size_t k = 0; k < width; ++k) {
      to[n] = (number + static_cast<std::uint32_t>(k)) * stride;
      n += static_cast<std::size_t>(m[k] & 1);
    }
    return n;
  }
  // Four neighbouring numbers of one record per lane, as columns; `which` says where records begin.
  static void columns(const T* records, const std::uint32_t* which, Real* out) {
    T column[4][width];
    for (std::size_t k = 0; k < width; ++k)
      for (std::size_t c = 0; c < 4; ++c) column[c][k] = records[which[k] + c];
    for (std::size_t c = 0; c < 4; ++c) out[c] = load(column[c]);
  }
  // The sums over the lanes of the first `count` of 16 numbers.
  template <std::size_t count = 16>
  static void sums(const Real (&in)[16], T (&out)[16]) {
    for (std::size_t n = 0; n < count; ++n) {
      Real r = in[n];
      for (std::size_t half = Real::vectors / 2; half > 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) r.v[k] = r.v[k] + r.v[k + half];
      T lanes[Real::width];
      std::memcpy(lanes, &r.v[0], sizeof(lanes));
      for (std::size_t half = Real::width / 2; half > 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) lanes[k] = lanes[k] + lanes[k + half];
      out[n] = lanes[0];
    }
  }
};

}  // namespace
}  // namespace vicinal::sph
