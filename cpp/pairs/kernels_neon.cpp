// The exact test on NEON: four lanes, in one register of floats or two of doubles. Hits are packed by a table of
// shuffles.
#include "exec/neon.hpp"

#include "pairs/kernels_simd.hpp"
#include "pairs/nearest_simd.hpp"

namespace vicinal {
namespace {

// Lane masks, read from the right place.
constexpr std::uint32_t zeros_then_ones[8] = {0, 0, 0, 0, ~0U, ~0U, ~0U, ~0U};
constexpr std::uint32_t ones_then_zeros[8] = {~0U, ~0U, ~0U, ~0U, 0, 0, 0, 0};
constexpr std::uint32_t all_but_one[7] = {~0U, ~0U, ~0U, 0, ~0U, ~0U, ~0U};

// For every mask of 4 lanes of 8 bytes, the numbers of the bytes of its set lanes first.
struct LongPackTable {
  alignas(16) std::uint8_t entry[16][32];
  constexpr LongPackTable() : entry{} {
    for (unsigned mask = 0; mask < 16; ++mask) {
      unsigned to = 0;
      for (unsigned byte = 0; byte < 32; ++byte)
        if ((mask >> (byte / 8) & 1U) != 0) entry[mask][to++] = static_cast<std::uint8_t>(byte);
    }
  }
};
constexpr LongPackTable long_pack;

// Masks and payload, which are the same for floats and doubles.
struct FourLanes {
  using mask = uint32x4_t;
  static constexpr std::size_t width = 4;

  static inline void copy(std::int32_t* to, const std::int32_t* from) { vst1q_s32(to, vld1q_s32(from)); }
  static inline mask from(std::size_t k) { return vld1q_u32(zeros_then_ones + 4 - k); }
  static inline mask first(std::size_t k) { return vld1q_u32(ones_then_zeros + 4 - k); }
  static inline mask without(std::size_t k) { return vld1q_u32(all_but_one + 3 - k); }
  static inline int32x4_t broadcast_id(std::int32_t id) { return vdupq_n_s32(id); }
  static inline mask greater(const std::int32_t* payload, int32x4_t limit) {
    return vcgtq_s32(vld1q_s32(payload), limit);
  }
  static inline mask both(mask a, mask b) { return vandq_u32(a, b); }
  static inline mask differ(mask a, mask b) { return veorq_u32(a, b); }
  static inline mask either(mask a, mask b) { return vorrq_u32(a, b); }
  static inline mask none() { return vdupq_n_u32(0); }
  static inline bool any(mask a) { return any_lane(a); }
  static inline std::size_t number(mask m) { return SetLanes(m).number(); }
  static inline std::size_t keep(std::int32_t* to, const std::int32_t* payload, mask m) {
    const SetLanes set(m);
    vst1q_s32(to, pack_four(vld1q_s32(payload), packing_of(set.bits())));
    return set.number();
  }
  // Eight registers at once: enough for most queries.
  static inline std::size_t fill(std::int32_t* to, std::int32_t id) {
    for (int k = 0; k < 8; ++k) vst1q_s32(to + 4 * k, vdupq_n_s32(id));
    return 32;
  }
  static inline void number_slots(std::int32_t* to, std::size_t first) {
    vst1q_s32(to, count_from(static_cast<std::uint32_t>(first)));
  }
  using permutation = unsigned;
  static inline permutation packing(mask m) { return SetLanes(m).bits(); }
  static inline void pack_payload(std::int32_t* to, const std::int32_t* payload, permutation p) {
    vst1q_s32(to, pack_four(vld1q_s32(payload), packing_of(p)));
  }
  static inline void pack_slots(std::int32_t* to, std::size_t first, permutation p) {
    vst1q_s32(to, pack_four(count_from(static_cast<std::uint32_t>(first)), packing_of(p)));
  }
  static inline unsigned bits(mask m) { return SetLanes(m).bits(); }
  using tally = uint32x4_t;
  using count = std::uint32_t;
  static inline tally none_yet() { return vdupq_n_u32(0); }
  static inline tally add_to(tally t, mask m) { return vsubq_u32(t, m); }
  static inline mask reached(tally t, std::size_t k) {
    return vcgeq_u32(t, vdupq_n_u32(static_cast<std::uint32_t>(k)));
  }
  static inline void store_tally(count* to, tally t) { vst1q_u32(to, t); }
};

struct FloatLanes : FourLanes {
  using value = float;
  using vector = float32x4_t;

