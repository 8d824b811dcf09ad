// Measured hits in plain C++, on every processor.
#include <cmath>

namespace {
inline float square_root(float x) { return std::sqrt(x); }
inline double square_root(double x) { return std::sqrt(x); }
}  // namespace

#include "pairs/measure_plain.hpp"

namespace vicinal {

const MeasureKernels& baseline_measure_kernels() {
  static constexpr MeasureKernels kernels{{plain_measure_kernel<float, 2>, plain_measure_kernel<float, 3>},
                                          {plain_measure_kernel<double, 2>, plain_measure_kernel<double, 3>}};
  return kernels;
}
// Compilers use NEON everywhere on its processors.
const MeasureKernels& neon_measure_kernels() { return baseline_measure_kernels(); }

}  // namespace vicinal
