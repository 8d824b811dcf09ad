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
void plain_pairs(const HitBodies& of, std::size_t n, const V* image, const HitColumns<V>& to) {
  const auto* const queries = static_cast<const BodyRecord<V, D>*>(of.queries);
  const auto* const bodies = static_cast<const BodyRecord<V, D>*>(of.bodies);
  // A copy: what is written might alias it.
  const HitColumns<V> columns = to;
  // Some hits at a time, roots in a loop of their own, which is vectorised.
  constexpr std::size_t together = 64;
  V squares[together];
  for (std::size_t begin = 0; begin < n; begin += together) {
    const std::size_t count = n - begin < together ? n - begin : together;
    for (std::size_t k = 0; k < count; ++k) {
      const BodyRecord<V, D>& query = queries[of.query_slots[begin + k]];
      const BodyRecord<V, D>& body = bodies[of.body_slots[begin + k]];
      V d[D];
      squares[k] = squared(body, query.x, image, d);
      for (int a = 0; columns.vectors != nullptr && a < D; ++a)
        columns.vectors[(begin + k) * D + static_cast<std::size_t>(a)] = d[a];
      if (columns.query_ids != nullptr) columns.query_ids[begin + k] = query.id;
      if (columns.body_ids != nullptr) columns.body_ids[begin + k] = body.id;
    }
    for (std::size_t k = 0; columns.distances != nullptr && k < count; ++k)
      columns.distances[begin + k] = square_root(squares[k]);
    for (std::size_t k = 0; columns.squares != nullptr && k < count; ++k) columns.squares[begin + k] = squares[k];
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
constexpr MeasureKernel<V> plain_measure_kernel{plain_pairs<V, D>, plain_columns<V, D>};

}  // namespace
}  // namespace vicinal
