// Bodies as the user passes them, and the reach of pairs of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

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

  [[nodiscard]] Reach<D> reach(T cutoff) const;

 private:
  [[nodiscard]] T shortest_edge() const;
  // The reach along the axes of a tilted cell: of points and spheres that in space, of boxes that of their corners.
  [[nodiscard]] Reach<D> lattice_reach(const Reach<D>& space) const;
};

// The bodies in a box. Bounds become those of lattice coordinates: as wide as the sums of the bounds along each axis.
template <class T, int D>
BodyView<T, D> in_box(const BodyView<T, D>& bodies, const Box<T, D>& box);

}  // namespace vicinal
