// The vector code that sorts ids: one small table of functions per instruction set. (rows/row_kernels.hpp has the
// tables.)
//
// This header is included by translation units compiled for different instruction sets, so it must not pull in anything
// whose inline functions the linker could share between them: plain types only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinal {

// Ids that `rank` and `arrange` take at once.
inline constexpr std::size_t most_ranked = 1024;
// All of these functions may write this many entries past the end, and read half as many.
inline constexpr std::size_t sort_overshoot = 64;

struct SortKernels {
  // Writes n entries in ascending order to `to`, which may be `from`.
  void (*sort)(const std::int32_t* from, std::size_t n, std::int32_t* to);
  // Writes the places of the ids in ascending order of id, and returns 0. If the ids are spread too widely to be
  // compared exactly, returns the number of bits of a place: each entry then has the upper bits of an id before the
  // place, and entries that agree in them are not in order yet.
  int (*rank)(const std::int32_t* ids, std::size_t n, std::int32_t* places);
  // Moves entry places[k] of every column to entry k, for all k < n. Entries behind them stay, up to a multiple of 16.
  void (*arrange)(std::int32_t* places, std::size_t n, std::int32_t* const* columns, std::size_t count);
};

}  // namespace vicinal
