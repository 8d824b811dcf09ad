// The vector code for rows: one small table of functions per instruction set.
//
// This header is included by translation units compiled for different instruction sets, so it must not pull in anything
// whose inline functions the linker could share between them: plain types only.
#pragma once

#include "pairs/sort_kernels.hpp"

namespace vicinal {

// Of the instruction set in use.
const SortKernels& row_kernels();

const SortKernels& baseline_row_kernels();
const SortKernels& avx2_row_kernels();
const SortKernels& avx512_row_kernels();
const SortKernels& neon_row_kernels();

}  // namespace vicinal
