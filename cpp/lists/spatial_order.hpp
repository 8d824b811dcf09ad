// The order of bodies along a Morton curve, in which neighbours in space are close in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "exec/threads.hpp"
#include "geometry/box.hpp"
#include "index/bodies.hpp"
#include "index/cell_order.hpp"
#include "index/curve_order.hpp"

namespace vicinal {

// Fills `order` with the numbers of the bodies along the curve.
template <class T, int D>
void spatial_order(const BodyView<T, D>& points, const Box<T, D>& box, std::int32_t* order) {
  // Cells of the curve with more bodies than this are divided further: one distant body can make cells large.
  constexpr std::size_t crowd = 8;
  Bodies<T, D> bodies;
  bodies.reset(points, box, NearFrame<D>{});
  const detail::CurveKeys<T, D> keys(bodies);
  order_by_key(keys.limit(), keys, bodies);
  parallel_ranges(bodies.groups, 4096, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t g = begin; g < end; ++g)
      detail::sort_finer(bodies, bodies.group_begin[g], bodies.group_begin[g + 1], crowd);
  });
  std::copy_n(bodies.ids.data(), bodies.size, order);
}

}  // namespace vicinal
