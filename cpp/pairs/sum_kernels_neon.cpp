// Exact sums on NEON: two numbers per register.
#include "exec/neon.hpp"

#include "pairs/sum_kernels_simd.hpp"

namespace vicinal {
namespace {

struct Lanes {
  using vector = float64x2_t;
  static constexpr std::size_t width = 2;

  static inline vector load(const double* p) { return vld1q_f64(p); }
  static inline vector load_first(const double* p, std::size_t /*n*/) { return vsetq_lane_f64(*p, vdupq_n_f64(0), 0); }
  static inline void store(double* p, vector v) { vst1q_f64(p, v); }
  static inline vector broadcast(double x) { return vdupq_n_f64(x); }
  static inline vector add(vector a, vector b) { return vaddq_f64(a, b); }
  static inline vector subtract(vector a, vector b) { return vsubq_f64(a, b); }
  static inline vector magnitude(vector v) { return vabsq_f64(v); }
  static inline vector most(vector a, vector b) { return vmaxq_f64(a, b); }
  static inline double sum(vector v) { return vaddvq_f64(v); }
  static inline double largest(vector v) { return vmaxvq_f64(v); }
};

}  // namespace

const SumKernels& neon_sum_kernels() {
  static constexpr SumKernels kernels{largest_of<Lanes>, split_numbers<Lanes>};
  return kernels;
}

}  // namespace vicinal
