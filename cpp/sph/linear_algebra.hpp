// Symmetric matrices of two or three rows.
//
// By determinants instead of elimination: matrices here are well conditioned (eigenvalues are about 1), and a chain of
// divisions would take longer than all else that a particle needs.
#pragma once

#include <array>
#include <cstddef>

#include "sph/particle_grid.hpp"

namespace vicinal::sph {

// Its upper triangle, row by row.
template <int D>
using Symmetric = std::array<double, D == 2 ? 3 : 6>;

template <int D, class T>
[[gnu::always_inline]] inline Symmetric<D> symmetric(const T* upper) {
  Symmetric<D> m;
  for (std::size_t k = 0; k < m.size(); ++k) m[k] = upper[k];
  return m;
}

// Whether all eigenvalues are larger than a number: the leading minors of the matrix less that number are positive
// (Sylvester's criterion).
template <int D>
[[gnu::always_inline]] inline bool exceeds(const Symmetric<D>& m, double bound) {
  if constexpr (D == 2) {
    const double a = m[0] - bound, c = m[2] - bound;
    return a > 0 && a * c - m[1] * m[1] > 0;
  } else {
    const double a = m[0] - bound, d = m[3] - bound, f = m[5] - bound, b = m[1], c = m[2], e = m[4];
    const double minor = a * d - b * b;
    return a > 0 && minor > 0 && c * (b * e - c * d) - e * (a * e - b * c) + f * minor > 0;
  }
}

// The solution of m x = y for a positive definite matrix: its adjugate over its determinant.
template <int D>
[[gnu::always_inline]] inline Vector<D> solve(const Symmetric<D>& m, const Vector<D>& y) {
  if constexpr (D == 2) {
    const double a = m[0], b = m[1], c = m[2], per = 1 / (a * c - b * b);
    return {per * (c * y[0] - b * y[1]), per * (a * y[1] - b * y[0])};
  } else {
    const double a = m[0], b = m[1], c = m[2], d = m[3], e = m[4], f = m[5];
    const double aa = d * f - e * e, ab = c * e - b * f, ac = b * e - c * d;
    const double bb = a * f - c * c, bc = b * c - a * e, cc = a * d - b * b;
    const double per = 1 / (a * aa + b * ab + c * ac);
    return {per * (aa * y[0] + ab * y[1] + ac * y[2]), per * (ab * y[0] + bb * y[1] + bc * y[2]),
            per * (ac * y[0] + bc * y[1] + cc * y[2])};
  }
}

}  // namespace vicinal::sph
