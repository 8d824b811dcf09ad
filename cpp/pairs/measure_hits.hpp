// Measures all hits of a query at once, by vector code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "index/bodies.hpp"
#include "index/structure.hpp"
#include "pairs/measure.hpp"
#include "pairs/measure_kernels.hpp"

namespace vicinal {

// As Measure, from queries in one image. Needs details (Bodies::complete).
template <class T, int D>
class HitMeasure {
 public:
  HitMeasure(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, const Shift& shift)
      : queries_(queries.details.data()), bodies_(bodies.details.data()), image_(image_of(bodies.box, shift)),
        kernel_(kernel()) {}

  // Distances, vectors side by side and numbers of the hits of a query; null: not wanted.
  void rows(Slot query, std::span<const std::int32_t> slots, T* distances, T* vectors, std::int32_t* ids) const {
    kernel_.rows(bodies_, slots.data(), slots.size(), queries_[query].x.data(), image_.data(), distances, vectors, ids);
  }
  // Squared distances, vectors as columns that begin `stride` apart, with 0 in place of -0, and numbers.
  void columns(Slot query, std::span<const std::int32_t> slots, T* squares, T* vectors, std::size_t stride,
               std::int32_t* ids) const {
    kernel_.columns(bodies_, slots.data(), slots.size(), queries_[query].x.data(), image_.data(), squares, vectors,
                    stride, ids);
  }

 private:
  using Detail = BodyDetail<T, D>;
  using Record = BodyRecord<T, D>;
  static_assert(sizeof(Detail) == sizeof(Record) && offsetof(Detail, id) == offsetof(Record, id));

  static const MeasureKernel<T>& kernel() {
    const MeasureKernels& all = measure_kernels();
    if constexpr (std::is_same_v<T, float>) return all.single[D - 2];
    else return all.twice[D - 2];
  }

  const BodyDetail<T, D>* queries_;
  const BodyDetail<T, D>* bodies_;
  std::array<T, D> image_;
  const MeasureKernel<T>& kernel_;
};

}  // namespace vicinal
