// The order of bodies along a Morton curve, in which neighbours in space are close in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "geometry/box.hpp"
#include "index/bodies.hpp"
#include "index/curve_order.hpp"

namespace vicinal {

// Fills `order` with the numbers of the bodies along the curve.
template <class T, int D>
void spatial_order(const BodyView<T, D>& points, const Box<T, D>& box, std::int32_t* order) {
  // Cells of the curve with more bodies than this are divided further: one distant body can make cells large.
  constexpr std::size_t crowd = 8;
  Bodies<T, D> bodies;
  bodies.reset(points, box, NearFrame<D>{});
  sort_by_curve(bodies, crowd);
  std::copy_n(bodies.ids.data(), bodies.size, order);
}

}  // namespace vicinal
