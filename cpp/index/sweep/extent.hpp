// The extent of a body along each axis: the extents of every pair that the exact test accepts overlap along every axis.
//
// Ends are computed in double and rounded to T. Rounding is monotone, so intervals that touch before it touch after it:
// only the rounding of the exact test itself has to be added.
//   - Points: a pair is not farther apart than reach_of(cutoff); each point covers half of that on either side.
//   - Spheres: reach_of(ri + rj) <= (ri + rj)(1 + 18 eps) + sqrt(3 denorm_min)(1 + 16 eps), divided between the two.
//   - Boxes: their corners are compared directly.
// On a periodic axis (wj - wi) + s*L is rounded relative to L; see periodic_reach.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "geometry/box.hpp"
#include "index/bodies.hpp"

namespace vicinal::sweep {

struct Interval {
  double low, high;
};

template <class T, int D>
class Extent {
 public:
  Extent() = default;
  Extent(const BodyView<T, D>& points, T cutoff, const Box<T, D>& box) : shape_(points.shape) {
    const Reach<D> reach = points.reach(cutoff);
    half_ = reach_of(cutoff) / 2;
    for (std::size_t a = 0; a < D; ++a)
      if (box.edge[a] > 0) {
        const auto edge = static_cast<double>(box.edge[a]);
        pad_[a] = (std::floor(reach.axis[a] / edge) + 2) * edge * 2 * eps;
      }
  }

  // `value(column)`: one of the numbers of the body, as the exact test uses it.
  template <class Value>
  [[nodiscard]] Interval operator()(Value&& value, int axis) const {
    const double pad = pad_[static_cast<std::size_t>(axis)];
    const auto x = static_cast<double>(value(axis));
    if (shape_ == Shape::box) return {x - pad, static_cast<double>(value(D + axis)) + pad};
    const double half = (shape_ == Shape::point ? half_ : of_radius(static_cast<double>(value(D)))) + pad;
    return {x - half, x + half};
  }

 private:
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  static double of_radius(double radius) {
    static const double least = std::sqrt(3 * static_cast<double>(std::numeric_limits<T>::denorm_min()));
    return radius * (1 + 32 * eps) + least;
  }

  Shape shape_ = Shape::point;
  double half_ = 0;
  std::array<double, D> pad_{};
};

}  // namespace vicinal::sweep
