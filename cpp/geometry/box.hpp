// The space of the bodies: open, or periodic along some axes.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace vicinal {

// A period along every axis; 0 marks an open axis.
template <class T, int D>
struct Box {
  std::array<T, D> edge{};

  [[nodiscard]] bool periodic(int axis) const { return edge[static_cast<std::size_t>(axis)] > 0; }
  [[nodiscard]] bool periodic() const {
    for (const T e : edge)
      if (e > 0) return true;
    return false;
  }

  // The image of x inside [0, edge), by the plain expression of the definition (docs/definition.md).
  [[nodiscard]] T wrap(T x, int axis) const {
    const T length = edge[static_cast<std::size_t>(axis)];
    if (!(length > 0) || (x >= 0 && x < length)) return x;  // floor(x / length) is 0: x stays, bit for bit
    T w = x - std::floor(x / length) * length;
    if (w < 0) w = w + length;
    if (w >= length) w = 0;
    return w;
  }

  // The number of edges that `wrap` subtracted: x - wraps * edge is the wrapped image.
  [[nodiscard]] std::int32_t wraps(T x, int axis) const {
    const T length = edge[static_cast<std::size_t>(axis)];
    if (!(length > 0) || (x >= 0 && x < length)) return 0;
    const T whole = std::floor(x / length);
    const T w = x - whole * length;
    auto count = static_cast<std::int32_t>(whole);
    if (w < 0) return count - 1 + (w + length >= length ? 1 : 0);
    return count + (w >= length ? 1 : 0);
  }
};

// An upper bound of the true distance between two bodies that pass the exact test.
//
// The test accepts fl(fl(dx*dx) + …) <= fl(r*r), each rounded in T. Rounding to nearest loses at most a relative eps/2
// or, among denormals, half the smallest denormal; so d^2 <= r2 (1 + 4 eps) + 3 denorm_min, and the differences
// themselves were rounded once more. 16 eps covers the rounding of this very expression too.
template <class T>
double reach_of(T cutoff) {
  const T squared = cutoff * cutoff;
  constexpr double eps = std::numeric_limits<T>::epsilon();
  constexpr double tiny = std::numeric_limits<T>::denorm_min();
  return std::sqrt(static_cast<double>(squared) + 3 * tiny) * (1 + 16 * eps);
}

// On a periodic axis (wj - wi) + s*L rounds relative to L instead of to dx: up to |s|+1 edges, two roundings.
template <class T>
double periodic_reach(double reach, T edge) {
  const double images = std::floor(reach / static_cast<double>(edge)) + 2;
  return reach + images * static_cast<double>(edge) * 2 * std::numeric_limits<T>::epsilon();
}

}  // namespace vicinal
