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
    return _mm512_permutexvar_epi32(_mm512_set_epi32(15 ^ X, 14 ^ X, 13 ^ X, 12 ^ X, 11 ^ X, 10 ^ X, 9 ^ X, 8 ^ X,
                                                     7 ^ X, 6 ^ X, 5 ^ X, 4 ^ X, 3 ^ X, 2 ^ X, 1 ^ X, 0 ^ X),
                                    v);
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
};

}  // namespace

const RowKernels& avx512_row_kernels() {
  static constexpr RowKernels kernels{sort<IntLanes>};
  return kernels;
}

}  // namespace vicinal
