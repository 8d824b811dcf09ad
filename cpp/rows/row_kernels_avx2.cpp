// Rows on AVX2: eight entries per register.
#include <immintrin.h>

#include "rows/row_kernels_simd.hpp"
#include "rows/sort_eight.hpp"

namespace vicinal {
namespace {

struct IntLanes {
  using vector = __m256i;
  static constexpr std::size_t width = 8;
  static constexpr int block = 8;

  static inline vector load(const std::int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static inline vector first(vector v, std::size_t k) {
    const vector lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const vector wanted = _mm256_cmpgt_epi32(broadcast(static_cast<std::int32_t>(k)), lanes);
    return _mm256_blendv_epi8(broadcast(0x7fffffff), v, wanted);
  }
  static inline void store(std::int32_t* p, vector v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  static inline vector broadcast(std::int32_t x) { return _mm256_set1_epi32(x); }
  static inline vector least(vector a, vector b) { return _mm256_min_epi32(a, b); }
  static inline vector most(vector a, vector b) { return _mm256_max_epi32(a, b); }
  static inline vector reverse(vector v) {
    return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
  }
  // The lanes of `High` take the larger of the two compared lanes, the others the smaller.
  template <int High>
  static inline vector exchange(vector v, vector partner) {
    return _mm256_blend_epi32(least(v, partner), most(v, partner), High);
  }
  static inline vector pairs(vector v) { return exchange<0xAA>(v, _mm256_shuffle_epi32(v, 0xB1)); }
  static inline vector fours(vector v) { return exchange<0xCC>(v, _mm256_shuffle_epi32(v, 0x4E)); }
  static inline vector merge(vector v) {
    v = exchange<0xF0>(v, _mm256_permute4x64_epi64(v, 0x4E));
    return pairs(fours(v));
  }
  static inline vector sort(vector v) {
    v = pairs(v);
    v = pairs(exchange<0xCC>(v, _mm256_shuffle_epi32(v, 0x1B)));
    return pairs(fours(exchange<0xF0>(v, reverse(v))));
  }
  // Eight registers as the rows of a matrix: its columns are sorted by exchanges of whole registers, then columns
  // become rows.
  [[gnu::always_inline]] static inline void sort_block(vector* v) {
    const auto order = [v](int a, int b) {
      const vector low = least(v[a], v[b]);
      v[b] = most(v[a], v[b]);
      v[a] = low;
    };
    sort_eight(order);
    vector t[8];
    for (int k = 0; k < 8; k += 2) {
      t[k] = _mm256_unpacklo_epi32(v[k], v[k + 1]);
      t[k + 1] = _mm256_unpackhi_epi32(v[k], v[k + 1]);
    }
    vector u[8];
    for (int k = 0; k < 8; k += 4)
      for (int side = 0; side < 2; ++side) {
        u[k + 2 * side] = _mm256_unpacklo_epi64(t[k + side], t[k + side + 2]);
        u[k + 2 * side + 1] = _mm256_unpackhi_epi64(t[k + side], t[k + side + 2]);
      }
    for (int k = 0; k < 4; ++k) {
      v[k] = _mm256_permute2x128_si256(u[k], u[k + 4], 0x20);
      v[k + 4] = _mm256_permute2x128_si256(u[k], u[k + 4], 0x31);
    }
  }

  static inline void to_records(const vector* v, std::int32_t* to) {
    // Half k of a register has its entries k, k + 2, k + 4 and k + 6: then records come out in order.
    const vector order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    vector c[4];
    repeat<4>([&](int k) { c[k] = _mm256_permutevar8x32_epi32(v[k], order); });
    const vector low[] = {_mm256_unpacklo_epi32(c[0], c[1]), _mm256_unpacklo_epi32(c[2], c[3])};
    const vector high[] = {_mm256_unpackhi_epi32(c[0], c[1]), _mm256_unpackhi_epi32(c[2], c[3])};
    store(to, _mm256_unpacklo_epi64(low[0], low[1]));
    store(to + 8, _mm256_unpackhi_epi64(low[0], low[1]));
    store(to + 16, _mm256_unpacklo_epi64(high[0], high[1]));
    store(to + 24, _mm256_unpackhi_epi64(high[0], high[1]));
  }
  static inline void from_records(const std::int32_t* records, const std::int32_t* places, vector* v) {
    const auto record = [&](int k) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(records + 4 * static_cast<std::size_t>(places[k])));
    };
    // Half k of register j is record 4 k + j.
    vector r[4];
    repeat<4>([&](int j) { r[j] = _mm256_inserti128_si256(_mm256_castsi128_si256(record(j)), record(j + 4), 1); });
    const vector low[] = {_mm256_unpacklo_epi32(r[0], r[1]), _mm256_unpacklo_epi32(r[2], r[3])};
    const vector high[] = {_mm256_unpackhi_epi32(r[0], r[1]), _mm256_unpackhi_epi32(r[2], r[3])};
    v[0] = _mm256_unpacklo_epi64(low[0], low[1]);
    v[1] = _mm256_unpackhi_epi64(low[0], low[1]);
    v[2] = _mm256_unpacklo_epi64(high[0], high[1]);
    v[3] = _mm256_unpackhi_epi64(high[0], high[1]);
  }
};

}  // namespace

const SortKernels& avx2_row_kernels() {
  static constexpr SortKernels kernels = make_sort_kernels<IntLanes>();
  return kernels;
}

}  // namespace vicinal
