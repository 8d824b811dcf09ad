// 8 floats in a register, without masks: those of AVX2 and of AVX-512 differ. Only files compiled for AVX2 (or more)
// include this, after the header of its intrinsics.
#pragma once

#include "sph/lanes.hpp"

namespace vicinal::sph {
namespace {

struct EightFloats {
  __m256 v;
};
inline EightFloats operator+(EightFloats a, EightFloats b) { return {_mm256_add_ps(a.v, b.v)}; }
inline EightFloats operator-(EightFloats a, EightFloats b) { return {_mm256_sub_ps(a.v, b.v)}; }
inline EightFloats operator*(EightFloats a, EightFloats b) { return {_mm256_mul_ps(a.v, b.v)}; }
inline EightFloats operator/(EightFloats a, EightFloats b) { return {_mm256_div_ps(a.v, b.v)}; }

struct EightNumbers {
  using T = float;
  using Real = EightFloats;
  static constexpr std::size_t width = 8;

  static Real all(float a) { return {_mm256_set1_ps(a)}; }
  static Real root(Real a) { return {_mm256_sqrt_ps(a.v)}; }
  static Real larger(Real a, Real b) { return {_mm256_max_ps(a.v, b.v)}; }
  static void columns(const float* records, const std::uint32_t* which, Real* out) {
    // Row k has the records of lanes k and k + 4.
    const auto row = [&](std::size_t k) {
      const auto part = [&](std::size_t lane) { return _mm_loadu_ps(records + which[lane]); };
      return _mm256_insertf128_ps(_mm256_castps128_ps256(part(k)), part(k + 4), 1);
    };
    const __m256 a = row(0), b = row(1), c = row(2), d = row(3);
    const __m256d ab_low = _mm256_castps_pd(_mm256_unpacklo_ps(a, b)),
                  cd_low = _mm256_castps_pd(_mm256_unpacklo_ps(c, d));
    const __m256d ab_high = _mm256_castps_pd(_mm256_unpackhi_ps(a, b)),
                  cd_high = _mm256_castps_pd(_mm256_unpackhi_ps(c, d));
    out[0].v = _mm256_castpd_ps(_mm256_unpacklo_pd(ab_low, cd_low));
    out[1].v = _mm256_castpd_ps(_mm256_unpackhi_pd(ab_low, cd_low));
    out[2].v = _mm256_castpd_ps(_mm256_unpacklo_pd(ab_high, cd_high));
    out[3].v = _mm256_castpd_ps(_mm256_unpackhi_pd(ab_high, cd_high));
  }
};

}  // namespace
}  // namespace vicinal::sph
