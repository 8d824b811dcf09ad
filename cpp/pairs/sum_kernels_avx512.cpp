// Exact sums on AVX-512: eight numbers per register.
#include "exec/avx512.hpp"

#include "pairs/sum_kernels_simd.hpp"

namespace vicinal {
namespace {

struct Lanes {
  using vector = __m512d;
  static constexpr std::size_t width = 8;

  static inline vector load(const double* p) { return _mm512_loadu_pd(p); }
  static inline vector load_first(const double* p, std::size_t n) {
    alignas(64) double first[width] = {};  // the emulation has no masked load
    for (std::size_t k = 0; k < n; ++k) first[k] = p[k];
    return _mm512_loadu_pd(first);
  }
  static inline void store(double* p, vector v) { _mm512_storeu_pd(p, v); }
  static inline vector broadcast(double x) { return _mm512_set1_pd(x); }
  static inline vector add(vector a, vector b) { return _mm512_add_pd(a, b); }
  static inline vector subtract(vector a, vector b) { return _mm512_sub_pd(a, b); }
  static inline vector magnitude(vector v) { return _mm512_abs_pd(v); }
  static inline vector most(vector a, vector b) { return _mm512_max_pd(a, b); }
  static inline double sum(vector v) {
    const __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
  static inline double largest(vector v) {
    const __m256d four = _mm256_max_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
    const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
  }
};

}  // namespace

const SumKernels& avx512_sum_kernels() {
  static constexpr SumKernels kernels{largest_of<Lanes>, split_numbers<Lanes>};
  return kernels;
}

}  // namespace vicinal
