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

// Four records from `records`, whose slots are given.
template <class Four>
struct Records {
  const typename Four::value* all;

  explicit inline Records(const void* records) : all(static_cast<const typename Four::value*>(records)) {}
  [[gnu::always_inline]] inline typename Four::vector at(std::int32_t slot) const {
    static_assert(sizeof(BodyRecord<typename Four::value, 3>) == 4 * sizeof(typename Four::value));
    return Four::coordinates(all + 4 * static_cast<std::size_t>(slot));
  }
};

template <class Four>
inline typename Four::vector squares(const typename Four::vector* axis) {
  return Four::add(Four::add(Four::multiply(axis[0], axis[0]), Four::multiply(axis[1], axis[1])),
                   Four::multiply(axis[2], axis[2]));
}

// Calls visit(k, rows) for hits k … k+3 and their differences(k), and rest(k, count, rows) for the last ones, one to
// four.
template <class Four, class Differences, class Whole, class Rest>
[[gnu::always_inline]] inline void by_four(std::size_t n, const Differences& difference, const Whole& whole,
                                           const Rest& rest) {
  if (n == 0) return;
  typename Four::vector row[4];
  std::size_t k = 0;
  for (; k + 4 < n; k += 4) {
    for (std::size_t c = 0; c < 4; ++c) row[c] = difference(k + c);
    whole(k, row);
  }
  const std::size_t count = n - k;
  for (std::size_t c = 0; c < 4; ++c) row[c] = difference(c < count ? k + c : k);
  rest(k, count, row);
}

template <class V>
inline std::int32_t id_of(const void* records, std::int32_t slot) {
  return static_cast<const BodyRecord<V, 3>*>(records)[slot].id;
}
template <class V>
inline void write_ids(const void* records, const std::int32_t* slots, std::size_t n, std::int32_t* to) {
  if (to == nullptr) return;
  for (std::size_t k = 0; k < n; ++k) to[k] = id_of<V>(records, slots[k]);
}

enum class Lengths { none, distances, squares };

template <class Four, Lengths Wanted, bool Vectors>
void measure_pairs(const HitBodies& of, std::size_t n, const typename Four::value* image, typename Four::value* lengths,
                   typename Four::value* vectors) {
  const Records<Four> queries(of.queries), bodies(of.bodies);
  const std::int32_t* const i = of.query_slots;
  const std::int32_t* const j = of.body_slots;
  const typename Four::vector moved = Four::three(image);
  const auto lengths_of = [](const typename Four::vector* row) {
    typename Four::vector axis[3];
    Four::transpose(row, axis);
    if constexpr (Wanted == Lengths::distances) return Four::roots(squares<Four>(axis));
    else return squares<Four>(axis);
  };
  by_four<Four>(
      n, [&](std::size_t k) { return Four::add(Four::subtract(bodies.at(j[k]), queries.at(i[k])), moved); },
      [&](std::size_t k, const typename Four::vector* row) {
        // The fourth number of a row is overwritten by the next one.
        if constexpr (Vectors)
          for (std::size_t c = 0; c < 4; ++c) Four::store(vectors + 3 * (k + c), row[c]);
        if constexpr (Wanted != Lengths::none) Four::store(lengths + k, lengths_of(row));
      },
      [&](std::size_t k, std::size_t count, const typename Four::vector* row) {
        if constexpr (Vectors)
          for (std::size_t c = 0; c < count; ++c) Four::store_three(vectors + 3 * (k + c), row[c]);
        if constexpr (Wanted != Lengths::none) Four::store_first(lengths + k, lengths_of(row), count);
      });
}

template <class Four>
void pairs(const HitBodies& of, std::size_t n, const typename Four::value* image,
           const HitColumns<typename Four::value>& to) {
  using V = typename Four::value;
  const auto measure = [&]<Lengths Wanted>(V* lengths) {
    if (to.vectors != nullptr) measure_pairs<Four, Wanted, true>(of, n, image, lengths, to.vectors);
    else if (Wanted != Lengths::none) measure_pairs<Four, Wanted, false>(of, n, image, lengths, nullptr);
  };
  if (to.distances != nullptr) measure.template operator()<Lengths::distances>(to.distances);
  else if (to.squares != nullptr) measure.template operator()<Lengths::squares>(to.squares);
  else measure.template operator()<Lengths::none>(nullptr);
  write_ids<V>(of.queries, of.query_slots, n, to.query_ids);
  write_ids<V>(of.bodies, of.body_slots, n, to.body_ids);
}

template <class Four>
void columns(const void* records, const std::int32_t* slots, std::size_t n, const typename Four::value* from,
             const typename Four::value* image, typename Four::value* distances, typename Four::value* vectors,
             std::size_t stride, std::int32_t* ids) {
  const Records<Four> bodies(records);
  const typename Four::vector origin = Four::three(from), moved = Four::three(image);
  typename Four::vector axis[3];
  by_four<Four>(
      n, [&](std::size_t k) { return Four::add(Four::subtract(bodies.at(slots[k]), origin), moved); },
      [&](std::size_t k, const typename Four::vector* row) {
        Four::transpose(row, axis);
        Four::store(distances + k, squares<Four>(axis));
        for (std::size_t a = 0; a < 3; ++a) Four::store(vectors + a * stride + k, Four::add(axis[a], Four::zero()));
      },
      [&](std::size_t k, std::size_t count, const typename Four::vector* row) {
        Four::transpose(row, axis);
        Four::store_first(distances + k, squares<Four>(axis), count);
        for (std::size_t a = 0; a < 3; ++a)
          Four::store_first(vectors + a * stride + k, Four::add(axis[a], Four::zero()), count);
      });
  write_ids<typename Four::value>(records, slots, n, ids);
}

}  // namespace

const MeasureKernels& avx2_measure_kernels() {
  static constexpr MeasureKernels kernels{{plain_measure_kernel<float, 2>, {pairs<Floats>, columns<Floats>}},
                                          {plain_measure_kernel<double, 2>, {pairs<Doubles>, columns<Doubles>}}};
  return kernels;
}
// Longer registers would have to be filled by two records.
const MeasureKernels& avx512_measure_kernels() { return avx2_measure_kernels(); }

}  // namespace vicinal
