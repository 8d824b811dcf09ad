// The functions of measure_kernels.hpp in plain C++; included by the files of every instruction set.
#pragma once

#include "pairs/measure_kernels.hpp"

namespace vicinal {
namespace {

// Writes the difference to `d` and returns the squared distance.
template <class V, int D>
inline V squared(const BodyRecord<V, D>& body, const V* from, const V* image, V* d) {
  V sum = 0;
  for (int a = 0; a < D; ++a) {
    d[a] = (body.x[a] - from[a]) + image[a];
    sum = a == 0 ? d[a] * d[a] : sum + d[a] * d[a];
  }
  return sum;
}

template <class V, int D>
void plain_rows(const void* records, const std::int32_t* slots, std::size_t n, const V* from, const V* image,
                V* distances, V* vectors, std::int32_t* ids) {
  const auto* const bodies = static_cast<const BodyRecord<V, D>*>(records);
  // Some hits at a time, roots in a loop of their own, which is vectorised.
  constexpr std::size_t together = 64;
  V squares[together];
  for (std::size_t begin = 0; begin < n; begin += together) {
    const std::size_t count = n - begin < together ? n - begin : together;
    for (std::size_t k = 0; k < count; ++k) {
      const BodyRecord<V, D>& body = bodies[slots[begin + k]];
      V d[D];
      squares[k] = squared(body, from, image, d);
      for (int a = 0; vectors != nullptr && a < D; ++a) vectors[(begin + k) * D + static_cast<std::size_t>(a)] = d[a];
      if (ids != nullptr) ids[begin + k] = body.id;
    }
    for (std::size_t k = 0; distances != nullptr && k < count; ++k) distances[begin + k] = square_root(squares[k]);
  }
}

template <class V, int D>
void plain_columns(const void* records, const std::int32_t* slots, std::size_t n, const V* from, const V* image,
                   V* squares, V* vectors, std::size_t stride, std::int32_t* ids) {
  const auto* const bodies = static_cast<const BodyRecord<V, D>*>(records);
  for (std::size_t k = 0; k < n; ++k) {
    const BodyRecord<V, D>& body = bodies[slots[k]];
    V d[D];
    squares[k] = squared(body, from, image, d);
    for (int a = 0; a < D; ++a) vectors[static_cast<std::size_t>(a) * stride + k] = d[a] + V{0};
    ids[k] = body.id;
  }
}

template <class V, int D>
constexpr MeasureKernel<V> plain_measure_kernel{plain_rows<V, D>, plain_columns<V, D>};

}  // namespace
}  // namespace vicinal
