// The vector code of exact sums: one small table of functions per instruction set.
//
// This header is included by translation units compiled for different instruction sets, so it must not pull in anything
// whose inline functions the linker could share between them: plain types only.
#pragma once

#include <cstddef>

namespace vicinal {

// Numbers that are summed at once. Their sum, in units of 2^-42 of the largest, is an integer below 2^53.
inline constexpr std::size_t sum_block = 512;

struct SumKernels {
  // The largest magnitude of n numbers, or NaN if one of them is not finite.
  double (*largest)(const double* numbers, std::size_t n);
  // Rounds n <= sum_block numbers to multiples of the last digit of anchors[0], and what is left to multiples of that
  // of anchors[1], and writes the sums of the multiples. An anchor has the form 1.5 * 2^k. What is left then is written
  // to `to`, which may be `from` and has room for a whole register of eight numbers at the end; returns its largest
  // magnitude.
  double (*split)(const double* from, std::size_t n, const double* anchors, double* to, double* sums);
};

// Of the instruction set in use.
const SumKernels& sum_kernels();

const SumKernels& baseline_sum_kernels();
const SumKernels& avx2_sum_kernels();
const SumKernels& avx512_sum_kernels();
const SumKernels& neon_sum_kernels();

}  // namespace vicinal
