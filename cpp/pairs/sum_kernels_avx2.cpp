// Exact sums on AVX2: four numbers per register.
#include <immintrin.h>

#include "pairs/sum_kernels_simd.hpp"

namespace vicinal {
namespace {

struct Lanes {
  using vector = __m256d;
  static constexpr std::size_t width = 4;

  static inline vector load(const double* p) { return _mm256_loadu_pd(p); }
  static inline vector load_first(const double* p, std::size_t n) {
    const auto lanes = _mm256_set1_epi64x(static_cast<long long>(n));
    return _mm256_maskload_pd(p, _mm256_cmpgt_epi64(lanes, _mm256_setr_epi64x(0, 1, 2, 3)));
  }
  static inline void store(double* p, vector v) { _mm256_storeu_pd(p, v); }
  static inline vector broadcast(double x) { return _mm256_set1_pd(x); }
  static inline vector add(vector a, vector b) { return _mm256_add_pd(a, b); }
  static inline vector subtract(vector a, vector b) { return _mm256_sub_pd(a, b); }
  static inline vector magnitude(vector v) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), v); }
  static inline vector most(vector a, vector b) { return _mm256_max_pd(a, b); }
  static inline double sum(vector v) {
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
  static inline double largest(vector v) {
    const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
  }
};

}  // namespace

const SumKernels& avx2_sum_kernels() {
  static constexpr SumKernels kernels{largest_of<Lanes>, split_numbers<Lanes>};
  return kernels;
}

}  // namespace vicinal
