// Positions in a tilted cell on AVX-512, eight at a time.
#include "exec/avx512.hpp"

#include "geometry/wrap_kernel_simd.hpp"

namespace vicinal {
namespace {

struct EightWholes {
  static constexpr std::size_t width = 8;
  using wide = __m512d;
  using whole = __m256i;

  static inline wide add_wide(wide a, wide b) { return _mm512_add_pd(a, b); }
  static inline whole down(wide x) {
    const whole number = _mm512_cvttpd_epi32(x);
    const Mask8 above = _mm512_cmp_pd_mask(x, _mm512_cvtepi32_pd(number), _CMP_LT_OQ);
    return _mm256_mask_sub_epi32(number, above, number, _mm256_set1_epi32(1));
  }
  static inline whole none() { return _mm256_setzero_si256(); }
  static inline whole add_whole(whole a, whole b) { return _mm256_add_epi32(a, b); }
  static inline whole either(whole a, whole b) { return _mm256_or_si256(a, b); }
  static inline Mask8 not_zero(whole a) { return _mm256_test_epi32_mask(a, a); }
  static inline bool any(whole a) { return not_zero(a) != 0; }
  static inline void store_whole(std::int32_t* p, whole a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a); }
};

struct Doubles : EightWholes {
  using value = double;
  using vector = __m512d;

  static inline vector load(const double* p) { return _mm512_loadu_pd(p); }
  static inline void store(double* p, vector v) { _mm512_storeu_pd(p, v); }
  static inline vector broadcast(double x) { return _mm512_set1_pd(x); }
  static inline vector add(vector a, vector b) { return _mm512_add_pd(a, b); }
  static inline vector subtract(vector a, vector b) { return _mm512_sub_pd(a, b); }
  static inline vector multiply(vector a, vector b) { return _mm512_mul_pd(a, b); }
  static inline wide widen(vector x, double factor) { return _mm512_mul_pd(x, _mm512_set1_pd(factor)); }
  static inline vector narrow(whole a) { return _mm512_cvtepi32_pd(a); }
  static inline vector choose(whole a, vector x, vector y) { return _mm512_mask_blend_pd(not_zero(a), x, y); }
};

struct Floats : EightWholes {
  using value = float;
  using vector = __m256;

  static inline vector load(const float* p) { return _mm256_loadu_ps(p); }
  static inline void store(float* p, vector v) { _mm256_storeu_ps(p, v); }
  static inline vector broadcast(float x) { return _mm256_set1_ps(x); }
  static inline vector add(vector a, vector b) { return _mm256_add_ps(a, b); }
  static inline vector subtract(vector a, vector b) { return _mm256_sub_ps(a, b); }
  static inline vector multiply(vector a, vector b) { return _mm256_mul_ps(a, b); }
  static inline wide widen(vector x, double factor) {
    return _mm512_mul_pd(_mm512_cvtps_pd(x), _mm512_set1_pd(factor));
  }
  static inline vector narrow(whole a) { return _mm256_cvtepi32_ps(a); }
  static inline vector choose(whole a, vector x, vector y) { return _mm256_mask_blend_ps(not_zero(a), x, y); }
};

}  // namespace

const WrapKernels& avx512_wrap_kernels() {
  static constexpr WrapKernels kernels{{wrap<Floats, 2>, wrap<Floats, 3>}, {wrap<Doubles, 2>, wrap<Doubles, 3>}};
  return kernels;
}

}  // namespace vicinal
