// The axis to sweep along, and bodies sorted along it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "geometry/box.hpp"
#include "index/bodies.hpp"
#include "index/bulk.hpp"
#include "index/cell_order.hpp"
#include "index/sweep/extent.hpp"
#include "index/sweep/line.hpp"

namespace vicinal::sweep {

struct SweepDirection {
  int axis = 0;
  Ruler ruler;
};

// The axis along which bodies are spread out most relative to their size, so that a body overlaps the fewest others. A
// coordinate outside the bulk of the bodies is clamped to its border.
template <class T, int D>
SweepDirection choose_direction(const BodyView<T, D>& points, const Box<T, D>& box, const Reach<D>& reach,
                                const Bulk<D>& bulk) {
  SweepDirection best;
  double most = -1;
  const std::size_t step = std::max<std::size_t>(1, points.size / 1000);
  for (int axis = 0; axis < D; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const double size = reach.axis[a];
    double count = 0;
    double mean = 0;
    double square = 0;
    for (std::size_t k = 0; k < points.size; k += step) {
      const auto at = static_cast<double>(box.wrap(points.at(k, axis), axis));
      const double x = std::min(std::max(at, bulk.low[a]), bulk.high[a]) / size;
      count += 1;
      const double off = x - mean;
      mean += off / count;
      square += off * (x - mean);
    }
    if (!(square > most)) continue;
    most = square;
    best = {axis, Ruler(bulk.low[a] - size, bulk.high[a] + size, size)};
  }
  return best;
}

// The lower end of each body along a direction, as a key for sorting.
template <class T, int D>
struct LowerEnds {
  const SweepDirection& direction;
  const Extent<T, D>& extent;
  const Bodies<T, D>& bodies;

  template <class F>
  void for_each(std::size_t begin, std::size_t end, F&& f) const {
    for (std::size_t p = begin; p < end; ++p) {
      const auto value = [&](int column) { return bodies.value(p, column); };
      f(p, direction.ruler(extent(value, direction.axis).low));
    }
  }
};

// Puts bodies (already `reset`) into ascending order of their lower ends along a direction.
template <class T, int D>
void sort_along(const SweepDirection& direction, const Extent<T, D>& extent, Bodies<T, D>& bodies) {
  order_by_key(direction.ruler.limit(), LowerEnds<T, D>{direction, extent, bodies}, bodies);
}

}  // namespace vicinal::sweep
