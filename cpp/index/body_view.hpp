// Bodies as the user passes them, and the reach of pairs of them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "geometry/box.hpp"
#include "geometry/shape.hpp"

namespace vicinal {

// The largest distance between the positions of a pair: along each axis and, if `round`, in total.
template <int D>
struct Reach {
  std::array<double, D> axis{};
  bool round = true;

  [[nodiscard]] double largest() const { return *std::max_element(axis.begin(), axis.end()); }
};

// Bodies as passed by the user, row by row, with the bounds of their positions (before wrapping; in a tilted cell of
// their lattice coordinates, see `in_box`). The position of a box is its lower corner.
template <class T, int D>
struct BodyView {
  const T* data = nullptr;
  std::size_t size = 0;
  std::array<T, D> low{};
  std::array<T, D> high{};
  Shape shape = Shape::point;
  const T* extra = nullptr;          // the radius of every sphere, or the upper corners of boxes
  std::array<T, D> largest{};        // the largest radius (on every axis), or the longest edge along each axis
  std::array<T, D> largest_query{};  // the same for queries
  bool widest = false;               // spheres are a pair within the larger radius, not within the sum of both
  bool same_sizes = false;           // in an update: no body has changed size
  Box<T, D> box{};                   // the space of the bodies

  [[nodiscard]] T at(std::size_t point, int axis) const { return data[point * D + static_cast<std::size_t>(axis)]; }
  // The coordinate along an open axis of the box, whose normal such an axis is in a tilted cell.
  [[nodiscard]] double along(std::size_t point, int axis) const {
    return box.tilted ? box.along(box.wrap(data + point * D), axis) : static_cast<double>(at(point, axis));
  }
  // Numbers in `extra` per body.
  [[nodiscard]] std::size_t extras() const { return static_cast<std::size_t>(columns_of(shape, D) - D); }
  [[nodiscard]] T radius(std::size_t point) const { return extra[point]; }
  [[nodiscard]] T upper(std::size_t point, int axis) const { return extra[point * D + static_cast<std::size_t>(axis)]; }

  [[nodiscard]] Reach<D> reach(T cutoff) const {
    Reach<D> r;
    if (shape == Shape::box) {
      // The lower corners of overlapping boxes are not farther apart than the longer edge, up to rounding of the
      // difference.
      constexpr double more = 1 + 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
      for (std::size_t a = 0; a < D; ++a)
        r.axis[a] = static_cast<double>(std::max(largest[a], largest_query[a])) * more;
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

 private:
  [[nodiscard]] T shortest_edge() const {
    T shortest = std::numeric_limits<T>::max();
    for (const T edge : box.edge)
      if (edge > 0) shortest = std::min(shortest, edge);
    return shortest;
  }
  // The reach along the axes of a tilted cell: of points and spheres that in space, of boxes that of their corners.
  [[nodiscard]] Reach<D> lattice_reach(const Reach<D>& space) const {
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
};

// The bodies in a box. Bounds become those of lattice coordinates: as wide as the sums of the bounds along each axis.
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

}  // namespace vicinal
