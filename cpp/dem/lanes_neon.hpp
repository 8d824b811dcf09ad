// Four contacts at a time, in two registers of two.
#pragma once

#include "dem/lanes.hpp"
#include "exec/neon.hpp"

namespace vicinal::dem {
namespace {

struct Four {
  float64x2_t low, high;
};
struct FourMask {
  uint64x2_t low, high;
};
inline Four operator+(Four a, Four b) { return {vaddq_f64(a.low, b.low), vaddq_f64(a.high, b.high)}; }
inline Four operator-(Four a, Four b) { return {vsubq_f64(a.low, b.low), vsubq_f64(a.high, b.high)}; }
inline Four operator*(Four a, Four b) { return {vmulq_f64(a.low, b.low), vmulq_f64(a.high, b.high)}; }
inline Four operator/(Four a, Four b) { return {vdivq_f64(a.low, b.low), vdivq_f64(a.high, b.high)}; }
inline FourMask operator>(Four a, Four b) { return {vcgtq_f64(a.low, b.low), vcgtq_f64(a.high, b.high)}; }
inline Four root(Four a) { return {vsqrtq_f64(a.low), vsqrtq_f64(a.high)}; }
inline Four choose(FourMask yes, Four a, Four b) {
  return {vbslq_f64(yes.low, a.low, b.low), vbslq_f64(yes.high, a.high, b.high)};
}
inline Four magnitude(Four a) { return {vabsq_f64(a.low), vabsq_f64(a.high)}; }

struct FourLanes {
  using Real = Four;
  using Row = Four;
  using LoadPair = RowPair<FourLanes>;
  static constexpr std::size_t width = 4;
  static Real all(double a) { return {vdupq_n_f64(a), vdupq_n_f64(a)}; }
  template <FourWide T>
  static Row load(const T& from) {
    return load_lanes(reinterpret_cast<const double*>(&from));
  }
  template <FourWide T>
  static void store(T& to, Row row) {
    store_lanes(row, reinterpret_cast<double*>(&to));
  }
  static Row spread(double a) { return all(a); }
  static Row three(Row a) { return {a.low, vsetq_lane_f64(0, a.high, 1)}; }
  static void transpose(const Four (&in)[4], Four (&out)[4]) {
    out[0] = {vtrn1q_f64(in[0].low, in[1].low), vtrn1q_f64(in[2].low, in[3].low)};
    out[1] = {vtrn2q_f64(in[0].low, in[1].low), vtrn2q_f64(in[2].low, in[3].low)};
    out[2] = {vtrn1q_f64(in[0].high, in[1].high), vtrn1q_f64(in[2].high, in[3].high)};
    out[3] = {vtrn2q_f64(in[0].high, in[1].high), vtrn2q_f64(in[2].high, in[3].high)};
  }
  static void columns(const Row (&in)[width], Real (&out)[4]) { transpose(in, out); }
  static void rows(const Real (&in)[4], Row (&out)[width]) { transpose(in, out); }
  template <class RowOf>
  static void gather(RowOf&& row_of, Real (&out)[4]) {
    columns({load(row_of(0)), load(row_of(1)), load(row_of(2)), load(row_of(3))}, out);
  }
  template <class RowOf>
  static void scatter(const Real (&in)[4], RowOf&& row_of) {
    Row out[width];
    rows(in, out);
    for (std::size_t lane = 0; lane < width; ++lane) store(row_of(lane), out[lane]);
  }
  template <class RowOf, class OtherRowOf>
  static void gather_difference(RowOf&& row_of, OtherRowOf&& other_row_of, Real (&out)[4]) {
    Row between[width];
    for (std::size_t lane = 0; lane < width; ++lane) between[lane] = load(row_of(lane)) - load(other_row_of(lane));
    columns(between, out);
  }
  static void store_lanes(Real a, double* to) {
    vst1q_f64(to, a.low);
    vst1q_f64(to + 2, a.high);
  }
  static double smallest(Real a) { return vminvq_f64(vminq_f64(a.low, a.high)); }
  static Real load_lanes(const double* from) { return {vld1q_f64(from), vld1q_f64(from + 2)}; }
  static Real pick(const double* table, std::size_t stride, const std::uint32_t* which) {
    const double picked[width] = {table[which[0] * stride], table[which[1] * stride], table[which[2] * stride],
                                  table[which[3] * stride]};
    return load_lanes(picked);
  }
  static unsigned bits(FourMask mask) {
    return SetLanes(vuzp1q_u32(vreinterpretq_u32_u64(mask.low), vreinterpretq_u32_u64(mask.high))).bits();
  }
  static void compress(const std::uint32_t* from, unsigned bits, std::uint32_t* to) {
    compress(vreinterpretq_s32_u32(vld1q_u32(from)), bits, to);
  }
  static void compress_count(std::uint32_t from, unsigned bits, std::uint32_t* to) {
    compress(count_from(from), bits, to);
  }
  static unsigned bits_of(const std::uint8_t* flags) {
    return flags[0] | unsigned{flags[1]} << 1 | unsigned{flags[2]} << 2 | unsigned{flags[3]} << 3;
  }

 private:
  static void compress(int32x4_t numbers, unsigned bits, std::uint32_t* to) {
    vst1q_u32(to, vreinterpretq_u32_s32(pack_four(numbers, packing_of(bits))));
  }
};

}  // namespace
}  // namespace vicinal::dem
