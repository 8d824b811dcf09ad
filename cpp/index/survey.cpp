#include "index/survey.hpp"

#include <algorithm>
#include <cmath>

#include "index/near_frame.hpp"

namespace vicinal {

template <int D>
template <class T>
Survey<D>::Survey(const BodyView<T, D>& points, const Box<T, D>& box, T cutoff, double most_cells)
    : crowd(find_bulk(points, box, points.reach(cutoff).largest(), points.size / 16)),
      statistics(Sampler<T, D>(points, box).run(crowd.length)), bodies(static_cast<double>(points.size)),
      shape(points.shape), reach(points.reach(cutoff).axis), most_cells(most_cells), periodic(box.periodic()) {
  const Crowding& crowding = statistics.crowding;
  scale_ = std::log2(crowding.edge);
  for (std::size_t k = 0; k < scales; ++k) {
    others_[k] = std::log2(std::max(crowding.others[k], 1e-12));
    cells_[k] = std::log2(std::max(crowding.cells[k], 1.0));
  }
  for (std::size_t a = 0; a < D; ++a) {
    period[a] = static_cast<double>(box.edge[a]);
    length[a] = period[a] > 0 ? period[a] : static_cast<double>(points.high[a]) - static_cast<double>(points.low[a]);
    length[a] = std::min(length[a], 1e290);
  }
  const double ball = shape == Shape::box ? 1 : D == 3 ? 4.18879 : 3.14159;
  const double volume = shape == Shape::point ? power(reach[0]) : statistics.pair_volume;
  pair_size = std::pow(statistics.pair_volume, 1.0 / D) / 2;
  pairs = shape == Shape::sphere ? sphere_pairs(ball)
                                 : bodies / 2 * others(std::pow(std::max(ball * volume, 1e-300), 1.0 / D));
  // Doubles that are not tested in float32 first take twice the bytes and half the lanes. For points and spheres that
  // is less than twice the time, because candidates in the band are tested again.
  const double most = *std::max_element(reach.begin(), reach.end());
  if (sizeof(T) == 8) {
    const NearFrame<D> frame = near_frame(points, box, most);
    const bool near = shape != Shape::box && frame.useful();
    width = near ? 1 : shape == Shape::box ? 2 : 1.5;
    if (near) doubts = doubts_in(frame);
  }
  bulk = length;
  if (crowd.cut && crowd.outside <= most_strays(points.size)) {
    for (std::size_t a = 0; a < D; ++a) bulk[a] = std::min(length[a], crowd.high[a] - crowd.low[a]);
    clamped = bodies;
  }
  sorting = bodies * std::max(0.0, std::log2(bodies / cached_bodies));
  if (box.tilted) projected = bodies;
}

template Survey<2>::Survey(const BodyView<float, 2>&, const Box<float, 2>&, float, double);
template Survey<3>::Survey(const BodyView<float, 3>&, const Box<float, 3>&, float, double);
template Survey<2>::Survey(const BodyView<double, 2>&, const Box<double, 2>&, double, double);
template Survey<3>::Survey(const BodyView<double, 3>&, const Box<double, 3>&, double, double);

}  // namespace vicinal
