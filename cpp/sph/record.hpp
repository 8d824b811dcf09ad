// A particle as loops over neighbours see it: 8 numbers in two dimensions, 12 in three.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace vicinal::sph {

// Positions are relative to the lower corner of the particle's cell, so that float32 resolves them everywhere alike;
// densities are those above the rest density. The last four numbers are loaded together, as are the first ones.
template <class T, int D>
struct alignas(D == 2 ? 8 * sizeof(T) : 4 * sizeof(T)) Record {
  static constexpr std::size_t size = D == 2 ? 8 : 12;
  static constexpr std::size_t x = 0;
  static constexpr std::size_t u = D == 2 ? 2 : 4;
  static constexpr std::size_t density = D == 2 ? 4 : 7;  // with phases the volume
  static constexpr std::size_t pressure = D == 2 ? 5 : 3;
  // Of a fluid particle half the gradient of its density, or the number of its phase and a factor of its viscosity; of
  // a wall particle the velocity that viscosity sees.
  static constexpr std::size_t extra = D == 2 ? 6 : 8;
  // With dfsph the bits of four times the slot of a fluid particle.
  static constexpr std::size_t place = size - 1;
  T c[size];
};

// The last bit of a pressure says whether the particle is part of a free surface.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
[[gnu::always_inline]] inline bool is_marked(T pressure) {
  return (std::bit_cast<Bits<T>>(pressure) & 1) != 0;
}
template <class T>
[[gnu::always_inline]] inline T marked(T pressure, bool surface) {
  return std::bit_cast<T>(static_cast<Bits<T>>((std::bit_cast<Bits<T>>(pressure) & ~Bits<T>{1}) | (surface ? 1U : 0U)));
}

}  // namespace vicinal::sph
