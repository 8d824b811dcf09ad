#include "index/bulk.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "exec/threads.hpp"

namespace vicinal {

namespace {

// The middle part of the positions along an axis, from a sample: 1/8 of the sample is below, 1/8 above.
template <class T, int D>
std::array<double, 2> middle_of(const BodyView<T, D>& bodies, int axis, std::size_t sample) {
  std::vector<double> values;
  values.reserve(sample + 1);
  const std::size_t step = std::max<std::size_t>(1, bodies.size / sample);
  for (std::size_t k = 0; k < bodies.size; k += step) values.push_back(bodies.along(k, axis));
  const auto tail = static_cast<std::ptrdiff_t>(values.size() / 8);
  const auto lower = values.begin() + tail;
  const auto upper = values.end() - 1 - tail;
  std::nth_element(values.begin(), upper, values.end());
  std::nth_element(values.begin(), lower, upper);
  return {*lower, *upper};
}

template <class T, int D>
std::size_t count_outside(const BodyView<T, D>& bodies, const Box<T, D>& box, const Bulk<D>& bulk) {
  std::atomic<std::size_t> total{0};
  parallel_ranges(bodies.size, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::size_t count = 0;
    for (std::size_t k = begin; k < end; ++k) {
      bool outside = false;
      for (int a = 0; a < D; ++a) {
        if (box.periodic(a)) continue;
        const auto axis = static_cast<std::size_t>(a);
        const double x = bodies.along(k, a);
        outside = outside || x < bulk.low[axis] || x > bulk.high[axis];
      }
      count += outside ? 1 : 0;
    }
    total += count;
  });
  return total;
}

}  // namespace

template <class T, int D>
Bulk<D> find_bulk(const BodyView<T, D>& bodies, const Box<T, D>& box, double reach, std::size_t most) {
  // Fewer bodies give too small a sample, and their search is fast in any case.
  constexpr std::size_t least = 512;
  // A small sample is enough if the space is evenly filled.
  constexpr std::size_t glance = 64;
  constexpr std::size_t sample = 1024;
  constexpr double far = 4;  // least ratio of the whole length to that of the middle part (3/4 of evenly spread bodies)
  Bulk<D> all;
  for (std::size_t a = 0; a < D; ++a) {
    const bool periodic = box.edge[a] > 0;
    all.low[a] = periodic ? 0 : static_cast<double>(bodies.low[a]);
    all.high[a] = static_cast<double>(periodic ? box.edge[a] : bodies.high[a]);
    all.length[a] = all.high[a] - all.low[a];
  }
  if (bodies.size < least) return all;
  Bulk<D> bulk = all;
  for (int axis = 0; axis < D; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    if (box.periodic(axis)) continue;
    // Halved, because the difference of two coordinates may overflow.
    const auto short_of = [&](const std::array<double, 2>& middle, double margin) {
      return far * (middle[1] / 2 - middle[0] / 2 + margin) < all.high[a] / 2 - all.low[a] / 2;
    };
    if (!short_of(middle_of(bodies, axis, glance), 0)) continue;
    const auto middle = middle_of(bodies, axis, sample);
    const double margin = std::max(middle[1] - middle[0], 8 * reach);
    if (!short_of(middle, margin)) continue;
    bulk.low[a] = std::max(all.low[a], middle[0] - margin);
    bulk.high[a] = std::min(all.high[a], middle[1] + margin);
    bulk.length[a] = std::max((middle[1] - middle[0]) * 4 / 3, reach);
    bulk.cut = true;
  }
  return bulk.cut && count_outside(bodies, box, bulk) <= most ? bulk : all;
}

template Bulk<2> find_bulk(const BodyView<float, 2>&, const Box<float, 2>&, double, std::size_t);
template Bulk<3> find_bulk(const BodyView<float, 3>&, const Box<float, 3>&, double, std::size_t);
template Bulk<2> find_bulk(const BodyView<double, 2>&, const Box<double, 2>&, double, std::size_t);
template Bulk<3> find_bulk(const BodyView<double, 3>&, const Box<double, 3>&, double, std::size_t);

}  // namespace vicinal
