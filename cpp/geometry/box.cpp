#include "geometry/box.hpp"

#include "geometry/cell_wrap.hpp"
#include "geometry/wrap_kernel.hpp"

namespace vicinal {

template <class T, int D>
void Box<T, D>::wrap_tilted(Position& x, Integers& counts) const {
  const T* const vector = lattice.vector[0].data();
  const double* const inverse = lattice.inverse[0].data();
  if (subtract_vectors<OnePosition<T>, D>(vector, inverse, x.data(), counts.data()) != 0)
    subtract_vectors<OnePosition<T>, D>(vector, inverse, x.data(), counts.data());
}

template <class T, int D>
void Box<T, D>::wrap_all(const T* from, std::size_t n, T* to, std::int32_t* counts) const {
  const WrapKernels& all = wrap_kernels();
  WrapKernel<T> wrap;
  if constexpr (std::is_same_v<T, float>) wrap = all.single[D - 2];
  else wrap = all.twice[D - 2];
  wrap(lattice.vector[0].data(), lattice.inverse[0].data(), from, n, to, counts);
}

template struct Box<float, 2>;
template struct Box<float, 3>;
template struct Box<double, 2>;
template struct Box<double, 3>;

}  // namespace vicinal