  static inline vector load(const float* p) { return vld1q_f32(p); }
  static inline void store(float* p, vector v) { vst1q_f32(p, v); }
  static inline vector broadcast(float x) { return vdupq_n_f32(x); }
  static inline vector zero() { return vdupq_n_f32(0); }
  static inline vector subtract(vector a, vector b) { return vsubq_f32(a, b); }
  static inline vector add(vector a, vector b) { return vaddq_f32(a, b); }
  static inline vector multiply(vector a, vector b) { return vmulq_f32(a, b); }
  static inline vector least(vector a, vector b) { return vminq_f32(a, b); }
  static inline vector most(vector a, vector b) { return vmaxq_f32(a, b); }
  static inline float root(float x) { return vget_lane_f32(vsqrt_f32(vdup_n_f32(x)), 0); }
  static inline vector roots(vector v) { return vsqrtq_f32(v); }
  static inline mask at_most(vector a, vector b) { return vcleq_f32(a, b); }
  static inline vector pack(vector v, permutation p) {
    return vreinterpretq_f32_s32(pack_four(vreinterpretq_s32_f32(v), packing_of(p)));
  }
  static inline vector narrow(float64x2x2_t v) { return vcvt_high_f32_f64(vcvt_f32_f64(v.val[0]), v.val[1]); }
  static inline vector at(const float* p, const std::int32_t* places) {
    const float x[4] = {p[places[0]], p[places[1]], p[places[2]], p[places[3]]};
    return vld1q_f32(x);
  }
  static inline vector where(mask m, vector a, vector b) { return vbslq_f32(m, a, b); }
  static inline vector packed(vector v, mask m) { return pack(v, packing(m)); }
  static inline vector with_bits(vector v, vector replaced, vector bits) {
    return vbslq_f32(vreinterpretq_u32_f32(replaced), bits, v);
  }
  template <int X>
  static inline vector exchanged(vector v) {
    if constexpr ((X & 1) != 0) v = vrev64q_f32(v);
    if constexpr ((X & 2) != 0) v = vextq_f32(v, v, 2);
    return v;
  }
  template <int X>
  static inline vector ordered(vector v) {
    constexpr std::uint32_t upper[4] = {0, X < 2 ? ~0U : 0, X < 2 ? 0 : ~0U, ~0U};
    const vector other = exchanged<X>(v);
    return vbslq_f32(vld1q_u32(upper), vmaxq_f32(v, other), vminq_f32(v, other));
  }
  static inline float least_of(vector v) { return vminvq_f32(v); }
};

struct DoubleLanes : FourLanes {
  using value = double;
  using vector = float64x2x2_t;

  static inline vector load(const double* p) { return {{vld1q_f64(p), vld1q_f64(p + 2)}}; }
  static inline void store(double* p, vector v) {
    vst1q_f64(p, v.val[0]);
    vst1q_f64(p + 2, v.val[1]);
  }
  static inline vector broadcast(double x) { return {{vdupq_n_f64(x), vdupq_n_f64(x)}}; }
  static inline vector zero() { return broadcast(0); }
  static inline vector subtract(vector a, vector b) {
    return {{vsubq_f64(a.val[0], b.val[0]), vsubq_f64(a.val[1], b.val[1])}};
  }
  static inline vector add(vector a, vector b) {
    return {{vaddq_f64(a.val[0], b.val[0]), vaddq_f64(a.val[1], b.val[1])}};
  }
  static inline vector multiply(vector a, vector b) {
    return {{vmulq_f64(a.val[0], b.val[0]), vmulq_f64(a.val[1], b.val[1])}};
  }
  static inline vector least(vector a, vector b) {
    return {{vminq_f64(a.val[0], b.val[0]), vminq_f64(a.val[1], b.val[1])}};
  }
  static inline vector most(vector a, vector b) {
    return {{vmaxq_f64(a.val[0], b.val[0]), vmaxq_f64(a.val[1], b.val[1])}};
  }
  static inline double root(double x) { return vgetq_lane_f64(vsqrtq_f64(vdupq_n_f64(x)), 0); }
  static inline vector roots(vector v) { return {{vsqrtq_f64(v.val[0]), vsqrtq_f64(v.val[1])}}; }
  static inline mask at_most(vector a, vector b) {
    return vuzp1q_u32(vreinterpretq_u32_u64(vcleq_f64(a.val[0], b.val[0])),
                      vreinterpretq_u32_u64(vcleq_f64(a.val[1], b.val[1])));
  }
  static inline vector pack(vector v, permutation p) {
    const uint8x16x2_t bytes = {{vreinterpretq_u8_f64(v.val[0]), vreinterpretq_u8_f64(v.val[1])}};
    const auto half = [&](const std::uint8_t* order) {
      return vreinterpretq_f64_u8(vqtbl2q_u8(bytes, vld1q_u8(order)));
    };
    return {{half(long_pack.entry[p]), half(long_pack.entry[p] + 16)}};
  }
  static inline vector at(const double* p, const std::int32_t* places) {
    const double x[4] = {p[places[0]], p[places[1]], p[places[2]], p[places[3]]};
    return load(x);
  }
};

}  // namespace

const Kernels& neon_kernels() {
  static constexpr Kernels kernels = make_kernels<FloatLanes, DoubleLanes>();
  return kernels;
}
const NearestKernels& neon_nearest_kernels() {
  static constexpr NearestKernels kernels = make_nearest_kernels<FloatLanes, DoubleLanes>();
  return kernels;
}

}  // namespace vicinal
