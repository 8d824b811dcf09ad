// Exact sums on AVX2: four numbers per register.
#include <immintrin.h>

#include "pairs/sum_kernels_simd.hpp"

namespace vicinal {
namespace {

struct Lanes {
  using vector = __m256d;
  static constexpr std::size_t width = 4;

  static inline vector load(const double* p) { return _mm256_loadu_pd(p); }
  static inline void store(double* p, vector v) { _mm256_storeu_pd(p, v); }
  static inline vector broadcast(double x) { return _mm256_set1_pd(x); }
  static inline vector add(vector a, vector b) { return _mm256_add_pd(a, b); }
  static inline vector subtract(vector a, vector b) { return _mm256_sub_pd(a, b); }
  static inline vector magnitude(vector v) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), v); }
  static inline vector most(vector a, vector b) { return _mm256_max_pd(a, b); }
};

}  // namespace

const SumKernels& avx2_sum_kernels() {
  static constexpr SumKernels kernels{copy_numbers<Lanes>, split_numbers<Lanes>};
  return kernels;
}

}  // namespace vicinal
