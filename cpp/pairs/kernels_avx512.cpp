// The exact test on AVX-512: 16 float or 8 double lanes, hits packed in a register.
//
// The packing store to memory is microcoded on some processors, so lanes are packed in a register and stored whole.
#include "exec/avx512.hpp"

#include "pairs/kernels_simd.hpp"
#include "pairs/nearest_simd.hpp"

namespace vicinal {
namespace {

// Two registers at once: enough for most queries.
inline std::size_t fill_two(std::int32_t* to, std::int32_t id) {
  const __m512i value = _mm512_set1_epi32(id);
  _mm512_storeu_si512(to, value);
  _mm512_storeu_si512(to + 16, value);
  return 32;
}

inline __m512i slots_from(std::size_t first) {
  return _mm512_add_epi32(_mm512_set1_epi32(static_cast<std::int32_t>(first)),
                          _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
}

struct FloatLanes {
  using value = float;
  using vector = __m512;
  using mask = Mask16;
  static constexpr std::size_t width = 16;

  static inline vector load(const float* p) { return _mm512_loadu_ps(p); }
  static inline void store(float* p, vector v) { _mm512_storeu_ps(p, v); }
  static inline void copy(std::int32_t* to, const std::int32_t* from) {
    _mm512_storeu_si512(to, _mm512_loadu_si512(from));
  }
  static inline vector broadcast(float x) { return _mm512_set1_ps(x); }
  static inline vector subtract(vector a, vector b) { return _mm512_sub_ps(a, b); }
  static inline vector add(vector a, vector b) { return _mm512_add_ps(a, b); }
  static inline vector multiply(vector a, vector b) { return _mm512_mul_ps(a, b); }
  static inline mask at_most(vector a, vector b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
  static inline mask from(std::size_t k) { return static_cast<mask>(~0U << k); }
  static inline mask first(std::size_t k) { return static_cast<mask>((1U << k) - 1); }
  static inline mask without(std::size_t k) { return static_cast<mask>(~(1U << k)); }
  static inline __m512i broadcast_id(std::int32_t id) { return _mm512_set1_epi32(id); }
  static inline mask greater(const std::int32_t* payload, __m512i limit) {
    return _mm512_cmpgt_epi32_mask(_mm512_loadu_si512(payload), limit);
  }
  static inline vector least(vector a, vector b) { return _mm512_min_ps(a, b); }
  static inline vector most(vector a, vector b) { return _mm512_max_ps(a, b); }
  static inline float root(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }
  static inline vector roots(vector v) { return _mm512_sqrt_ps(v); }
  static inline vector zero() { return _mm512_setzero_ps(); }
  static inline void number_slots(std::int32_t* to, std::size_t first) { _mm512_storeu_si512(to, slots_from(first)); }
  // Packing takes two instructions of the one unit that shuffles, a permutation one: the numbers of lanes are packed
  // once, all columns permuted.
  using permutation = __m512i;
  static inline permutation packing(mask m) { return _mm512_maskz_compress_epi32(m, slots_from(0)); }
  static inline vector pack(vector v, permutation p) { return _mm512_permutexvar_ps(p, v); }
  static inline void pack_payload(std::int32_t* to, const std::int32_t* payload, permutation p) {
    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(p, _mm512_loadu_si512(payload)));
  }
  static inline void pack_slots(std::int32_t* to, std::size_t first, permutation p) {
    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(p, slots_from(first)));
  }
  static inline mask both(mask a, mask b) { return static_cast<mask>(a & b); }
  static inline mask differ(mask a, mask b) { return static_cast<mask>(a ^ b); }
  static inline mask either(mask a, mask b) { return static_cast<mask>(a | b); }
  static inline mask none() { return 0; }
  static inline bool any(mask a) { return a != 0; }
  static inline std::size_t number(mask m) { return static_cast<std::size_t>(__builtin_popcount(m)); }
  static inline std::size_t keep(std::int32_t* to, const std::int32_t* payload, mask m) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(m, _mm512_loadu_si512(payload)));
    return number(m);
  }
  static inline std::size_t fill(std::int32_t* to, std::int32_t id) { return fill_two(to, id); }
  static inline vector narrow(__m512d low, __m512d high) {
    // By halves: the emulator does not know the conversion of a whole register.
    const auto half = [](__m512d v) {
      return _mm256_set_m128(_mm256_cvtpd_ps(_mm512_extractf64x4_pd(v, 1)), _mm256_cvtpd_ps(_mm512_castpd512_pd256(v)));
    };
    return _mm512_insertf32x8(_mm512_castps256_ps512(half(low)), half(high), 1);
  }
  // Loads one by one: the instruction that gathers is slow on processors that protect it.
  static inline vector at(const float* p, const std::int32_t* places) {
    const auto x = [&](int k) { return p[places[k]]; };
    return _mm512_setr_ps(x(0), x(1), x(2), x(3), x(4), x(5), x(6), x(7), x(8), x(9), x(10), x(11), x(12), x(13), x(14),
                          x(15));
  }
  static inline vector where(mask m, vector a, vector b) { return _mm512_mask_blend_ps(m, b, a); }
  static inline vector packed(vector v, mask m) { return _mm512_maskz_compress_ps(m, v); }
  static inline vector with_bits(vector v, vector replaced, vector bits) {
    const __m512i kept = _mm512_andnot_si512(_mm512_castps_si512(replaced), _mm512_castps_si512(v));
    return _mm512_castsi512_ps(_mm512_or_si512(kept, _mm512_castps_si512(bits)));
  }
  template <int X>
  static inline vector exchanged(vector v) {
    return _mm512_permutexvar_ps(_mm512_xor_si512(slots_from(0), _mm512_set1_epi32(X)), v);
  }
  template <int X>
  static inline vector ordered(vector v) {
    constexpr mask upper = X < 2 ? 0xAAAA : X < 4 ? 0xCCCC : X < 8 ? 0xF0F0 : 0xFF00;
    const vector other = exchanged<X>(v);
    return _mm512_mask_max_ps(_mm512_min_ps(v, other), upper, v, other);
  }
  static inline float least_of(vector v) {
    const __m256 upper = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(v), 1));
    const __m256 eight = _mm256_min_ps(_mm512_castps512_ps256(v), upper);
    __m128 four = _mm_min_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_min_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_min_ss(four, _mm_movehdup_ps(four)));
  }
  static inline unsigned bits(mask m) { return m; }
  using tally = __m512i;
  using count = std::int32_t;
  static inline tally none_yet() { return _mm512_setzero_si512(); }
  static inline tally add_to(tally t, mask m) { return _mm512_mask_add_epi32(t, m, t, _mm512_set1_epi32(1)); }
  static inline mask reached(tally t, std::size_t k) {
    return _mm512_cmpgt_epi32_mask(t, _mm512_set1_epi32(static_cast<std::int32_t>(k) - 1));
  }
  static inline void store_tally(count* to, tally t) { _mm512_storeu_si512(to, t); }
};

