#include "index/body_view.hpp"

#include <cmath>
#include <limits>

namespace vicinal {

template <class T, int D>
Reach<D> BodyView<T, D>::reach(T cutoff) const {
  Reach<D> r;
  if (shape == Shape::box) {
    // The lower corners of overlapping boxes are not farther apart than the longer edge, up to rounding of the
    // difference.
    constexpr double more = 1 + 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
    for (std::size_t a = 0; a < D; ++a) r.axis[a] = static_cast<double>(std::max(largest[a], largest_query[a])) * more;
    // A reach must be positive and have a finite inverse, but must not span many images. If all boxes have length 0
    // along an axis, any value is valid, and that of the other axes is used.
    constexpr double least = 1e-150;
    const double some = r.largest() > 0 ? r.largest() : 1;
    for (std::size_t a = 0; a < D; ++a) {
      const T period = box.tilted ? shortest_edge() : box.edge[a];
      const double most = period > 0 ? static_cast<double>(period) / 2 : some;
      if (r.axis[a] == 0) r.axis[a] = std::min(some, most);
      r.axis[a] = std::max(r.axis[a], period > 0 ? std::min(least, most) : least);
    }
    r.round = false;
    return box.tilted ? lattice_reach(r) : r;
  }
  const T larger = std::max(largest[0], largest_query[0]);
  r.axis.fill(reach_of(shape == Shape::point ? cutoff : widest ? larger : largest[0] + larger));
  return box.tilted ? lattice_reach(r) : r;
}

template <class T, int D>
T BodyView<T, D>::shortest_edge() const {
  T shortest = std::numeric_limits<T>::max();
  for (const T edge : box.edge)
    if (edge > 0) shortest = std::min(shortest, edge);
  return shortest;
}

template <class T, int D>
Reach<D> BodyView<T, D>::lattice_reach(const Reach<D>& space) const {
  Reach<D> r;
  r.round = false;
  std::array<double, D> bound{};
  for (std::size_t a = 0; a < D; ++a)
    bound[a] = std::max(std::abs(static_cast<double>(low[a])), std::abs(static_cast<double>(high[a])));
  for (std::size_t k = 0; k < D; ++k) {
    double reach = space.axis[0];
    if (shape == Shape::box) {
      reach = 0;
      for (std::size_t a = 0; a < D; ++a) reach += std::abs(box.lattice.normal[k][a]) * space.axis[a];
    }
    r.axis[k] = reach + lattice_slack(box, reach, bound, k);
  }
  return r;
}

template <class T, int D>
BodyView<T, D> in_box(const BodyView<T, D>& bodies, const Box<T, D>& box) {
  BodyView<T, D> view = bodies;
  view.box = box;
  if (!box.tilted) return view;
  for (std::size_t k = 0; k < D; ++k) {
    double low = 0;
    auto high = static_cast<double>(box.edge[k]);
    for (std::size_t a = 0; a < D && !(box.edge[k] > 0); ++a) {
      const double normal = box.lattice.normal[k][a];
      const double one = normal * static_cast<double>(bodies.low[a]);
      const double other = normal * static_cast<double>(bodies.high[a]);
      low += std::min(one, other);
      high += std::max(one, other);
    }
    view.low[k] = static_cast<T>(low);
    view.high[k] = static_cast<T>(high);
  }
  return view;
}

template struct BodyView<float, 2>;
template struct BodyView<float, 3>;
template struct BodyView<double, 2>;
template struct BodyView<double, 3>;
template BodyView<float, 2> in_box(const BodyView<float, 2>&, const Box<float, 2>&);
template BodyView<float, 3> in_box(const BodyView<float, 3>&, const Box<float, 3>&);
template BodyView<double, 2> in_box(const BodyView<double, 2>&, const Box<double, 2>&);
template BodyView<double, 3> in_box(const BodyView<double, 3>&, const Box<double, 3>&);

}  // namespace vicinal
