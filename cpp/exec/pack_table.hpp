// How to move the set lanes of a mask to the front, for vector code without an instruction for it.
//
// This header is included by translation units compiled for different instruction sets: constants only, and each unit
// keeps its own copy.
#pragma once

#include <cstdint>

namespace vicinal {
namespace {

// For every mask of 8 lanes, the numbers of its set lanes first. Bytes: 2 kB, so that it stays in the first cache.
struct PackTable {
  std::uint64_t entry[256];
  constexpr PackTable() : entry{} {
    for (unsigned mask = 0; mask < 256; ++mask) {
      unsigned to = 0;
      for (unsigned lane = 0; lane < 8; ++lane)
        if ((mask >> lane & 1U) != 0) entry[mask] |= static_cast<std::uint64_t>(lane) << (8 * to++);
    }
  }
};
constexpr PackTable pack_table;

// For every mask of 4 lanes of 4 bytes, the numbers of the bytes of its set lanes first.
struct BytePackTable {
  alignas(16) std::uint8_t entry[16][16];
  constexpr BytePackTable() : entry{} {
    for (unsigned mask = 0; mask < 16; ++mask) {
      unsigned to = 0;
      for (unsigned byte = 0; byte < 16; ++byte)
        if ((mask >> (byte / 4) & 1U) != 0) entry[mask][to++] = static_cast<std::uint8_t>(byte);
    }
  }
};
constexpr BytePackTable byte_pack_table;

}  // namespace
}  // namespace vicinal
