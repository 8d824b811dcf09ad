// Rows on NEON: four entries per register.
#include "exec/neon.hpp"

#include "rows/row_kernels_simd.hpp"

namespace vicinal {
namespace {

struct IntLanes {
  using vector = int32x4_t;
  static constexpr std::size_t width = 4;
  static constexpr int block = 4;

  static inline vector load(const std::int32_t* p) { return vld1q_s32(p); }
  static inline vector first(vector v, std::size_t k) {
    const std::int32_t lanes[] = {0, 1, 2, 3};
    return vbslq_s32(vcltq_s32(load(lanes), broadcast(static_cast<std::int32_t>(k))), v, broadcast(0x7fffffff));
  }
  static inline void store(std::int32_t* p, vector v) { vst1q_s32(p, v); }
  static inline vector broadcast(std::int32_t x) { return vdupq_n_s32(x); }
  static inline vector least(vector a, vector b) { return vminq_s32(a, b); }
  static inline vector most(vector a, vector b) { return vmaxq_s32(a, b); }
  static inline vector swap_halves(vector v) { return vextq_s32(v, v, 2); }
  static inline vector reverse(vector v) { return swap_halves(vrev64q_s32(v)); }
  // Compares lanes that are next to each other: the second takes the larger one.
  static inline vector pairs(vector v) {
    const vector partner = vrev64q_s32(v);
    return vtrn1q_s32(least(v, partner), most(v, partner));
  }
  // The first half takes the smaller ones of the lanes compared, the second half the larger ones.
  static inline vector halves(vector v, vector partner) {
    return vcombine_s32(vget_low_s32(least(v, partner)), vget_high_s32(most(v, partner)));
  }
  static inline vector merge(vector v) { return pairs(halves(v, swap_halves(v))); }
  static inline vector sort(vector v) {
    v = pairs(v);
    return pairs(halves(v, reverse(v)));
  }
  // Four registers as the rows of a matrix: its columns are sorted by exchanges of whole registers, then columns become
  // rows.
  [[gnu::always_inline]] static inline void sort_block(vector* v) {
    const auto order = [v](int a, int b) {
      const vector low = least(v[a], v[b]);
      v[b] = most(v[a], v[b]);
      v[a] = low;
    };
    order(0, 1), order(2, 3);
    order(0, 2), order(1, 3);
    order(1, 2);
    const auto joined = [](auto join, vector a, vector b) {
      return vreinterpretq_s32_s64(join(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
    };
    const auto first = [](int64x2_t a, int64x2_t b) { return vtrn1q_s64(a, b); };
    const auto second = [](int64x2_t a, int64x2_t b) { return vtrn2q_s64(a, b); };
    const vector even[2] = {vtrn1q_s32(v[0], v[1]), vtrn1q_s32(v[2], v[3])};
    const vector odd[2] = {vtrn2q_s32(v[0], v[1]), vtrn2q_s32(v[2], v[3])};
    v[0] = joined(first, even[0], even[1]);
    v[1] = joined(first, odd[0], odd[1]);
    v[2] = joined(second, even[0], even[1]);
    v[3] = joined(second, odd[0], odd[1]);
  }

  static inline void to_records(const vector* v, std::int32_t* to) {
    vst4q_s32(to, int32x4x4_t{{v[0], v[1], v[2], v[3]}});
  }
  static inline void from_records(const std::int32_t* records, const std::int32_t* places, vector* v) {
    alignas(16) std::int32_t found[16];
    for (std::size_t k = 0; k < 4; ++k) store(found + 4 * k, load(records + 4 * static_cast<std::size_t>(places[k])));
    const int32x4x4_t columns = vld4q_s32(found);
    for (std::size_t c = 0; c < 4; ++c) v[c] = columns.val[c];
  }
};

}  // namespace

const SortKernels& neon_row_kernels() {
  static constexpr SortKernels kernels = make_sort_kernels<IntLanes>();
  return kernels;
}

}  // namespace vicinal
