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
  // Copies n <= sum_block numbers, and zeros behind them up to a whole register, of at most eight numbers. Returns the
  // largest magnitude, or NaN if one of them is not finite.
  double (*copy)(const double* from, std::size_t n, double* to);
  // Rounds n numbers to multiples of the last digit of `anchor`, which has the form 1.5 * 2^k, and returns the sum of
  // the multiples. What is left of the numbers stays in place; `largest` becomes its largest magnitude.
  double (*split)(double* numbers, std::size_t n, double anchor, double* largest);
};

const SumKernels& baseline_sum_kernels();
#ifdef VICINAL_X86
const SumKernels& avx2_sum_kernels();
const SumKernels& avx512_sum_kernels();
#endif

}  // namespace vicinal
