// Positions in a tilted cell one by one, on every processor.
#include <cstddef>
#include <cstdint>

#include "geometry/cell_wrap.hpp"
#include "geometry/wrap_kernel.hpp"

namespace vicinal {

namespace {

template <class T, int D>
void wrap(const T* vector, const double* inverse, const T* from, std::size_t n, T* to, std::int32_t* wraps) {
  for (std::size_t k = 0; k < n; ++k) {
    T x[D];
    std::int32_t wrapped[D] = {};
    for (std::size_t a = 0; a < D; ++a) x[a] = from[k * D + a];
    if (subtract_vectors<OnePosition<T>, D>(vector, inverse, x, wrapped) != 0)
      subtract_vectors<OnePosition<T>, D>(vector, inverse, x, wrapped);
    for (std::size_t a = 0; a < D; ++a) to[k * D + a] = x[a];
    for (std::size_t a = 0; wraps != nullptr && a < D; ++a) wraps[k * D + a] = wrapped[a];
  }
}

}  // namespace

const WrapKernels& baseline_wrap_kernels() {
  static constexpr WrapKernels kernels{{wrap<float, 2>, wrap<float, 3>}, {wrap<double, 2>, wrap<double, 3>}};
  return kernels;
}
const WrapKernels& neon_wrap_kernels() { return baseline_wrap_kernels(); }

}  // namespace vicinal
