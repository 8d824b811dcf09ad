// The definition of wrapping into a tilted cell (docs/definition.md), for one position and for lanes of registers.
//
// This header is included by translation units compiled for different instruction sets, so it must not pull in
// anything whose inline functions the linker could share between them: plain types only.
#pragma once

#include <cstdint>

namespace vicinal {
namespace {

// One position at a time. Lanes of an instruction set have the same types and functions (wrap_kernel_avx2.cpp).
template <class T>
struct OnePosition {
  using value = T;
  using vector = T;
  using wide = double;
  using whole = std::int32_t;

  static inline T broadcast(T x) { return x; }
  static inline T add(T a, T b) { return a + b; }
  static inline T subtract(T a, T b) { return a - b; }
  static inline T multiply(T a, T b) { return a * b; }
  static inline double widen(T x, double factor) { return static_cast<double>(x) * factor; }
  static inline double add_wide(double a, double b) { return a + b; }
  // Rounded down without a branch or a call. (Positions are not so many lengths away that an int32 is too short.)
  static inline std::int32_t down(double x) {
    const auto number = static_cast<std::int32_t>(x);
    return number - (x < static_cast<double>(number) ? 1 : 0);
  }
  static inline T narrow(std::int32_t number) { return static_cast<T>(number); }
  static inline std::int32_t add_whole(std::int32_t a, std::int32_t b) { return a + b; }
  static inline std::int32_t either(std::int32_t a, std::int32_t b) { return a | b; }
  // x where `number` is 0, otherwise y.
  static inline T choose(std::int32_t number, T x, T y) { return number == 0 ? x : y; }
};

// Subtracts whole vectors from positions, and adds their numbers to `counts`. `vector` and `inverse` are the rows of
// Lattice (geometry/box.hpp). Returns 0 for positions that were inside: they keep their bits.
//
// It has to be done twice: far outside the cell the first result is rounded as coarsely as the position was.
template <class Lanes, int D>
[[gnu::always_inline]] inline typename Lanes::whole subtract_vectors(const typename Lanes::value* vector,
                                                                     const double* inverse, typename Lanes::vector* x,
                                                                     typename Lanes::whole* counts) {
  typename Lanes::vector times[D];
  typename Lanes::whole outside{};
  for (int k = 0; k < D; ++k) {
    auto along = Lanes::widen(x[0], inverse[k * D]);
    for (int a = 1; a < D; ++a) along = Lanes::add_wide(along, Lanes::widen(x[a], inverse[k * D + a]));
    const auto down = Lanes::down(along);
    times[k] = Lanes::narrow(down);
    counts[k] = Lanes::add_whole(counts[k], down);
    outside = Lanes::either(outside, down);
  }
  for (int a = 0; a < D; ++a) {
    auto moved = Lanes::multiply(times[0], Lanes::broadcast(vector[a]));
    for (int k = 1; k < D; ++k)
      moved = Lanes::add(moved, Lanes::multiply(times[k], Lanes::broadcast(vector[k * D + a])));
    x[a] = Lanes::choose(outside, x[a], Lanes::subtract(x[a], moved));
  }
  return outside;
}

}  // namespace
}  // namespace vicinal
