// The exact test on AVX2: 8 float or 4 double lanes, hits packed by a table of permutations.
#include <immintrin.h>

#include "exec/pack_table.hpp"
#include "pairs/kernels_simd.hpp"
#include "pairs/nearest_simd.hpp"

namespace vicinal {
namespace {

// Lane masks, read from the right place: zeros, then ones.
alignas(32) constexpr std::int32_t zeros_then_ones[16] = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
alignas(32) constexpr std::int64_t long_zeros_then_ones[8] = {0, 0, 0, 0, -1, -1, -1, -1};

// Four registers at once: enough for most queries.
inline std::size_t fill_four(std::int32_t* to, std::int32_t id) {
  const __m256i value = _mm256_set1_epi32(id);
  for (int k = 0; k < 4; ++k) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 8 * k), value);
  return 32;
}

// Inverted lane masks.
alignas(32) constexpr std::int32_t ones_then_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
alignas(32) constexpr std::int64_t long_ones_then_zeros[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
// One lane among others.
constexpr std::int32_t all_but_one[15] = {-1, -1, -1, -1, -1, -1, -1, 0, -1, -1, -1, -1, -1, -1, -1};
constexpr std::int64_t long_all_but_one[7] = {-1, -1, -1, 0, -1, -1, -1};

inline __m256i slots_from(std::size_t first) {
  return _mm256_add_epi32(_mm256_set1_epi32(static_cast<std::int32_t>(first)),
                          _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// For every mask of 4 lanes of 8 bytes, the same as PackTable in halves of 4 bytes.
struct LongPackTable {
  alignas(32) std::int32_t entry[16][8];
  constexpr LongPackTable() : entry{} {
    for (unsigned mask = 0; mask < 16; ++mask) {
      unsigned to = 0;
      for (int lane = 0; lane < 4; ++lane)
        if ((mask >> lane & 1U) != 0) {
          entry[mask][to++] = 2 * lane;
          entry[mask][to++] = 2 * lane + 1;
        }
    }
  }
};
constexpr LongPackTable long_pack;

struct FloatLanes {
  using value = float;
  using vector = __m256;
  using mask = __m256;
  static constexpr std::size_t width = 8;

  static inline vector load(const float* p) { return _mm256_loadu_ps(p); }
  static inline void store(float* p, vector v) { _mm256_storeu_ps(p, v); }
  static inline void copy(std::int32_t* to, const std::int32_t* from) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static inline vector broadcast(float x) { return _mm256_set1_ps(x); }
  static inline vector subtract(vector a, vector b) { return _mm256_sub_ps(a, b); }
  static inline vector add(vector a, vector b) { return _mm256_add_ps(a, b); }
  static inline vector multiply(vector a, vector b) { return _mm256_mul_ps(a, b); }
  static inline mask at_most(vector a, vector b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
  static inline mask lanes(const std::int32_t* p) {
    return _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static inline mask from(std::size_t k) { return lanes(zeros_then_ones + 8 - k); }
  static inline mask first(std::size_t k) { return lanes(ones_then_zeros + 8 - k); }
  static inline mask without(std::size_t k) { return lanes(all_but_one + 7 - k); }
  static inline __m256i broadcast_id(std::int32_t id) { return _mm256_set1_epi32(id); }
  static inline mask greater(const std::int32_t* payload, __m256i limit) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(payload));
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(values, limit));
  }
  static inline vector least(vector a, vector b) { return _mm256_min_ps(a, b); }
  static inline vector most(vector a, vector b) { return _mm256_max_ps(a, b); }
  static inline float root(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }
  static inline vector roots(vector v) { return _mm256_sqrt_ps(v); }
  static inline vector zero() { return _mm256_setzero_ps(); }
  static inline void number_slots(std::int32_t* to, std::size_t first) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), slots_from(first));
  }
  using permutation = __m256i;
  static inline permutation packing(mask m) {
    const auto bits = static_cast<unsigned>(_mm256_movemask_ps(m));
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(pack_table.entry[bits])));
  }
  static inline vector pack(vector v, permutation p) { return _mm256_permutevar8x32_ps(v, p); }
  static inline void pack_payload(std::int32_t* to, const std::int32_t* payload, permutation p) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(payload));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(values, p));
  }
  static inline void pack_slots(std::int32_t* to, std::size_t first, permutation p) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(slots_from(first), p));
  }
  static inline mask both(mask a, mask b) { return _mm256_and_ps(a, b); }
  static inline mask differ(mask a, mask b) { return _mm256_xor_ps(a, b); }
  static inline mask either(mask a, mask b) { return _mm256_or_ps(a, b); }
  static inline mask none() { return _mm256_setzero_ps(); }
  static inline bool any(mask a) { return _mm256_movemask_ps(a) != 0; }
  static inline std::size_t number(mask m) {
    return static_cast<std::size_t>(_mm_popcnt_u32(static_cast<unsigned>(_mm256_movemask_ps(m))));
  }
  static inline std::size_t keep(std::int32_t* to, const std::int32_t* payload, mask m) {
    const auto bits = static_cast<unsigned>(_mm256_movemask_ps(m));
    const __m256i lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(pack_table.entry[bits])));
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(payload));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(values, lanes));
    return static_cast<std::size_t>(_mm_popcnt_u32(bits));
  }
  static inline std::size_t fill(std::int32_t* to, std::int32_t id) { return fill_four(to, id); }
  static inline vector narrow(__m256d low, __m256d high) {
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
  }
  static inline vector at(const float* p, const std::int32_t* places) {
    const auto x = [&](int k) { return p[places[k]]; };
    return _mm256_setr_ps(x(0), x(1), x(2), x(3), x(4), x(5), x(6), x(7));
  }
  static inline vector where(mask m, vector a, vector b) { return _mm256_blendv_ps(b, a, m); }
  static inline vector packed(vector v, mask m) { return pack(v, packing(m)); }
  static inline vector with_bits(vector v, vector replaced, vector bits) {
    return _mm256_or_ps(_mm256_andnot_ps(replaced, v), bits);
  }
  template <int X>
  static inline vector exchanged(vector v) {
    if constexpr (X < 4) return _mm256_permute_ps(v, (0 ^ X) | (1 ^ X) << 2 | (2 ^ X) << 4 | (3 ^ X) << 6);
    else return _mm256_permutevar8x32_ps(v, _mm256_xor_si256(slots_from(0), _mm256_set1_epi32(X)));
  }
  template <int X>
  static inline vector ordered(vector v) {
    constexpr int upper = X < 2 ? 0xAA : X < 4 ? 0xCC : 0xF0;
    const vector other = exchanged<X>(v);
    return _mm256_blend_ps(_mm256_min_ps(v, other), _mm256_max_ps(v, other), upper);
  }
  static inline float least_of(vector v) {
    __m128 half = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    half = _mm_min_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_min_ss(half, _mm_movehdup_ps(half)));
  }
  static inline unsigned bits(mask m) { return static_cast<unsigned>(_mm256_movemask_ps(m)); }
  using tally = __m256i;
  using count = std::int32_t;
  static inline tally none_yet() { return _mm256_setzero_si256(); }
  static inline tally add_to(tally t, mask m) { return _mm256_sub_epi32(t, _mm256_castps_si256(m)); }
  static inline mask reached(tally t, std::size_t k) {
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(t, _mm256_set1_epi32(static_cast<std::int32_t>(k) - 1)));
  }
  static inline void store_tally(count* to, tally t) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), t); }
};

