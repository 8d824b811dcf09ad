// Four bodies at a time. Compiled for AVX2, called only where the processor has it. Every operation rounds as in
// HashAxis and NearFrame.
#include "index/stay.hpp"

#include <immintrin.h>

namespace vicinal {
namespace {

// The rows of four bodies, turned to columns.
template <int D>
[[gnu::always_inline]] inline void columns(const double* const (&rows)[4], __m256d (&x)[3]) {
  const auto two = [&](int k) { return _mm_loadu_pd(rows[k]); };
  const __m256d even = _mm256_set_m128d(two(2), two(0));
  const __m256d odd = _mm256_set_m128d(two(3), two(1));
  x[0] = _mm256_unpacklo_pd(even, odd);
  x[1] = _mm256_unpackhi_pd(even, odd);
  if constexpr (D == 3) x[2] = _mm256_set_pd(rows[3][2], rows[2][2], rows[1][2], rows[0][2]);
}
template <int D>
[[gnu::always_inline]] inline void columns(const float* const (&rows)[4], __m256d (&x)[3]) {
  for (int a = 0; a < D; ++a) x[a] = _mm256_cvtps_pd(_mm_set_ps(rows[3][a], rows[2][a], rows[1][a], rows[0][a]));
}
inline void store(double* to, __m256d x) { _mm256_storeu_pd(to, x); }
inline void store(float* to, __m256d x) {
  _mm_storeu_ps(to, _mm256_cvtpd_ps(x));
}  // the values are floats already, or are stored in a float column

inline __m256d at_most(__m256d a, __m256d b) { return _mm256_cmp_pd(a, b, _CMP_LE_OQ); }
inline __m256d less(__m256d a, __m256d b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }

template <class T, int D, Shape Resized, bool Banded>
std::uint32_t stay(const StayJob<T>& given, std::uint32_t* others) {
  const StayJob<T> job = given;  // a copy: stores might alias the job, which would then be read again each time
  constexpr int extras = columns_of(Resized, D) - D;
  const __m256d zero = _mm256_setzero_pd();
  // Added to a whole number below it, this leaves the number in the lowest bits.
  const __m256d whole = _mm256_set1_pd(0x1p52);
  std::uint32_t count = 0;
  for (std::uint32_t k = job.begin; k < job.end; k += 4) {
    const T* rows[4];
    const T* sizes[4];
    for (std::uint32_t l = 0; l < 4; ++l) {
      // Results behind the end and in holes are discarded; any body can stand there.
      const std::int32_t here = job.ids[k + l < job.end ? k + l : k];
      const auto id = static_cast<std::size_t>(here < 0 ? 0 : here);
      rows[l] = job.positions + id * D;
      if constexpr (extras > 0) sizes[l] = job.extra + id * extras;
      prefetch_ahead<D, extras>(job, k + l);
    }
    __m256d x[3];
    columns<D>(rows, x);
    __m256d fine = at_most(zero, zero);
    if constexpr (Resized != Shape::point) {
      __m256d size[3];
      __m256d longest = zero;
      if constexpr (Resized == Shape::sphere) {
        size[0] = longest = _mm256_set_pd(sizes[3][0], sizes[2][0], sizes[1][0], sizes[0][0]);
      } else {
        columns<D>(sizes, size);
        for (int a = 0; a < D; ++a) {
          const __m256d edge = _mm256_sub_pd(size[a], x[a]);
          longest = _mm256_max_pd(longest, edge);
          fine = _mm256_and_pd(fine, at_most(edge, _mm256_set1_pd(job.axis[a].longest)));
        }
      }
      fine = _mm256_and_pd(
          fine, _mm256_and_pd(less(_mm256_set1_pd(job.above), longest), at_most(longest, _mm256_set1_pd(job.most))));
      if constexpr (Banded) store(job.near_radius + k, _mm256_mul_pd(size[0], _mm256_set1_pd(job.scale)));
      else
        for (int c = 0; c < extras; ++c) store(job.grown[c] + k, size[c]);
    }
    __m256i bin = _mm256_setzero_si256();
    for (int a = D - 1; a >= 0; --a) {
      const StayAxis<T>& axis = job.axis[a];
      if (axis.period > 0)
        fine = _mm256_and_pd(fine, _mm256_and_pd(at_most(zero, x[a]), less(x[a], _mm256_set1_pd(axis.period))));
      __m256d t = _mm256_mul_pd(_mm256_sub_pd(x[a], _mm256_set1_pd(axis.origin)), _mm256_set1_pd(axis.inverse));
      t = _mm256_min_pd(_mm256_max_pd(t, _mm256_set1_pd(axis.lowest)), _mm256_set1_pd(axis.highest));
      t = _mm256_floor_pd(_mm256_add_pd(t, _mm256_set1_pd(axis.lift)));
      const __m256i cell = _mm256_castpd_si256(_mm256_add_pd(t, whole));
      const __m256i along = _mm256_and_si256(cell, _mm256_set1_epi64x(axis.mask));
      bin = _mm256_add_epi64(_mm256_mul_epu32(bin, _mm256_set1_epi64x(std::int64_t{axis.mask} + 1)), along);
      if constexpr (Banded) {
        const __m256d near = _mm256_mul_pd(_mm256_sub_pd(x[a], _mm256_set1_pd(axis.centre)), _mm256_set1_pd(job.scale));
        store(axis.near + k, _mm256_min_pd(_mm256_max_pd(near, _mm256_set1_pd(axis.low)), _mm256_set1_pd(axis.high)));
      } else {
        store(axis.exact + k, x[a]);
      }
    }
    bin = _mm256_add_epi64(bin, _mm256_set1_epi64x(job.first));
    const __m256i here = _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(job.bins + k)));
    fine = _mm256_and_pd(fine, _mm256_castsi256_pd(_mm256_cmpeq_epi64(bin, here)));
    // Holes have negative ids: no body leaves them, so their sign bits are masked out.
    const __m128i ids = _mm_loadu_si128(reinterpret_cast<const __m128i*>(job.ids + k));
    fine = _mm256_or_pd(fine, _mm256_castsi256_pd(_mm256_cvtepi32_epi64(ids)));
    for (auto left = ~static_cast<unsigned>(_mm256_movemask_pd(fine)) & 15U; left != 0; left &= left - 1) {
      const std::uint32_t slot = k + static_cast<std::uint32_t>(__builtin_ctz(left));
      if (slot < job.end) others[count++] = slot;
    }
  }
  return count;
}

template <class T, int D>
Stay<T> pick(Shape resized, bool banded) {
  if (resized == Shape::box) return stay<T, D, Shape::box, false>;
  if (resized == Shape::sphere) return banded ? stay<T, D, Shape::sphere, true> : stay<T, D, Shape::sphere, false>;
  return banded ? stay<T, D, Shape::point, true> : stay<T, D, Shape::point, false>;
}

}  // namespace

Stay<float> stay_avx2(int dimensions, Shape resized, bool banded, float /*T*/) {
  return dimensions == 2 ? pick<float, 2>(resized, banded) : pick<float, 3>(resized, banded);
}
Stay<double> stay_avx2(int dimensions, Shape resized, bool banded, double /*T*/) {
  return dimensions == 2 ? pick<double, 2>(resized, banded) : pick<double, 3>(resized, banded);
}

}  // namespace vicinal
