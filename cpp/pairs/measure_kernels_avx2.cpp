// Measured hits on AVX2. In space, a record is as long as a register of four numbers, so that a difference takes one
// subtraction and one addition; four of them are transposed to compute their squares.
#include <immintrin.h>

namespace {
inline float square_root(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }
inline double square_root(double x) { return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x))); }
}  // namespace

#include "pairs/measure_plain.hpp"

namespace vicinal {
namespace {

struct Doubles {
  using value = double;
  using vector = __m256d;

  // Three coordinates and a zero in place of what follows them.
  static inline vector coordinates(const double* p) {
    return _mm256_and_pd(_mm256_loadu_pd(p), _mm256_castsi256_pd(_mm256_setr_epi64x(-1, -1, -1, 0)));
  }
  static inline vector three(const double* p) { return _mm256_setr_pd(p[0], p[1], p[2], 0); }
  static inline vector zero() { return _mm256_setzero_pd(); }
  static inline vector add(vector a, vector b) { return _mm256_add_pd(a, b); }
  static inline vector subtract(vector a, vector b) { return _mm256_sub_pd(a, b); }
  static inline vector multiply(vector a, vector b) { return _mm256_mul_pd(a, b); }
  static inline vector roots(vector v) { return _mm256_sqrt_pd(v); }
  static inline void store(double* p, vector v) { _mm256_storeu_pd(p, v); }
  static inline void store_three(double* p, vector v) {
    _mm_storeu_pd(p, _mm256_castpd256_pd128(v));
    _mm_store_sd(p + 2, _mm256_extractf128_pd(v, 1));
  }
  static inline void store_first(double* p, vector v, std::size_t n) {
    const __m256i lanes =
        _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(n)), _mm256_setr_epi64x(0, 1, 2, 3));
    _mm256_maskstore_pd(p, lanes, v);
  }
  // The first three columns of four rows.
  static inline void transpose(const vector* row, vector* column) {
    const vector even = _mm256_unpacklo_pd(row[0], row[1]), odd = _mm256_unpackhi_pd(row[0], row[1]);
    const vector later_even = _mm256_unpacklo_pd(row[2], row[3]), later_odd = _mm256_unpackhi_pd(row[2], row[3]);
    column[0] = _mm256_permute2f128_pd(even, later_even, 0x20);
    column[1] = _mm256_permute2f128_pd(odd, later_odd, 0x20);
    column[2] = _mm256_permute2f128_pd(even, later_even, 0x31);
  }
};

struct Floats {
  using value = float;
  using vector = __m128;

  static inline vector coordinates(const float* p) {
    return _mm_and_ps(_mm_loadu_ps(p), _mm_castsi128_ps(_mm_setr_epi32(-1, -1, -1, 0)));
  }
  static inline vector three(const float* p) { return _mm_setr_ps(p[0], p[1], p[2], 0); }
  static inline vector zero() { return _mm_setzero_ps(); }
  static inline vector add(vector a, vector b) { return _mm_add_ps(a, b); }
  static inline vector subtract(vector a, vector b) { return _mm_sub_ps(a, b); }
  static inline vector multiply(vector a, vector b) { return _mm_mul_ps(a, b); }
  static inline vector roots(vector v) { return _mm_sqrt_ps(v); }
  static inline void store(float* p, vector v) { _mm_storeu_ps(p, v); }
  static inline void store_three(float* p, vector v) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_castps_si128(v));
    _mm_store_ss(p + 2, _mm_movehl_ps(v, v));
  }
  static inline void store_first(float* p, vector v, std::size_t n) {
    const __m128i lanes = _mm_cmpgt_epi32(_mm_set1_epi32(static_cast<int>(n)), _mm_setr_epi32(0, 1, 2, 3));
    _mm_maskstore_ps(p, lanes, v);
  }
  static inline void transpose(const vector* row, vector* column) {
    const vector low = _mm_unpacklo_ps(row[0], row[1]), later_low = _mm_unpacklo_ps(row[2], row[3]);
    column[0] = _mm_movelh_ps(low, later_low);
    column[1] = _mm_movehl_ps(later_low, low);
    column[2] = _mm_movelh_ps(_mm_unpackhi_ps(row[0], row[1]), _mm_unpackhi_ps(row[2], row[3]));
  }
};

// Differences from a query to four bodies at a time.
template <class Four>
struct Differences {
  using V = typename Four::value;
  const V* records;
  typename Four::vector from, image;

  inline Differences(const void* all, const V* x, const V* moved)
      : records(static_cast<const V*>(all)), from(Four::three(x)), image(Four::three(moved)) {}
  [[gnu::always_inline]] inline typename Four::vector to(std::int32_t slot) const {
    const V* const record = records + 4 * static_cast<std::size_t>(slot);
    return Four::add(Four::subtract(Four::coordinates(record), from), image);
  }
  static inline typename Four::vector squares(const typename Four::vector* axis) {
    return Four::add(Four::add(Four::multiply(axis[0], axis[0]), Four::multiply(axis[1], axis[1])),
                     Four::multiply(axis[2], axis[2]));
  }
};

