// Bodies as the user passes them, and the reach of pairs of them.
#pragma once

#include <algorithm>
#include <array>
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

// Bodies as passed by the user, row by row, with the bounds of their positions before wrapping. The position of a box
// is its lower corner.
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
  bool same_sizes = false;           // in an update: no body has changed size
  std::array<T, D> period{};         // of the box, 0 along open axes

  [[nodiscard]] T at(std::size_t point, int axis) const { return data[point * D + static_cast<std::size_t>(axis)]; }
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
        const double most = period[a] > 0 ? static_cast<double>(period[a]) / 2 : some;
        if (r.axis[a] == 0) r.axis[a] = std::min(some, most);
        r.axis[a] = std::max(r.axis[a], period[a] > 0 ? std::min(least, most) : least);
      }
      r.round = false;
      return r;
    }
    const T sum = shape == Shape::point ? cutoff : largest[0] + std::max(largest[0], largest_query[0]);
    r.axis.fill(reach_of(sum));
    return r;
  }
};

}  // namespace vicinal
