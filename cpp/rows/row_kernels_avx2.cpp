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
};

}  // namespace

const RowKernels& avx2_row_kernels() {
  static constexpr RowKernels kernels{sort<IntLanes>};
  return kernels;
}

}  // namespace vicinal