// Calls visit(k, count, rows) for hits k … k+count-1 and their differences: `whole` for four that are not the last,
// `rest` for the last ones, one to four.
template <class Four, class Whole, class Rest>
[[gnu::always_inline]] inline void by_four(const Differences<Four>& differences, const std::int32_t* slots,
                                           std::size_t n, const Whole& whole, const Rest& rest) {
  static_assert(sizeof(BodyRecord<typename Four::value, 3>) == 4 * sizeof(typename Four::value));
  if (n == 0) return;
  typename Four::vector row[4];
  std::size_t k = 0;
  for (; k + 4 < n; k += 4) {
    for (std::size_t c = 0; c < 4; ++c) row[c] = differences.to(slots[k + c]);
    whole(k, row);
  }
  const std::size_t count = n - k;
  for (std::size_t c = 0; c < 4; ++c) row[c] = differences.to(slots[c < count ? k + c : k]);
  rest(k, count, row);
}

template <class V>
inline std::int32_t id_of(const void* records, std::int32_t slot) {
  return static_cast<const BodyRecord<V, 3>*>(records)[slot].id;
}

template <class Four, bool Distances, bool Vectors>
void rows_of(const void* records, const std::int32_t* slots, std::size_t n, const typename Four::value* from,
             const typename Four::value* image, typename Four::value* distances, typename Four::value* vectors) {
  typename Four::vector axis[3];
  by_four<Four>(
      Differences<Four>(records, from, image), slots, n,
      [&](std::size_t k, const typename Four::vector* row) {
        // The fourth number of a row is overwritten by the next one.
        if constexpr (Vectors)
          for (std::size_t c = 0; c < 4; ++c) Four::store(vectors + 3 * (k + c), row[c]);
        if constexpr (Distances) {
          Four::transpose(row, axis);
          Four::store(distances + k, Four::roots(Differences<Four>::squares(axis)));
        }
      },
      [&](std::size_t k, std::size_t count, const typename Four::vector* row) {
        if constexpr (Vectors)
          for (std::size_t c = 0; c < count; ++c) Four::store_three(vectors + 3 * (k + c), row[c]);
        if constexpr (Distances) {
          Four::transpose(row, axis);
          Four::store_first(distances + k, Four::roots(Differences<Four>::squares(axis)), count);
        }
      });
}

template <class Four>
void rows(const void* records, const std::int32_t* slots, std::size_t n, const typename Four::value* from,
          const typename Four::value* image, typename Four::value* distances, typename Four::value* vectors,
          std::int32_t* ids) {
  if (distances != nullptr && vectors != nullptr)
    rows_of<Four, true, true>(records, slots, n, from, image, distances, vectors);
  else if (distances != nullptr) rows_of<Four, true, false>(records, slots, n, from, image, distances, vectors);
  else if (vectors != nullptr) rows_of<Four, false, true>(records, slots, n, from, image, distances, vectors);
  if (ids != nullptr)
    for (std::size_t k = 0; k < n; ++k) ids[k] = id_of<typename Four::value>(records, slots[k]);
}

template <class Four>
void columns(const void* records, const std::int32_t* slots, std::size_t n, const typename Four::value* from,
             const typename Four::value* image, typename Four::value* squares, typename Four::value* vectors,
             std::size_t stride, std::int32_t* ids) {
  typename Four::vector axis[3];
  by_four<Four>(
      Differences<Four>(records, from, image), slots, n,
      [&](std::size_t k, const typename Four::vector* row) {
        Four::transpose(row, axis);
        Four::store(squares + k, Differences<Four>::squares(axis));
        for (std::size_t a = 0; a < 3; ++a) Four::store(vectors + a * stride + k, Four::add(axis[a], Four::zero()));
      },
      [&](std::size_t k, std::size_t count, const typename Four::vector* row) {
        Four::transpose(row, axis);
        Four::store_first(squares + k, Differences<Four>::squares(axis), count);
        for (std::size_t a = 0; a < 3; ++a)
          Four::store_first(vectors + a * stride + k, Four::add(axis[a], Four::zero()), count);
      });
  for (std::size_t k = 0; k < n; ++k) ids[k] = id_of<typename Four::value>(records, slots[k]);
}

}  // namespace

const MeasureKernels& avx2_measure_kernels() {
  static constexpr MeasureKernels kernels{{plain_measure_kernel<float, 2>, {rows<Floats>, columns<Floats>}},
                                          {plain_measure_kernel<double, 2>, {rows<Doubles>, columns<Doubles>}}};
  return kernels;
}
// Longer registers would have to be filled by two records.
const MeasureKernels& avx512_measure_kernels() { return avx2_measure_kernels(); }

}  // namespace vicinal
