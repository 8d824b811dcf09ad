// Symmetric matrices of two or three rows.
#pragma once

#include <array>
#include <cstddef>

#include "sph/grid.hpp"

namespace vicinal::sph {

template <int D>
using Symmetric = std::array<std::array<double, D>, D>;

// From its upper triangle, row by row.
template <int D, class T>
[[gnu::always_inline]] inline Symmetric<D> symmetric(const T* upper) {
  Symmetric<D> m;
  for (std::size_t a = 0; a < D; ++a)
    for (std::size_t b = a; b < D; ++b) m[a][b] = m[b][a] = *upper++;
  return m;
}

// Whether all eigenvalues are larger than a number: all pivots of the matrix less that number are positive.
template <int D>
[[gnu::always_inline]] inline bool exceeds(Symmetric<D> m, double bound) {
  for (std::size_t a = 0; a < D; ++a) m[a][a] -= bound;
  for (std::size_t k = 0; k < D; ++k) {
    if (!(m[k][k] > 0)) return false;
    if (k + 1 == D) break;
    const double per_pivot = 1 / m[k][k];
    for (std::size_t a = k + 1; a < D; ++a) {
      const double factor = m[a][k] * per_pivot;
      for (std::size_t b = k + 1; b < D; ++b) m[a][b] -= factor * m[k][b];
    }
  }
  return true;
}

// The solution of m x = y for a positive definite matrix.
template <int D>
[[gnu::always_inline]] inline Vector<D> solve(Symmetric<D> m, Vector<D> y) {
  Vector<D> per_pivot;
  for (std::size_t k = 0; k < D; ++k) {
    per_pivot[k] = 1 / m[k][k];
    for (std::size_t a = k + 1; a < D; ++a) {
      const double factor = m[a][k] * per_pivot[k];
      for (std::size_t b = k + 1; b < D; ++b) m[a][b] -= factor * m[k][b];
      y[a] -= factor * y[k];
    }
  }
  for (std::size_t k = D; k-- > 0;) {
    for (std::size_t b = k + 1; b < D; ++b) y[k] -= m[k][b] * y[b];
    y[k] *= per_pivot[k];
  }
  return y;
}

}  // namespace vicinal::sph
