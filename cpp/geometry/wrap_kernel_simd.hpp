// The function of wrap_kernel.hpp in lanes; included by wrap_kernel_avx2.cpp. Other instruction sets wrap positions one
// by one (wrap_kernel_baseline.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "geometry/cell_wrap.hpp"
#include "geometry/wrap_kernel.hpp"

namespace vicinal {
namespace {

template <class Lanes, int D>
void wrap(const typename Lanes::value* vector, const double* inverse, const typename Lanes::value* from, std::size_t n,
          typename Lanes::value* to, std::int32_t* wraps) {
  using T = typename Lanes::value;
  // Copies: what is written might alias them.
  T vectors[D * D];
  double inverses[D * D];
  for (int k = 0; k < D * D; ++k) {
    vectors[k] = vector[k];
    inverses[k] = inverse[k];
  }
  // Some positions at a time as columns, which stay in the first cache.
  constexpr std::size_t together = 64;
  T column[D][together] = {};
  std::int32_t counts[D][together];
  for (std::size_t begin = 0; begin < n; begin += together) {
    const std::size_t count = n - begin < together ? n - begin : together;
    const T* const source = from + begin * D;
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t a = 0; a < D; ++a) column[a][k] = source[k * D + a];
    for (std::size_t k = 0; k < count; k += Lanes::width) {
      typename Lanes::vector x[D];
      typename Lanes::whole wrapped[D];
      for (std::size_t a = 0; a < D; ++a) {
        x[a] = Lanes::load(column[a] + k);
        wrapped[a] = Lanes::none();
      }
      const auto outside = subtract_vectors<Lanes, D>(vectors, inverses, x, wrapped);
      if (Lanes::any(outside)) subtract_vectors<Lanes, D>(vectors, inverses, x, wrapped);
      for (std::size_t a = 0; a < D; ++a) {
        Lanes::store(column[a] + k, x[a]);
        Lanes::store_whole(counts[a] + k, wrapped[a]);
      }
    }
    T* const target = to + begin * D;
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t a = 0; a < D; ++a) target[k * D + a] = column[a][k];
    if (wraps == nullptr) continue;
    std::int32_t* const wraps_to = wraps + begin * D;
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t a = 0; a < D; ++a) wraps_to[k * D + a] = counts[a][k];
  }
}

}  // namespace
}  // namespace vicinal
