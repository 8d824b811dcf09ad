// Eight contacts at a time. Only files compiled for AVX-512 may include this, after the header of the intrinsics.
#pragma once

#include "dem/lanes.hpp"
#include "dem/lanes_avx2.hpp"

namespace vicinal::dem {
namespace {

struct EightDoubles {
  __m512d v;
};
struct EightMask {
  std::uint8_t bits;
};
inline EightDoubles operator+(EightDoubles a, EightDoubles b) { return {_mm512_add_pd(a.v, b.v)}; }
inline EightDoubles operator-(EightDoubles a, EightDoubles b) { return {_mm512_sub_pd(a.v, b.v)}; }
inline EightDoubles operator*(EightDoubles a, EightDoubles b) { return {_mm512_mul_pd(a.v, b.v)}; }
inline EightDoubles operator/(EightDoubles a, EightDoubles b) { return {_mm512_div_pd(a.v, b.v)}; }
inline EightMask operator>(EightDoubles a, EightDoubles b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_GT_OQ)}; }
inline EightDoubles root(EightDoubles a) { return {_mm512_sqrt_pd(a.v)}; }
inline EightDoubles choose(EightMask yes, EightDoubles a, EightDoubles b) {
  return {_mm512_mask_blend_pd(yes.bits, b.v, a.v)};
}
inline EightDoubles magnitude(EightDoubles a) { return {_mm512_abs_pd(a.v)}; }

// Force and torque of a load, in one register.
struct EightLoad {
  __m512d v;
  static EightLoad load(const Load& from) { return {_mm512_loadu_pd(reinterpret_cast<const double*>(&from))}; }
  void store(Load& to) const { _mm512_storeu_pd(reinterpret_cast<double*>(&to), v); }
  [[nodiscard]] EightLoad scaled(double of_force, double of_torque) const {
    constexpr std::uint8_t torque = 0xf0;  // a bit per lane
    return {_mm512_mul_pd(_mm512_mask_blend_pd(torque, _mm512_set1_pd(of_force), _mm512_set1_pd(of_torque)), v)};
  }
  friend EightLoad operator+(EightLoad a, EightLoad b) { return {_mm512_add_pd(a.v, b.v)}; }
};

// Rows are the same as those of FourLanes: four numbers each.
struct EightLanes {
  using Real = EightDoubles;
  using Row = Four;
  using LoadPair = EightLoad;
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
  [[gnu::always_inline]] static void columns(const Row (&in)[width], Real (&out)[4]) {
    Four low[4], high[4];
    FourLanes::transpose(in[0].v, in[1].v, in[2].v, in[3].v, low);
    FourLanes::transpose(in[4].v, in[5].v, in[6].v, in[7].v, high);
    for (std::size_t k = 0; k < 4; ++k) out[k].v = joined(low[k].v, high[k].v);
  }
  [[gnu::always_inline]] static void rows(const Real (&in)[4], Row (&out)[width]) {
    Four part[4];
    const auto low = [&](std::size_t k) { return _mm512_castpd512_pd256(in[k].v); };
    const auto high = [&](std::size_t k) { return _mm512_extractf64x4_pd(in[k].v, 1); };
    FourLanes::transpose(low(0), low(1), low(2), low(3), part);
    for (std::size_t k = 0; k < 4; ++k) out[k] = part[k];
    FourLanes::transpose(high(0), high(1), high(2), high(3), part);
    for (std::size_t k = 0; k < 4; ++k) out[4 + k] = part[k];
  }
  // Two rows are joined while they are loaded. Two permutations per column remain; Intel's processors have only one
  // port for them.
  template <class RowOf>
  [[gnu::always_inline]] static void gather(RowOf&& row_of, Real (&out)[4]) {
    const auto two = [&](std::size_t lane) { return joined(load(row_of(lane)).v, load(row_of(lane + 4)).v); };
    transpose(two(0), two(1), two(2), two(3), out);
  }
  template <class RowOf>
  [[gnu::always_inline]] static void scatter(const Real (&in)[4], RowOf&& row_of) {
    Real two[4];
    transpose(in[0].v, in[1].v, in[2].v, in[3].v, two);
    for (std::size_t lane = 0; lane < 4; ++lane) {
      store(row_of(lane), {_mm512_castpd512_pd256(two[lane].v)});
      store(row_of(lane + 4), {_mm512_extractf64x4_pd(two[lane].v, 1)});
    }
  }
  template <class RowOf, class OtherRowOf>
  [[gnu::always_inline]] static void gather_difference(RowOf&& row_of, OtherRowOf&& other_row_of, Real (&out)[4]) {
    const auto two = [&](std::size_t lane) {
      return _mm512_sub_pd(joined(load(row_of(lane)).v, load(row_of(lane + 4)).v),
                           joined(load(other_row_of(lane)).v, load(other_row_of(lane + 4)).v));
    };
    transpose(two(0), two(1), two(2), two(3), out);
  }
  static void store_lanes(Real a, double* to) { _mm512_storeu_pd(to, a.v); }
  static Real load_lanes(const double* from) { return {_mm512_loadu_pd(from)}; }
  static double smallest(Real a) {
    return FourLanes::smallest({_mm256_min_pd(_mm512_castpd512_pd256(a.v), _mm512_extractf64x4_pd(a.v, 1))});
  }
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
  // Both halves of four registers, each on its own.
  [[gnu::always_inline]] static void transpose(__m512d a, __m512d b, __m512d c, __m512d d, Real (&out)[4]) {
    const __m512d ab_low = _mm512_unpacklo_pd(a, b), ab_high = _mm512_unpackhi_pd(a, b);
    const __m512d cd_low = _mm512_unpacklo_pd(c, d), cd_high = _mm512_unpackhi_pd(c, d);
    const __m512i first = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0),
                  second = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
    out[0].v = _mm512_permutex2var_pd(ab_low, first, cd_low);
    out[1].v = _mm512_permutex2var_pd(ab_high, first, cd_high);
    out[2].v = _mm512_permutex2var_pd(ab_low, second, cd_low);
    out[3].v = _mm512_permutex2var_pd(ab_high, second, cd_high);
  }
  static __m512d joined(__m256d low, __m256d high) { return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1); }
  static void compress(__m256i numbers, unsigned bits, std::uint32_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_maskz_compress_epi32(static_cast<std::uint8_t>(bits), numbers));
  }
};

}  // namespace
}  // namespace vicinal::dem
