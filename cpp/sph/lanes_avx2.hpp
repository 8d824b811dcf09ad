// 16 floats in two registers. Only files compiled for AVX2 (or more) include this, after the header of its intrinsics.
#pragma once

#include "exec/pack_table.hpp"
#include "sph/eight.hpp"

namespace vicinal::sph {
namespace {

struct EightLanes : EightNumbers {
  struct Mask {
    __m256 v;
  };
  static Mask less(Real x, Real y) { return {_mm256_cmp_ps(x.v, y.v, _CMP_LT_OQ)}; }
  static Real choose(Mask m, Real x, Real y) { return {_mm256_blendv_ps(y.v, x.v, m.v)}; }
  static Mask first(std::size_t lanes) {
    const __m256 limit = _mm256_set1_ps(static_cast<float>(lanes));
    return {_mm256_cmp_ps(_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7), limit, _CMP_LT_OQ)};
  }
  // The last bit moved to the sign, which is all that masks are asked for.
  static Mask odd(Real x) { return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(x.v), 31))}; }
  static bool any(Mask m) { return _mm256_movemask_ps(m.v) != 0; }
  static Mask both(Mask x, Mask y) { return {_mm256_and_ps(x.v, y.v)}; }
};

struct TwoEights {
  __m256 a, b;
};
inline TwoEights operator+(TwoEights x, TwoEights y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
inline TwoEights operator-(TwoEights x, TwoEights y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
inline TwoEights operator*(TwoEights x, TwoEights y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
inline TwoEights operator/(TwoEights x, TwoEights y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }

struct TwoEightsLanes {
  using T = float;
  using Real = TwoEights;
  struct Mask {
    __m256 a, b;
  };
  using Half = EightLanes;
  static constexpr std::size_t width = 16;

  static Real widen(EightFloats x) { return {x.v, _mm256_setzero_ps()}; }

  static Real all(float a) { return {_mm256_set1_ps(a), _mm256_set1_ps(a)}; }
  static Real load(const float* from) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }
  static void store(Real x, float* to) {
    _mm256_storeu_ps(to, x.a);
    _mm256_storeu_ps(to + 8, x.b);
  }
  static Mask less(Real x, Real y) {
    return {_mm256_cmp_ps(x.a, y.a, _CMP_LT_OQ), _mm256_cmp_ps(x.b, y.b, _CMP_LT_OQ)};
  }
  static Real choose(Mask m, Real x, Real y) {
    return {_mm256_blendv_ps(y.a, x.a, m.a), _mm256_blendv_ps(y.b, x.b, m.b)};
  }
  static Real root(Real x) { return {_mm256_sqrt_ps(x.a), _mm256_sqrt_ps(x.b)}; }
  static Real larger(Real x, Real y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
  static Mask first(std::size_t lanes) {
    const __m256 limit = _mm256_set1_ps(static_cast<float>(lanes));
    return {_mm256_cmp_ps(_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7), limit, _CMP_LT_OQ),
            _mm256_cmp_ps(_mm256_setr_ps(8, 9, 10, 11, 12, 13, 14, 15), limit, _CMP_LT_OQ)};
  }
  static Mask odd(Real x) {
    // The last bit moved to the sign, which is all that masks are asked for.
    const auto sign = [](__m256 a) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a), 31)); };
    return {sign(x.a), sign(x.b)};
  }
  static bool any(Mask m) { return _mm256_movemask_ps(_mm256_or_ps(m.a, m.b)) != 0; }
  static Mask both(Mask x, Mask y) { return {_mm256_and_ps(x.a, y.a), _mm256_and_ps(x.b, y.b)}; }
  template <std::uint32_t stride>
  static std::size_t pack(Mask m, std::uint32_t number, std::uint32_t* to) {
    const std::size_t n = pack_eight<stride>(m.a, number, to);
    return n + pack_eight<stride>(m.b, number + 8, to + n);
  }
  static void columns(const float* records, const std::uint32_t* which, Real* out) {
    EightFloats first[4], second[4];
    EightLanes::columns(records, which, first);
    EightLanes::columns(records, which + 8, second);
    for (std::size_t c = 0; c < 4; ++c) out[c] = {first[c].v, second[c].v};
  }
  template <std::size_t count = 16>
  static void sums(const Real (&in)[16], float (&out)[16]) {
    for (std::size_t part = 0; part < count; part += 8) {
      __m256 eight[8], four[4], two[2];
      for (std::size_t k = 0; k < 8; ++k) eight[k] = _mm256_add_ps(in[part + k].a, in[part + k].b);
      for (std::size_t k = 0; k < 4; ++k) {
        const __m256 a = eight[2 * k], b = eight[2 * k + 1];
        four[k] = _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
      }
      for (std::size_t k = 0; k < 2; ++k) {
        const __m256 a = four[2 * k], b = four[2 * k + 1];
        two[k] = _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xee));
      }
      const __m256 one =
          _mm256_add_ps(_mm256_shuffle_ps(two[0], two[1], 0x88), _mm256_shuffle_ps(two[0], two[1], 0xdd));
      // Number 2 i + j is in lane 4 j + i.
      _mm256_storeu_ps(out + part, _mm256_permutevar8x32_ps(one, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
    }
  }

 private:
  template <std::uint32_t stride>
  static std::size_t pack_eight(__m256 mask, std::uint32_t number, std::uint32_t* to) {
    static_assert(stride == 8 || stride == 12);
    const auto bits = static_cast<unsigned>(_mm256_movemask_ps(mask));
    const __m128i bytes = _mm_cvtsi64_si128(static_cast<long long>(pack_table.entry[bits]));
    const __m256i lanes = _mm256_cvtepu8_epi32(bytes);
    __m256i scaled = _mm256_slli_epi32(lanes, 3);
    if constexpr (stride == 12) scaled = _mm256_add_epi32(scaled, _mm256_slli_epi32(lanes, 2));
    const __m256i numbers = _mm256_add_epi32(scaled, _mm256_set1_epi32(static_cast<int>(number * stride)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), numbers);
    return static_cast<std::size_t>(__builtin_popcount(bits));
  }
};

}  // namespace
}  // namespace vicinal::sph
