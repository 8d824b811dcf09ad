// The intrinsics of NEON, and what the files that use them share. A mask of four lanes has all bits of a set lane set.
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "exec/pack_table.hpp"

namespace vicinal {
namespace {

// The set lanes of a mask: a bit for each and their number, by one sum over the lanes.
struct SetLanes {
  unsigned sum;
  explicit SetLanes(uint32x4_t mask) {
    alignas(16) static constexpr std::uint32_t weights[4] = {16 + 1, 16 + 2, 16 + 4, 16 + 8};
    sum = vaddvq_u32(vandq_u32(mask, vld1q_u32(weights)));
  }
  [[nodiscard]] unsigned bits() const { return sum % 16; }
  [[nodiscard]] std::size_t number() const { return sum / 16; }
};

inline bool any_lane(uint32x4_t mask) { return vmaxvq_u32(mask) != 0; }

// Moves the lanes whose bits are set to the front.
inline uint8x16_t packing_of(unsigned bits) { return vld1q_u8(byte_pack_table.entry[bits]); }
inline int32x4_t pack_four(int32x4_t numbers, uint8x16_t packing) {
  return vreinterpretq_s32_u8(vqtbl1q_u8(vreinterpretq_u8_s32(numbers), packing));
}
// Four consecutive numbers.
inline int32x4_t count_from(std::uint32_t first) {
  alignas(16) static constexpr std::uint32_t lanes[4] = {0, 1, 2, 3};
  return vreinterpretq_s32_u32(vaddq_u32(vdupq_n_u32(first), vld1q_u32(lanes)));
}

}  // namespace
}  // namespace vicinal