struct DoubleLanes {
  using value = double;
  using vector = __m256d;
  using mask = __m256d;
  static constexpr std::size_t width = 4;

  static inline vector load(const double* p) { return _mm256_loadu_pd(p); }
  static inline void store(double* p, vector v) { _mm256_storeu_pd(p, v); }
  static inline void copy(std::int32_t* to, const std::int32_t* from) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static inline vector broadcast(double x) { return _mm256_set1_pd(x); }
  static inline vector subtract(vector a, vector b) { return _mm256_sub_pd(a, b); }
  static inline vector add(vector a, vector b) { return _mm256_add_pd(a, b); }
  static inline vector multiply(vector a, vector b) { return _mm256_mul_pd(a, b); }
  static inline mask at_most(vector a, vector b) { return _mm256_cmp_pd(a, b, _CMP_LE_OQ); }
  static inline mask lanes(const std::int64_t* p) {
    return _mm256_castsi256_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static inline mask from(std::size_t k) { return lanes(long_zeros_then_ones + 4 - k); }
  static inline mask first(std::size_t k) { return lanes(long_ones_then_zeros + 4 - k); }
  static inline mask without(std::size_t k) { return lanes(long_all_but_one + 3 - k); }
  static inline __m128i broadcast_id(std::int32_t id) { return _mm_set1_epi32(id); }
  static inline mask greater(const std::int32_t* payload, __m128i limit) {
    const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(payload));
    return _mm256_castsi256_pd(_mm256_cvtepi32_epi64(_mm_cmpgt_epi32(values, limit)));
  }
  static inline vector least(vector a, vector b) { return _mm256_min_pd(a, b); }
  static inline vector most(vector a, vector b) { return _mm256_max_pd(a, b); }
  static inline double root(double x) { return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x))); }
  static inline vector roots(vector v) { return _mm256_sqrt_pd(v); }
  static inline vector zero() { return _mm256_setzero_pd(); }
  static inline void number_slots(std::int32_t* to, std::size_t first) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(slots_from(first)));
  }
  using permutation = unsigned;
  static inline permutation packing(mask m) { return static_cast<unsigned>(_mm256_movemask_pd(m)); }
  static inline vector pack(vector v, permutation p) {
    const __m256i lanes = _mm256_load_si256(reinterpret_cast<const __m256i*>(long_pack.entry[p]));
    return _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(v), lanes));
  }
  static inline void pack_values(std::int32_t* to, __m128i values, permutation p) {
    const __m128i lanes = _mm_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(pack_table.entry[p])));
    _mm_storeu_ps(reinterpret_cast<float*>(to), _mm_permutevar_ps(_mm_castsi128_ps(values), lanes));
  }
  static inline void pack_payload(std::int32_t* to, const std::int32_t* payload, permutation p) {
    pack_values(to, _mm_loadu_si128(reinterpret_cast<const __m128i*>(payload)), p);
  }
  static inline void pack_slots(std::int32_t* to, std::size_t first, permutation p) {
    pack_values(to, _mm256_castsi256_si128(slots_from(first)), p);
  }
  static inline mask none() { return _mm256_setzero_pd(); }
  static inline bool any(mask a) { return _mm256_movemask_pd(a) != 0; }
  static inline mask both(mask a, mask b) { return _mm256_and_pd(a, b); }
  static inline std::size_t number(mask m) {
    return static_cast<std::size_t>(_mm_popcnt_u32(static_cast<unsigned>(_mm256_movemask_pd(m))));
  }
  static inline std::size_t keep(std::int32_t* to, const std::int32_t* payload, mask m) {
    const auto bits = static_cast<unsigned>(_mm256_movemask_pd(m));
    // Four lanes are the low half of the table's eight.
    const __m128i lanes = _mm_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(pack_table.entry[bits])));
    const __m128 values = _mm_loadu_ps(reinterpret_cast<const float*>(payload));
    _mm_storeu_ps(reinterpret_cast<float*>(to), _mm_permutevar_ps(values, lanes));
    return static_cast<std::size_t>(_mm_popcnt_u32(bits));
  }
  static inline std::size_t fill(std::int32_t* to, std::int32_t id) { return fill_four(to, id); }
  static inline vector at(const double* p, const std::int32_t* places) {
    return _mm256_setr_pd(p[places[0]], p[places[1]], p[places[2]], p[places[3]]);
  }
  static inline unsigned bits(mask m) { return static_cast<unsigned>(_mm256_movemask_pd(m)); }
  using tally = __m256i;
  using count = std::int64_t;
  static inline tally none_yet() { return _mm256_setzero_si256(); }
  static inline tally add_to(tally t, mask m) { return _mm256_sub_epi64(t, _mm256_castpd_si256(m)); }
  static inline void store_tally(count* to, tally t) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), t); }
};

}  // namespace

const Kernels& avx2_kernels() {
  static constexpr Kernels kernels = make_kernels<FloatLanes, DoubleLanes>();
  return kernels;
}
const NearestKernels& avx2_nearest_kernels() {
  static constexpr NearestKernels kernels = make_nearest_kernels<FloatLanes, DoubleLanes>();
  return kernels;
}

}  // namespace vicinal