struct DoubleLanes {
  using value = double;
  using vector = __m512d;
  using mask = Mask8;
  static constexpr std::size_t width = 8;

  static inline vector load(const double* p) { return _mm512_loadu_pd(p); }
  static inline void store(double* p, vector v) { _mm512_storeu_pd(p, v); }
  static inline void copy(std::int32_t* to, const std::int32_t* from) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static inline vector broadcast(double x) { return _mm512_set1_pd(x); }
  static inline vector subtract(vector a, vector b) { return _mm512_sub_pd(a, b); }
  static inline vector add(vector a, vector b) { return _mm512_add_pd(a, b); }
  static inline vector multiply(vector a, vector b) { return _mm512_mul_pd(a, b); }
  static inline mask at_most(vector a, vector b) { return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ); }
  static inline mask from(std::size_t k) { return static_cast<mask>(~0U << k); }
  static inline mask first(std::size_t k) { return static_cast<mask>((1U << k) - 1); }
  static inline mask without(std::size_t k) { return static_cast<mask>(~(1U << k)); }
  // Compared in the lower half of a register: the emulation has few comparisons of half registers.
  static inline __m512i broadcast_id(std::int32_t id) { return _mm512_set1_epi32(id); }
  static inline __m512i load_ids(const std::int32_t* payload) {
    return _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(payload)));
  }
  static inline mask greater(const std::int32_t* payload, __m512i limit) {
    return static_cast<mask>(_mm512_cmpgt_epi32_mask(load_ids(payload), limit));
  }
  static inline vector least(vector a, vector b) { return _mm512_min_pd(a, b); }
  static inline vector most(vector a, vector b) { return _mm512_max_pd(a, b); }
  static inline double root(double x) { return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x))); }
  static inline vector roots(vector v) { return _mm512_sqrt_pd(v); }
  static inline vector zero() { return _mm512_setzero_pd(); }
  static inline __m256i low_slots(std::size_t first) { return _mm512_castsi512_si256(slots_from(first)); }
  static inline void number_slots(std::int32_t* to, std::size_t first) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low_slots(first));
  }
  using permutation = mask;
  static inline permutation packing(mask m) { return m; }
  static inline vector pack(vector v, permutation p) { return _mm512_maskz_compress_pd(p, v); }
  static inline void pack_payload(std::int32_t* to, const std::int32_t* payload, permutation p) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(payload));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_maskz_compress_epi32(p, values));
  }
  static inline void pack_slots(std::int32_t* to, std::size_t first, permutation p) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_maskz_compress_epi32(p, low_slots(first)));
  }
  static inline mask both(mask a, mask b) { return static_cast<mask>(a & b); }
  static inline mask none() { return 0; }
  static inline bool any(mask a) { return a != 0; }
  static inline std::size_t number(mask m) { return static_cast<std::size_t>(__builtin_popcount(m)); }
  static inline std::size_t keep(std::int32_t* to, const std::int32_t* payload, mask m) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(payload));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_maskz_compress_epi32(m, values));
    return number(m);
  }
  static inline std::size_t fill(std::int32_t* to, std::int32_t id) { return fill_two(to, id); }
  static inline vector at(const double* p, const std::int32_t* places) {
    const auto x = [&](int k) { return p[places[k]]; };
    return _mm512_setr_pd(x(0), x(1), x(2), x(3), x(4), x(5), x(6), x(7));
  }
  static inline unsigned bits(mask m) { return m; }
  using tally = __m512i;
  using count = std::int64_t;
  static inline tally none_yet() { return _mm512_setzero_si512(); }
  static inline tally add_to(tally t, mask m) { return _mm512_mask_add_epi64(t, m, t, _mm512_set1_epi64(1)); }
  static inline void store_tally(count* to, tally t) { _mm512_storeu_si512(to, t); }
};

}  // namespace

const Kernels& avx512_kernels() {
  static constexpr Kernels kernels = make_kernels<FloatLanes, DoubleLanes>();
  return kernels;
}
const NearestKernels& avx512_nearest_kernels() {
  static constexpr NearestKernels kernels = make_nearest_kernels<FloatLanes, DoubleLanes>();
  return kernels;
}

}  // namespace vicinal
