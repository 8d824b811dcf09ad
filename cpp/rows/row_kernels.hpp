// The vector code for rows: one small table of functions per instruction set.
//
// This header is included by translation units compiled for different instruction sets, so it must not pull in anything
// whose inline functions the linker could share between them: plain types only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinal {

// `sort` may write this many entries past the end of a row, and read half as many.
inline constexpr std::size_t sort_overshoot = 64;

struct RowKernels {
  // Writes n entries in ascending order to `to`, which may be `from`.
  void (*sort)(const std::int32_t* from, std::size_t n, std::int32_t* to);
};

// Of the instruction set in use.
const RowKernels& row_kernels();

const RowKernels& baseline_row_kernels();
const RowKernels& avx2_row_kernels();
const RowKernels& avx512_row_kernels();
const RowKernels& neon_row_kernels();

}  // namespace vicinal
