#include "index/lay_grid.hpp"

#include <algorithm>
#include <vector>

#include "index/bulk.hpp"

namespace vicinal {

namespace {

// A coordinate near most bodies, from a sample: a very long axis is resolved around it.
template <class T, int D>
double typical(const BodyView<T, D>& points, int axis) {
  if (points.size == 0) return 0;
  std::vector<double> sample;
  const std::size_t step = std::max<std::size_t>(1, points.size / 1000);
  for (std::size_t k = 0; k < points.size; k += step) sample.push_back(points.along(k, axis));
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  std::nth_element(sample.begin(), middle, sample.end());
  return *middle;
}

}  // namespace

template <class T, int D>
Grid lay_grid(const BodyView<T, D>& points, const Box<T, D>& box, const Reach<D>& reaches, int subdivision,
              double least) {
  Grid grid;
  // A periodic box has no strays: the number of its cells is limited by the bits of a key.
  constexpr std::int64_t most = std::int64_t{1} << (D == 3 ? 20 : 30);
  for (int axis = 0; axis < D; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const double reach = reaches.axis[a];
    const T edge = box.edge[a];
    if (edge > 0) {
      grid.axis[a] = periodic_axis(static_cast<double>(edge), periodic_reach(reach, edge), subdivision, least, most);
    } else {
      grid.axis[a] = open_axis(static_cast<double>(points.low[a]), static_cast<double>(points.high[a]),
                               typical(points, axis), reach, subdivision, least);
    }
  }
  return grid;
}

template <class T, int D>
Grid lay_bulk_grid(const BodyView<T, D>& bodies, const Box<T, D>& box, const Reach<D>& reaches, int subdivision,
                   double least) {
  const Bulk<D> bulk = find_bulk(bodies, box, reaches.largest(), most_strays(bodies.size));
  return lay_grid(within(bulk, bodies, box), box, reaches, subdivision, least);
}

template Grid lay_grid(const BodyView<float, 2>&, const Box<float, 2>&, const Reach<2>&, int, double);
template Grid lay_grid(const BodyView<float, 3>&, const Box<float, 3>&, const Reach<3>&, int, double);
template Grid lay_grid(const BodyView<double, 2>&, const Box<double, 2>&, const Reach<2>&, int, double);
template Grid lay_grid(const BodyView<double, 3>&, const Box<double, 3>&, const Reach<3>&, int, double);
template Grid lay_bulk_grid(const BodyView<float, 2>&, const Box<float, 2>&, const Reach<2>&, int, double);
template Grid lay_bulk_grid(const BodyView<float, 3>&, const Box<float, 3>&, const Reach<3>&, int, double);
template Grid lay_bulk_grid(const BodyView<double, 2>&, const Box<double, 2>&, const Reach<2>&, int, double);
template Grid lay_bulk_grid(const BodyView<double, 3>&, const Box<double, 3>&, const Reach<3>&, int, double);

}  // namespace vicinal
