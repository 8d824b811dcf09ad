// Two groups of lanes as one. Long chains of operations that wait for each other, such as Newton's method, run nearly
// twice as fast if two of them are in the processor at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dem/lanes.hpp"

namespace vicinal::dem {
namespace {

template <class Part>
struct Doubled {
  Part a, b;
};
template <class R>
[[gnu::always_inline]] inline Doubled<R> operator+(Doubled<R> x, Doubled<R> y) {
  return {x.a + y.a, x.b + y.b};
}
template <class R>
[[gnu::always_inline]] inline Doubled<R> operator-(Doubled<R> x, Doubled<R> y) {
  return {x.a - y.a, x.b - y.b};
}
template <class R>
[[gnu::always_inline]] inline Doubled<R> operator*(Doubled<R> x, Doubled<R> y) {
  return {x.a * y.a, x.b * y.b};
}
template <class R>
[[gnu::always_inline]] inline Doubled<R> operator/(Doubled<R> x, Doubled<R> y) {
  return {x.a / y.a, x.b / y.b};
}
template <class R>
[[gnu::always_inline]] inline auto operator>(Doubled<R> x, Doubled<R> y) {
  return Doubled<decltype(x.a > y.a)>{x.a > y.a, x.b > y.b};
}
template <class R>
[[gnu::always_inline]] inline Doubled<R> root(Doubled<R> x) {
  return {root(x.a), root(x.b)};
}
template <class R>
[[gnu::always_inline]] inline Doubled<R> magnitude(Doubled<R> x) {
  return {magnitude(x.a), magnitude(x.b)};
}
template <class Mask, class R>
[[gnu::always_inline]] inline Doubled<R> choose(Doubled<Mask> yes, Doubled<R> x, Doubled<R> y) {
  return {choose(yes.a, x.a, y.a), choose(yes.b, x.b, y.b)};
}

// The operations that curved.hpp and `tumble` (half_steps.hpp, the only one that scatters) need; see OneLane.
template <class Lanes>
struct Twice {
  using Part = typename Lanes::Real;
  using Real = Doubled<Part>;
  static constexpr std::size_t width = 2 * Lanes::width;
  static Real all(double a) { return {Lanes::all(a), Lanes::all(a)}; }
  template <class RowOf>
  [[gnu::always_inline]] static void gather(RowOf&& row_of, Real (&out)[4]) {
    Part a[4], b[4];
    Lanes::gather(row_of, a);
    Lanes::gather([&](std::size_t lane) -> decltype(auto) { return row_of(Lanes::width + lane); }, b);
    for (std::size_t k = 0; k < 4; ++k) out[k] = {a[k], b[k]};
  }
  template <class RowOf>
  [[gnu::always_inline]] static void scatter(const Real (&in)[4], RowOf&& row_of) {
    const Part a[4] = {in[0].a, in[1].a, in[2].a, in[3].a}, b[4] = {in[0].b, in[1].b, in[2].b, in[3].b};
    Lanes::scatter(a, row_of);
    Lanes::scatter(b, [&](std::size_t lane) -> decltype(auto) { return row_of(Lanes::width + lane); });
  }
  template <class RowOf, class OtherRowOf>
  [[gnu::always_inline]] static void gather_difference(RowOf&& row_of, OtherRowOf&& other_row_of, Real (&out)[4]) {
    Part a[4], b[4];
    Lanes::gather_difference(row_of, other_row_of, a);
    Lanes::gather_difference([&](std::size_t lane) -> decltype(auto) { return row_of(Lanes::width + lane); },
                             [&](std::size_t lane) -> decltype(auto) { return other_row_of(Lanes::width + lane); }, b);
    for (std::size_t k = 0; k < 4; ++k) out[k] = {a[k], b[k]};
  }
  static Real pick(const double* table, std::size_t stride, const std::uint32_t* which) {
    return {Lanes::pick(table, stride, which), Lanes::pick(table, stride, which + Lanes::width)};
  }
  static void store_lanes(Real a, double* to) {
    Lanes::store_lanes(a.a, to);
    Lanes::store_lanes(a.b, to + Lanes::width);
  }
  template <class Mask>
  static unsigned bits(Doubled<Mask> mask) {
    return Lanes::bits(mask.a) | Lanes::bits(mask.b) << Lanes::width;
  }
};

}  // namespace
}  // namespace vicinal::dem
