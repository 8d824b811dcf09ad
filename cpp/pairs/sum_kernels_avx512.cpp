// Exact sums on AVX-512: eight numbers per register.
#ifdef VICINAL_EMULATE_AVX512
// Plain C in place of the instructions, so that this file is tested on machines that lack them.
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#else
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 warns about the undefined operand inside its own intrinsics (bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

#include "pairs/sum_kernels_simd.hpp"

namespace vicinal {
namespace {

struct Lanes {
  using vector = __m512d;
  static constexpr std::size_t width = 8;

  static inline vector load(const double* p) { return _mm512_loadu_pd(p); }
  static inline void store(double* p, vector v) { _mm512_storeu_pd(p, v); }
  static inline vector broadcast(double x) { return _mm512_set1_pd(x); }
  static inline vector add(vector a, vector b) { return _mm512_add_pd(a, b); }
  static inline vector subtract(vector a, vector b) { return _mm512_sub_pd(a, b); }
  static inline vector magnitude(vector v) { return _mm512_abs_pd(v); }
  static inline vector most(vector a, vector b) { return _mm512_max_pd(a, b); }
};

}  // namespace

const SumKernels& avx512_sum_kernels() {
  static constexpr SumKernels kernels{copy_numbers<Lanes>, split_numbers<Lanes>};
  return kernels;
}

}  // namespace vicinal
