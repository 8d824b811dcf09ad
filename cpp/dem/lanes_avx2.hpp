// Four contacts at a time. Only files compiled for AVX2 or later may include this, after the header of the intrinsics.
#pragma once

#include "dem/lanes.hpp"
#include "exec/pack_table.hpp"

namespace vicinal::dem {
namespace {

struct Four {
  __m256d v;
};
// -1 or 0 per lane, as vector comparisons give it: the compiler knows it then and needs no further instruction to
// choose.
struct FourMask {
  __m256i v;
};
inline Four operator+(Four a, Four b) { return {_mm256_add_pd(a.v, b.v)}; }
inline Four operator-(Four a, Four b) { return {_mm256_sub_pd(a.v, b.v)}; }
inline Four operator*(Four a, Four b) { return {_mm256_mul_pd(a.v, b.v)}; }
inline Four operator/(Four a, Four b) { return {_mm256_div_pd(a.v, b.v)}; }
inline FourMask operator>(Four a, Four b) { return {reinterpret_cast<__m256i>(a.v > b.v)}; }
inline Four root(Four a) { return {_mm256_sqrt_pd(a.v)}; }
inline Four choose(FourMask yes, Four a, Four b) { return {yes.v ? a.v : b.v}; }
inline Four magnitude(Four a) { return {_mm256_andnot_pd(_mm256_set1_pd(-0.0), a.v)}; }

struct FourLanes {
  using Real = Four;
  using Row = Four;
  using LoadPair = RowPair<FourLanes>;
  static constexpr std::size_t width = 4;
  static Real all(double a) { return {_mm256_set1_pd(a)}; }
  template <FourWide T>
  static Row load(const T& from) {
    return {_mm256_loadu_pd(reinterpret_cast<const double*>(&from))};
  }
  template <FourWide T>
  static void store(T& to, Row row) {
    _mm256_storeu_pd(reinterpret_cast<double*>(&to), row.v);
  }
  static Row spread(double a) { return {_mm256_set1_pd(a)}; }
  static Row three(Row a) { return {_mm256_blend_pd(a.v, _mm256_setzero_pd(), 8)}; }
  [[gnu::always_inline]] static void transpose(__m256d a, __m256d b, __m256d c, __m256d d, Four (&out)[4]) {
    const __m256d ab_low = _mm256_unpacklo_pd(a, b), ab_high = _mm256_unpackhi_pd(a, b);
    const __m256d cd_low = _mm256_unpacklo_pd(c, d), cd_high = _mm256_unpackhi_pd(c, d);
    out[0].v = _mm256_permute2f128_pd(ab_low, cd_low, 0x20);
    out[1].v = _mm256_permute2f128_pd(ab_high, cd_high, 0x20);
    out[2].v = _mm256_permute2f128_pd(ab_low, cd_low, 0x31);
    out[3].v = _mm256_permute2f128_pd(ab_high, cd_high, 0x31);
  }
  [[gnu::always_inline]] static void columns(const Row (&in)[width], Real (&out)[4]) {
    transpose(in[0].v, in[1].v, in[2].v, in[3].v, out);
  }
  [[gnu::always_inline]] static void rows(const Real (&in)[4], Row (&out)[width]) {
    transpose(in[0].v, in[1].v, in[2].v, in[3].v, out);
  }
  // Halves of rows are joined while they are loaded, which saves half of the permutations.
  template <class RowOf>
  [[gnu::always_inline]] static void gather(RowOf&& row_of, Real (&out)[4]) {
    const auto* const a = numbers(row_of(0));
    const auto* const b = numbers(row_of(1));
    const auto* const c = numbers(row_of(2));
    const auto* const d = numbers(row_of(3));
    const auto joined = [](const double* low, const double* high) {
      return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(low)), _mm_loadu_pd(high), 1);
    };
    const __m256d ac = joined(a, c), bd = joined(b, d), ac_end = joined(a + 2, c + 2), bd_end = joined(b + 2, d + 2);
    out[0].v = _mm256_unpacklo_pd(ac, bd);
    out[1].v = _mm256_unpackhi_pd(ac, bd);
    out[2].v = _mm256_unpacklo_pd(ac_end, bd_end);
    out[3].v = _mm256_unpackhi_pd(ac_end, bd_end);
  }
  template <class RowOf>
  [[gnu::always_inline]] static void scatter(const Real (&in)[4], RowOf&& row_of) {
    Row out[width];
    rows(in, out);
    for (std::size_t lane = 0; lane < width; ++lane) store(row_of(lane), out[lane]);
  }
  template <class RowOf, class OtherRowOf>
  [[gnu::always_inline]] static void gather_difference(RowOf&& row_of, OtherRowOf&& other_row_of, Real (&out)[4]) {
    Row between[width];
    for (std::size_t lane = 0; lane < width; ++lane) between[lane] = load(row_of(lane)) - load(other_row_of(lane));
    columns(between, out);
  }
  static void store_lanes(Real a, double* to) { _mm256_storeu_pd(to, a.v); }
  static Real load_lanes(const double* from) { return {_mm256_loadu_pd(from)}; }
  static double smallest(Real a) {
    const __m128d two = _mm_min_pd(_mm256_castpd256_pd128(a.v), _mm256_extractf128_pd(a.v, 1));
    return _mm_cvtsd_f64(_mm_min_sd(two, _mm_unpackhi_pd(two, two)));
  }
  static Real pick(const double* table, std::size_t stride, const std::uint32_t* which) {
    return {_mm256_set_pd(table[which[3] * stride], table[which[2] * stride], table[which[1] * stride],
                          table[which[0] * stride])};
  }
  static unsigned bits(FourMask mask) { return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(mask.v))); }
  static void compress(const std::uint32_t* from, unsigned bits, std::uint32_t* to) {
    compress(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)), bits, to);
  }
  static void compress_count(std::uint32_t from, unsigned bits, std::uint32_t* to) {
    compress(_mm_add_epi32(_mm_set1_epi32(static_cast<int>(from)), _mm_set_epi32(3, 2, 1, 0)), bits, to);
  }
  static unsigned bits_of(const std::uint8_t* flags) {
    const __m128i bytes = _mm_slli_epi16(_mm_loadu_si32(flags), 7);
    return static_cast<unsigned>(_mm_movemask_epi8(bytes));
  }

 private:
  template <FourWide T>
  static const double* numbers(const T& row) {
    return reinterpret_cast<const double*>(&row);
  }
  static void compress(__m128i numbers, unsigned bits, std::uint32_t* to) {
    const __m128i order = _mm_load_si128(reinterpret_cast<const __m128i*>(byte_pack_table.entry[bits]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(numbers, order));
  }
};

}  // namespace
}  // namespace vicinal::dem
