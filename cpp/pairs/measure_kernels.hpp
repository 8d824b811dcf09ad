// The vector code that measures hits: one small table of functions per instruction set.
//
// Plain types only, as in kernels.hpp. Differences and squares are those of the definition (docs/definition.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinal {

// What a hit tells about a body: its coordinates, followed by the user's number. The layout of BodyDetail
// (index/bodies.hpp).
template <class V, int D>
struct BodyRecord {
  V x[D];
  std::int32_t id;
};

// The bodies of n hits, as records and the slots of each hit. `image` is added to all differences.
struct HitBodies {
  const void* queries;
  const std::int32_t* query_slots;
  const void* bodies;
  const std::int32_t* body_slots;
};

// What is wanted of hits; null: not wanted. Vectors are side by side. Distances or their squares, not both.
template <class V>
struct HitColumns {
  V* distances;
  V* squares;
  V* vectors;
  std::int32_t* query_ids;
  std::int32_t* body_ids;
};

// pairs:   the columns of n hits.
// columns: of n hits of one query at `from`: squared distances, vectors as columns that begin `stride` apart, with 0 in
//          place of -0, and numbers.
template <class V>
struct MeasureKernel {
  void (*pairs)(const HitBodies&, std::size_t n, const V* image, const HitColumns<V>& to);
  void (*columns)(const void* records, const std::int32_t* slots, std::size_t n, const V* from, const V* image,
                  V* squares, V* vectors, std::size_t stride, std::int32_t* ids);
};

// By dimension.
struct MeasureKernels {
  MeasureKernel<float> single[2];
  MeasureKernel<double> twice[2];
};

// Of the instruction set in use.
const MeasureKernels& measure_kernels();

const MeasureKernels& baseline_measure_kernels();
const MeasureKernels& avx2_measure_kernels();
const MeasureKernels& avx512_measure_kernels();
const MeasureKernels& neon_measure_kernels();

}  // namespace vicinal
