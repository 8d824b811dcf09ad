// Eight contacts at a time. Only files compiled for AVX-512 may include this, after the header of the intrinsics.
#pragma once

#include "dem/lanes.hpp"
#include "dem/lanes_avx2.hpp"

namespace vicinal::dem {
namespace {

struct Eight {
  __m512d v;
};
struct EightMask {
  std::uint8_t bits;
};
inline Eight operator+(Eight a, Eight b) { return {_mm512_add_pd(a.v, b.v)}; }
inline Eight operator-(Eight a, Eight b) { return {_mm512_sub_pd(a.v, b.v)}; }
inline Eight operator*(Eight a, Eight b) { return {_mm512_mul_pd(a.v, b.v)}; }
inline Eight operator/(Eight a, Eight b) { return {_mm512_div_pd(a.v, b.v)}; }
inline EightMask operator>(Eight a, Eight b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_GT_OQ)}; }
inline Eight root(Eight a) { return {_mm512_sqrt_pd(a.v)}; }
inline Eight choose(EightMask yes, Eight a, Eight b) { return {_mm512_mask_blend_pd(yes.bits, b.v, a.v)}; }
inline Eight magnitude(Eight a) { return {_mm512_abs_pd(a.v)}; }

// Rows are the same as those of FourLanes: four numbers each.
struct EightLanes {
  using Real = Eight;
  using Row = Four;
  static constexpr std::size_t width = 8;
  static Real all(double a) { return {_mm512_set1_pd(a)}; }
  template <FourWide T>
  static Row load(const T& from) {
    return FourLanes::load(from);
  }
  template <FourWide T>
  static void store(T& to, Row row) {
    FourLanes::store(to, row);
  }
  static Row spread(double a) { return FourLanes::spread(a); }
  static Row three(Row a) { return FourLanes::three(a); }
  static Row apart(Row b, Row a) { return FourLanes::apart(b, a); }
  static void columns(const Row (&in)[width], Real (&out)[4]) {
    Four low[4], high[4];
    FourLanes::transpose(in[0].v, in[1].v, in[2].v, in[3].v, low);
    FourLanes::transpose(in[4].v, in[5].v, in[6].v, in[7].v, high);
    for (std::size_t k = 0; k < 4; ++k) out[k].v = joined(low[k].v, high[k].v);
  }
  static void rows(const Real (&in)[4], Row (&out)[width]) {
    Four part[4];
    const auto low = [&](std::size_t k) { return _mm512_castpd512_pd256(in[k].v); };
    const auto high = [&](std::size_t k) { return _mm512_extractf64x4_pd(in[k].v, 1); };
    FourLanes::transpose(low(0), low(1), low(2), low(3), part);
    for (std::size_t k = 0; k < 4; ++k) out[k] = part[k];
    FourLanes::transpose(high(0), high(1), high(2), high(3), part);
    for (std::size_t k = 0; k < 4; ++k) out[4 + k] = part[k];
  }
  static void store_lanes(Real a, double* to) { _mm512_storeu_pd(to, a.v); }
  static Real load_lanes(const double* from) { return {_mm512_loadu_pd(from)}; }
  static Real pick(const double* table, std::size_t stride, const std::uint32_t* which) {
    return {joined(FourLanes::pick(table, stride, which).v, FourLanes::pick(table, stride, which + 4).v)};
  }
  static unsigned bits(EightMask mask) { return mask.bits; }
  // Compresses in a register and stores all of it: the compressing store to memory is slow microcode on some
  // processors.
  static void compress(const std::uint32_t* from, unsigned bits, std::uint32_t* to) {
    compress(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)), bits, to);
  }
  static void compress_count(std::uint32_t from, unsigned bits, std::uint32_t* to) {
    const __m256i lanes = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    compress(_mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(from)), lanes), bits, to);
  }
  static unsigned bits_of(const std::uint8_t* flags) {
    const __m128i bytes = _mm_slli_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(flags)), 7);
    return static_cast<unsigned>(_mm_movemask_epi8(bytes));
  }

 private:
  static __m512d joined(__m256d low, __m256d high) { return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1); }
  static void compress(__m256i numbers, unsigned bits, std::uint32_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_maskz_compress_epi32(static_cast<std::uint8_t>(bits), numbers));
  }
};

}  // namespace
}  // namespace vicinal::dem
