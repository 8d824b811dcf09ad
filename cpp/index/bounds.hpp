// The bounds of points and boxes, checked on the way.
#pragma once

#include <array>
#include <cstddef>

namespace vicinal {

// Smallest and largest coordinate per axis, and the first row with a NaN or an infinity (or the number of rows).
template <class T, int D>
struct Bounds {
  std::array<T, D> low{};
  std::array<T, D> high{};
  std::size_t bad = 0;
};

// The bounds of n points, given row by row.
template <class T, int D>
Bounds<T, D> bounds_of_points(const T* points, std::size_t n);
// The bounds of the lower corners of n boxes, and those of their edges.
template <class T, int D>
std::array<Bounds<T, D>, 2> bounds_of_boxes(const T* lower, const T* upper, std::size_t n);

}  // namespace vicinal
