// 16 floats in four registers.
#pragma once

#include "exec/neon.hpp"
#include "sph/lanes.hpp"

namespace vicinal::sph {
namespace {

struct FourFours {
  float32x4_t v[4];
};
template <class F>
[[gnu::always_inline]] inline FourFours each_four(F f) {
  return {{f(0), f(1), f(2), f(3)}};
}
inline FourFours operator+(FourFours a, FourFours b) {
  return each_four([&](int k) { return vaddq_f32(a.v[k], b.v[k]); });
}
inline FourFours operator-(FourFours a, FourFours b) {
  return each_four([&](int k) { return vsubq_f32(a.v[k], b.v[k]); });
}
inline FourFours operator*(FourFours a, FourFours b) {
  return each_four([&](int k) { return vmulq_f32(a.v[k], b.v[k]); });
}
inline FourFours operator/(FourFours a, FourFours b) {
  return each_four([&](int k) { return vdivq_f32(a.v[k], b.v[k]); });
}

struct FourFoursLanes {
  using T = float;
  using Real = FourFours;
  struct Mask {
    uint32x4_t v[4];
  };
  static constexpr std::size_t width = 16;

  static Real all(float a) {
    return each_four([&](int) { return vdupq_n_f32(a); });
  }
  static Real load(const float* from) {
    return each_four([&](int k) { return vld1q_f32(from + 4 * k); });
  }
  static void store(Real a, float* to) {
    for (int k = 0; k < 4; ++k) vst1q_f32(to + 4 * k, a.v[k]);
  }
  static Mask less(Real a, Real b) {
    return each_mask([&](int k) { return vcltq_f32(a.v[k], b.v[k]); });
  }
  static Real choose(Mask m, Real a, Real b) {
    return each_four([&](int k) { return vbslq_f32(m.v[k], a.v[k], b.v[k]); });
  }
  static Real root(Real a) {
    return each_four([&](int k) { return vsqrtq_f32(a.v[k]); });
  }
  // Not vmaxq_f32, which differs where one of the two is not a number.
  static Real larger(Real a, Real b) { return choose(less(b, a), a, b); }
  static Mask first(std::size_t lanes) {
    const uint32x4_t limit = vdupq_n_u32(static_cast<std::uint32_t>(lanes));
    return each_mask(
        [&](int k) { return vcltq_u32(vreinterpretq_u32_s32(count_from(4 * static_cast<std::uint32_t>(k))), limit); });
  }
  static Mask odd(Real a) {
    return each_mask([&](int k) { return vtstq_u32(vreinterpretq_u32_f32(a.v[k]), vdupq_n_u32(1)); });
  }
  static bool any(Mask m) { return any_lane(vorrq_u32(vorrq_u32(m.v[0], m.v[1]), vorrq_u32(m.v[2], m.v[3]))); }
  static Mask both(Mask a, Mask b) {
    return each_mask([&](int k) { return vandq_u32(a.v[k], b.v[k]); });
  }
  template <std::uint32_t stride>
  static std::size_t pack(Mask m, std::uint32_t number, std::uint32_t* to) {
    std::size_t n = 0;
    for (const uint32x4_t four : m.v) {
      const SetLanes set(four);
      const int32x4_t packed = pack_four(count_from(number), packing_of(set.bits()));
      vst1q_u32(to + n, vmulq_n_u32(vreinterpretq_u32_s32(packed), stride));
      n += set.number();
      number += 4;
    }
    return n;
  }
  static void columns(const float* records, const std::uint32_t* which, Real* out) {
    for (int k = 0; k < 4; ++k) {
      float32x4_t record[4];
      for (int lane = 0; lane < 4; ++lane) record[lane] = vld1q_f32(records + which[4 * k + lane]);
      transpose(record);
      for (int c = 0; c < 4; ++c) out[c].v[k] = record[c];
    }
  }
  template <std::size_t count = 16>
  static void sums(const Real (&in)[16], float (&out)[16]) {
    for (int n = 0; n < static_cast<int>(count); n += 4) {
      float32x4_t four[4];
      for (int k = 0; k < 4; ++k) {
        const Real& a = in[n + k];
        four[k] = vaddq_f32(vaddq_f32(a.v[0], a.v[2]), vaddq_f32(a.v[1], a.v[3]));
      }
      transpose(four);
      vst1q_f32(out + n, vaddq_f32(vaddq_f32(four[0], four[2]), vaddq_f32(four[1], four[3])));
    }
  }

 private:
  template <class F>
  [[gnu::always_inline]] static Mask each_mask(F f) {
    return {{f(0), f(1), f(2), f(3)}};
  }
  static void transpose(float32x4_t (&rows)[4]) {
    const auto wide = [](float32x4_t a) { return vreinterpretq_f64_f32(a); };
    const float64x2_t even[2] = {wide(vtrn1q_f32(rows[0], rows[1])), wide(vtrn1q_f32(rows[2], rows[3]))};
    const float64x2_t odd[2] = {wide(vtrn2q_f32(rows[0], rows[1])), wide(vtrn2q_f32(rows[2], rows[3]))};
    rows[0] = vreinterpretq_f32_f64(vtrn1q_f64(even[0], even[1]));
    rows[1] = vreinterpretq_f32_f64(vtrn1q_f64(odd[0], odd[1]));
    rows[2] = vreinterpretq_f32_f64(vtrn2q_f64(even[0], even[1]));
    rows[3] = vreinterpretq_f32_f64(vtrn2q_f64(odd[0], odd[1]));
  }
};

}  // namespace
}  // namespace vicinal::sph
