// Morton codes: the bits of integer coordinates, interleaved, so that cells near on the curve are near in space.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace vicinal {

// Bits of a coordinate that fit into a code of 63 bits.
template <int D>
inline constexpr int morton_bits = 63 / D;

namespace detail {

// Moves bit k to bit D * k, halving the length of the pieces that stay together in every step.
template <int D>
constexpr std::uint64_t spread_bits(std::uint64_t x) {
  static_assert(D == 2 || D == 3);
  if constexpr (D == 2) {
    x = (x | x << 16) & 0x0000FFFF0000FFFF;
    x = (x | x << 8) & 0x00FF00FF00FF00FF;
    x = (x | x << 4) & 0x0F0F0F0F0F0F0F0F;
    x = (x | x << 2) & 0x3333333333333333;
    return (x | x << 1) & 0x5555555555555555;
  } else {
    x = (x | x << 32) & 0x001F00000000FFFF;
    x = (x | x << 16) & 0x001F0000FF0000FF;
    x = (x | x << 8) & 0x100F00F00F00F00F;
    x = (x | x << 4) & 0x10C30C30C30C30C3;
    return (x | x << 2) & 0x1249249249249249;
  }
}

}  // namespace detail

// The first axis has the highest of each D bits.
template <int D>
constexpr std::uint64_t morton_code(const std::array<std::uint32_t, D>& cell) {
  std::uint64_t code = 0;
  for (std::size_t a = 0; a < D; ++a) code = code << 1 | detail::spread_bits<D>(cell[a]);
  return code;
}

}  // namespace vicinal
