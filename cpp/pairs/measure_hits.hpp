// Measures hits of a search by vector code.
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

// As Measure, for many hits of queries in one image. Needs details (Bodies::complete).
template <class T, int D>
class HitMeasure {
 public:
  HitMeasure(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, const Shift& shift)
      : queries_(queries.details.data()), bodies_(bodies.details.data()), image_(image_of(bodies.box, shift)),
        kernel_(kernel()) {}

  // Of hits given by the slots of queries and bodies.
  void pairs(const std::int32_t* queries, std::span<const std::int32_t> slots, const HitColumns<T>& to) const {
    kernel_.pairs({queries_, queries, bodies_, slots.data()}, slots.size(), image_.data(), to);
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
