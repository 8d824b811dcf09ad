// Four contacts at a time. Only files compiled for AVX2 include this.
#pragma once

#include <immintrin.h>

#include "dem/lanes.hpp"

namespace vicinal::dem {
namespace {

struct Four {
  __m256d v;
};
struct FourMask {
  __m256d v;
};
inline Four operator+(Four a, Four b) { return {_mm256_add_pd(a.v, b.v)}; }
inline Four operator-(Four a, Four b) { return {_mm256_sub_pd(a.v, b.v)}; }
inline Four operator*(Four a, Four b) { return {_mm256_mul_pd(a.v, b.v)}; }
inline Four operator/(Four a, Four b) { return {_mm256_div_pd(a.v, b.v)}; }
inline FourMask operator>(Four a, Four b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_GT_OQ)}; }
inline Four root(Four a) { return {_mm256_sqrt_pd(a.v)}; }
inline Four choose(FourMask yes, Four a, Four b) { return {_mm256_blendv_pd(b.v, a.v, yes.v)}; }
inline bool any(FourMask mask) { return _mm256_movemask_pd(mask.v) != 0; }
inline Four magnitude(Four a) { return {_mm256_andnot_pd(_mm256_set1_pd(-0.0), a.v)}; }

struct FourLanes {
  using Real = Four;
  static constexpr std::size_t width = 4;
  static Real all(double a) { return {_mm256_set1_pd(a)}; }
  static void transpose(__m256d a, __m256d b, __m256d c, __m256d d, __m256d (&out)[4]) {
    const __m256d ab_low = _mm256_unpacklo_pd(a, b), ab_high = _mm256_unpackhi_pd(a, b);
    const __m256d cd_low = _mm256_unpacklo_pd(c, d), cd_high = _mm256_unpackhi_pd(c, d);
    out[0] = _mm256_permute2f128_pd(ab_low, cd_low, 0x20);
    out[1] = _mm256_permute2f128_pd(ab_high, cd_high, 0x20);
    out[2] = _mm256_permute2f128_pd(ab_low, cd_low, 0x31);
    out[3] = _mm256_permute2f128_pd(ab_high, cd_high, 0x31);
  }
  static void columns(const double* table, std::size_t stride, const std::uint32_t* which, Real (&out)[4]) {
    __m256d turned[4];
    transpose(_mm256_loadu_pd(table + which[0] * stride), _mm256_loadu_pd(table + which[1] * stride),
              _mm256_loadu_pd(table + which[2] * stride), _mm256_loadu_pd(table + which[3] * stride), turned);
    for (std::size_t c = 0; c < 4; ++c) out[c].v = turned[c];
  }
  static void rows(const Real (&in)[4], double (&out)[width][4]) {
    __m256d turned[4];
    transpose(in[0].v, in[1].v, in[2].v, in[3].v, turned);
    for (std::size_t lane = 0; lane < 4; ++lane) _mm256_storeu_pd(out[lane], turned[lane]);
  }
  static Real pick(const double* table, std::size_t stride, const std::uint32_t* which) {
    return {_mm256_set_pd(table[which[3] * stride], table[which[2] * stride], table[which[1] * stride],
                          table[which[0] * stride])};
  }
};

}  // namespace
}  // namespace vicinal::dem
