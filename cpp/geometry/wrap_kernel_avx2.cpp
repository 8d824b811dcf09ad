// Positions in a tilted cell on AVX2, four at a time.
#include <immintrin.h>

#include "geometry/wrap_kernel_simd.hpp"

namespace vicinal {
namespace {

struct FourWholes {
  static constexpr std::size_t width = 4;
  using wide = __m256d;
  using whole = __m128i;

  static inline wide add_wide(wide a, wide b) { return _mm256_add_pd(a, b); }
  static inline whole down(wide x) {
    const whole number = _mm256_cvttpd_epi32(x);
    // -1 where the number is above x: the lower halves of lanes of 64 bits.
    const __m256i above = _mm256_castpd_si256(_mm256_cmp_pd(x, _mm256_cvtepi32_pd(number), _CMP_LT_OQ));
    const __m256i halves = _mm256_permutevar8x32_epi32(above, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    return _mm_add_epi32(number, _mm256_castsi256_si128(halves));
  }
  static inline whole none() { return _mm_setzero_si128(); }
  static inline whole add_whole(whole a, whole b) { return _mm_add_epi32(a, b); }
  static inline whole either(whole a, whole b) { return _mm_or_si128(a, b); }
  static inline whole is_zero(whole a) { return _mm_cmpeq_epi32(a, none()); }
  static inline bool any(whole a) { return _mm_testz_si128(a, a) == 0; }
  static inline void store_whole(std::int32_t* p, whole a) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), a); }
};

struct Doubles : FourWholes {
  using value = double;
  using vector = __m256d;

  static inline vector load(const double* p) { return _mm256_loadu_pd(p); }
  static inline void store(double* p, vector v) { _mm256_storeu_pd(p, v); }
  static inline vector broadcast(double x) { return _mm256_set1_pd(x); }
  static inline vector add(vector a, vector b) { return _mm256_add_pd(a, b); }
  static inline vector subtract(vector a, vector b) { return _mm256_sub_pd(a, b); }
  static inline vector multiply(vector a, vector b) { return _mm256_mul_pd(a, b); }
  static inline wide widen(vector x, double factor) { return _mm256_mul_pd(x, _mm256_set1_pd(factor)); }
  static inline vector narrow(whole a) { return _mm256_cvtepi32_pd(a); }
  static inline vector choose(whole a, vector x, vector y) {
    return _mm256_blendv_pd(y, x, _mm256_castsi256_pd(_mm256_cvtepi32_epi64(is_zero(a))));
  }
};

struct Floats : FourWholes {
  using value = float;
  using vector = __m128;

  static inline vector load(const float* p) { return _mm_loadu_ps(p); }
  static inline void store(float* p, vector v) { _mm_storeu_ps(p, v); }
  static inline vector broadcast(float x) { return _mm_set1_ps(x); }
  static inline vector add(vector a, vector b) { return _mm_add_ps(a, b); }
  static inline vector subtract(vector a, vector b) { return _mm_sub_ps(a, b); }
  static inline vector multiply(vector a, vector b) { return _mm_mul_ps(a, b); }
  static inline wide widen(vector x, double factor) {
    return _mm256_mul_pd(_mm256_cvtps_pd(x), _mm256_set1_pd(factor));
  }
  static inline vector narrow(whole a) { return _mm_cvtepi32_ps(a); }
  static inline vector choose(whole a, vector x, vector y) { return _mm_blendv_ps(y, x, _mm_castsi128_ps(is_zero(a))); }
};

}  // namespace

const WrapKernels& avx2_wrap_kernels() {
  static constexpr WrapKernels kernels{{wrap<Floats, 2>, wrap<Floats, 3>}, {wrap<Doubles, 2>, wrap<Doubles, 3>}};
  return kernels;
}
// Wider registers gain nothing worth a unit: the tests of a search take much longer than this.
const WrapKernels& avx512_wrap_kernels() { return avx2_wrap_kernels(); }

}  // namespace vicinal
