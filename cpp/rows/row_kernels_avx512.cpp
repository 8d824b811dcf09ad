// Rows on AVX-512: sixteen entries per register.
#include "exec/avx512.hpp"

#include "rows/row_kernels_simd.hpp"

namespace vicinal {
namespace {

struct IntLanes {
  using vector = __m512i;
  static constexpr std::size_t width = 16;
  static constexpr int block = 0;

  static inline void sort_block(vector*) {}

  static inline vector load(const std::int32_t* p) { return _mm512_loadu_si512(p); }
  static inline vector first(vector v, std::size_t k) {
    const auto others = static_cast<Mask16>(k < width ? ~0U << k : 0U);
    const vector largest = broadcast(0x7fffffff);
    return _mm512_mask_max_epi32(v, others, largest, largest);
  }
  static inline void store(std::int32_t* p, vector v) { _mm512_storeu_si512(p, v); }
  static inline vector broadcast(std::int32_t x) { return _mm512_set1_epi32(x); }
  static inline vector least(vector a, vector b) { return _mm512_min_epi32(a, b); }
  static inline vector most(vector a, vector b) { return _mm512_max_epi32(a, b); }
  // Lane k of the result is lane k ^ X.
  template <int X>
  static inline vector swap(vector v) {
    // Within quarters of the register the result is there sooner, and the sort of a short row is a chain of these.
    if constexpr (X < 4) {
      constexpr auto bytes = [](int lane) { return 0x03020100 + 0x04040404 * (lane ^ X); };
      return _mm512_shuffle_epi8(
          v, _mm512_set_epi32(bytes(3), bytes(2), bytes(1), bytes(0), bytes(3), bytes(2), bytes(1), bytes(0), bytes(3),
                              bytes(2), bytes(1), bytes(0), bytes(3), bytes(2), bytes(1), bytes(0)));
    } else {
      return _mm512_permutexvar_epi32(_mm512_set_epi32(15 ^ X, 14 ^ X, 13 ^ X, 12 ^ X, 11 ^ X, 10 ^ X, 9 ^ X, 8 ^ X,
                                                       7 ^ X, 6 ^ X, 5 ^ X, 4 ^ X, 3 ^ X, 2 ^ X, 1 ^ X, 0 ^ X),
                                      v);
    }
  }
  static inline vector reverse(vector v) { return swap<15>(v); }
  // Lanes k and k ^ X are compared; those of `High` take the larger one.
  template <int X, int High>
  static inline vector exchange(vector v) {
    const vector partner = swap<X>(v);
    return _mm512_mask_max_epi32(least(v, partner), static_cast<Mask16>(High), v, partner);
  }
  static inline vector merge_eights(vector v) {
    return exchange<1, 0xAAAA>(exchange<2, 0xCCCC>(exchange<4, 0xF0F0>(v)));
  }
  static inline vector merge(vector v) { return merge_eights(exchange<8, 0xFF00>(v)); }
  static inline vector sort(vector v) {
    v = exchange<1, 0xAAAA>(v);
    v = exchange<1, 0xAAAA>(exchange<3, 0xCCCC>(v));
    v = exchange<1, 0xAAAA>(exchange<2, 0xCCCC>(exchange<7, 0xF0F0>(v)));
    return merge_eights(exchange<15, 0xFF00>(v));
  }

  static inline void to_records(const vector* v, std::int32_t* to) {
    // Quarter k of a register has its entries k, k + 4, k + 8 and k + 12: then records come out in order.
    const vector order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    vector c[4];
    repeat<4>([&](int k) { c[k] = _mm512_permutexvar_epi32(order, v[k]); });
    const vector low[] = {_mm512_unpacklo_epi32(c[0], c[1]), _mm512_unpacklo_epi32(c[2], c[3])};
    const vector high[] = {_mm512_unpackhi_epi32(c[0], c[1]), _mm512_unpackhi_epi32(c[2], c[3])};
    store(to, _mm512_unpacklo_epi64(low[0], low[1]));
    store(to + 16, _mm512_unpackhi_epi64(low[0], low[1]));
    store(to + 32, _mm512_unpacklo_epi64(high[0], high[1]));
    store(to + 48, _mm512_unpackhi_epi64(high[0], high[1]));
  }
  static inline void from_records(const std::int32_t* records, const std::int32_t* places, vector* v) {
    const auto record = [&](int k) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(records + 4 * static_cast<std::size_t>(places[k])));
    };
    // Quarter k of register j is record 4 k + j.
    vector r[4];
    repeat<4>([&](int j) {
      const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(record(j)), record(j + 4), 1);
      const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(record(j + 8)), record(j + 12), 1);
      r[j] = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    });
    const vector low[] = {_mm512_unpacklo_epi32(r[0], r[1]), _mm512_unpacklo_epi32(r[2], r[3])};
    const vector high[] = {_mm512_unpackhi_epi32(r[0], r[1]), _mm512_unpackhi_epi32(r[2], r[3])};
    v[0] = _mm512_unpacklo_epi64(low[0], low[1]);
    v[1] = _mm512_unpackhi_epi64(low[0], low[1]);
    v[2] = _mm512_unpacklo_epi64(high[0], high[1]);
    v[3] = _mm512_unpackhi_epi64(high[0], high[1]);
  }
};

}  // namespace

const SortKernels& avx512_row_kernels() {
  static constexpr SortKernels kernels = make_sort_kernels<IntLanes>();
  return kernels;
}

}  // namespace vicinal
