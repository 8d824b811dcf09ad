// 16 floats in one register. Only files compiled for AVX-512 include this, after the header of its intrinsics.
#pragma once

#include "sph/eight.hpp"

namespace vicinal::sph {
namespace {

// Half a register. It has masks of its own, which compilers use better here than those of AVX2.
struct EightLanes : EightNumbers {
  using Mask = std::uint8_t;  // what the intrinsics call __mmask8
  static Mask less(Real a, Real b) { return _mm256_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ); }
  static Real choose(Mask m, Real a, Real b) { return {_mm256_mask_blend_ps(m, b.v, a.v)}; }
  static Mask first(std::size_t lanes) { return static_cast<Mask>(lanes >= width ? 0xffU : (1U << lanes) - 1); }
  static Mask odd(Real a) { return _mm256_test_epi32_mask(_mm256_castps_si256(a.v), _mm256_set1_epi32(1)); }
  static bool any(Mask m) { return m != 0; }
  static Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
};

struct Sixteen {
  __m512 v;
};
inline Sixteen operator+(Sixteen a, Sixteen b) { return {_mm512_add_ps(a.v, b.v)}; }
inline Sixteen operator-(Sixteen a, Sixteen b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline Sixteen operator*(Sixteen a, Sixteen b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline Sixteen operator/(Sixteen a, Sixteen b) { return {_mm512_div_ps(a.v, b.v)}; }

struct SixteenLanes {
  using T = float;
  using Real = Sixteen;
  using Mask = std::uint16_t;  // what the intrinsics call __mmask16
  using Half = EightLanes;
  static constexpr std::size_t width = 16;

  static Real widen(EightFloats a) {
#ifdef VICINAL_EMULATE_AVX512
    return {_mm512_insertf32x8(_mm512_setzero_ps(), a.v, 0)};  // SIMDe lacks the other one, which is free
#else
    return {_mm512_zextps256_ps512(a.v)};
#endif
  }

  static Real all(float a) { return {_mm512_set1_ps(a)}; }
  static Real load(const float* from) { return {_mm512_loadu_ps(from)}; }
  static void store(Real a, float* to) { _mm512_storeu_ps(to, a.v); }
  static Mask less(Real a, Real b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ); }
  static Real choose(Mask m, Real a, Real b) { return {_mm512_mask_blend_ps(m, b.v, a.v)}; }
  static Real root(Real a) { return {_mm512_sqrt_ps(a.v)}; }
  static Real larger(Real a, Real b) { return {_mm512_max_ps(a.v, b.v)}; }
  static Mask first(std::size_t lanes) { return static_cast<Mask>(lanes >= width ? 0xffffU : (1U << lanes) - 1); }
  static Mask odd(Real a) { return _mm512_test_epi32_mask(_mm512_castps_si512(a.v), _mm512_set1_epi32(1)); }
  static bool any(Mask m) { return m != 0; }
  static Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
  template <std::uint32_t stride>
  static std::size_t pack(Mask m, std::uint32_t number, std::uint32_t* to) {
    constexpr int s = static_cast<int>(stride);
    const __m512i lane = _mm512_setr_epi32(0, s, 2 * s, 3 * s, 4 * s, 5 * s, 6 * s, 7 * s, 8 * s, 9 * s, 10 * s, 11 * s,
                                           12 * s, 13 * s, 14 * s, 15 * s);
    const __m512i numbers = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(number * stride)), lane);
    // In a register: writing selected lanes straight to memory is slow on some processors.
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(m, numbers));
    return static_cast<std::size_t>(__builtin_popcount(m));
  }
  static void columns(const float* records, const std::uint32_t* which, Real* out) {
    // Row k has the records of lanes k, k + 4, k + 8, k + 12.
    const auto row = [&](std::size_t k) {
      const auto part = [&](std::size_t lane) { return _mm_loadu_ps(records + which[lane]); };
      __m512 r = _mm512_castps128_ps512(part(k));
      r = _mm512_insertf32x4(r, part(k + 4), 1);
      r = _mm512_insertf32x4(r, part(k + 8), 2);
      return _mm512_insertf32x4(r, part(k + 12), 3);
    };
    const __m512 a = row(0), b = row(1), c = row(2), d = row(3);
    const __m512d ab_low = _mm512_castps_pd(_mm512_unpacklo_ps(a, b)),
                  cd_low = _mm512_castps_pd(_mm512_unpacklo_ps(c, d));
    const __m512d ab_high = _mm512_castps_pd(_mm512_unpackhi_ps(a, b)),
                  cd_high = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));
    out[0].v = _mm512_castpd_ps(_mm512_unpacklo_pd(ab_low, cd_low));
    out[1].v = _mm512_castpd_ps(_mm512_unpackhi_pd(ab_low, cd_low));
    out[2].v = _mm512_castpd_ps(_mm512_unpacklo_pd(ab_high, cd_high));
    out[3].v = _mm512_castpd_ps(_mm512_unpackhi_pd(ab_high, cd_high));
  }
  // All sums share the shuffles: every addition halves the lanes of two numbers. Pairs beyond `count` are left out.
  template <std::size_t count = 16>
  [[gnu::always_inline]] static void sums(const Real (&in)[16], float (&out)[16]) {
    const __m512 none = _mm512_setzero_ps();
    __m512 eight[8], four[4], two[2];
    for (std::size_t k = 0; k < 8; ++k) {
      const __m512 a = in[2 * k].v, b = in[2 * k + 1].v;
      eight[k] = 2 * k < count ? _mm512_add_ps(quarters<0x44>(a, b), quarters<0xee>(a, b)) : none;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const __m512 a = eight[2 * k], b = eight[2 * k + 1];
      four[k] = 4 * k < count ? _mm512_add_ps(quarters<0x88>(a, b), quarters<0xdd>(a, b)) : none;
    }
    for (std::size_t k = 0; k < 2; ++k) {
      const __m512 a = four[2 * k], b = four[2 * k + 1];
      two[k] = 8 * k < count ? _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xee)) : none;
    }
    const __m512 one = _mm512_add_ps(_mm512_shuffle_ps(two[0], two[1], 0x88), _mm512_shuffle_ps(two[0], two[1], 0xdd));
    // Number 4 i + j is in lane 4 j + i.
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_storeu_ps(out, _mm512_permutexvar_ps(order, one));
  }

 private:
  // Quarters of two registers; as integers, because SIMDe lacks it for floats.
  template <int which>
  static __m512 quarters(__m512 a, __m512 b) {
    return _mm512_castsi512_ps(_mm512_shuffle_i32x4(_mm512_castps_si512(a), _mm512_castps_si512(b), which));
  }
};

}  // namespace
}  // namespace vicinal::sph
