// The vector code for rows: one small table of functions per instruction set.
//
// This header is included by translation units compiled for different instruction sets, so it must not pull in anything
// whose inline functions the linker could share between them: plain types only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinal {

// `sort` may write this many entries past the end of a row.
inline constexpr std::size_t sort_overshoot = 64;

struct RowKernels {
  // Sorts n entries in ascending order.
  void (*sort)(std::int32_t* row, std::size_t n);
  // Whether n entries are in ascending order.
  bool (*ascending)(const std::int32_t* row, std::size_t n);
};

const RowKernels& baseline_row_kernels();
const RowKernels& avx2_row_kernels();
const RowKernels& avx512_row_kernels();
const RowKernels& neon_row_kernels();

}  // namespace vicinal
