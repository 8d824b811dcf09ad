// The space of the bodies: open, or periodic along some axes.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace vicinal {

template <class V, int D>
using Matrix = std::array<std::array<V, D>, D>;

// The edge vectors of a tilted cell, reduced (src/vicinal/cell.py): none can be made shorter by adding others to it, so
// the cell is nearly as compact as a cuboid, for all vectors that span the same lattice.
//
// Structures see a tilted cell in *lattice coordinates*: the distance of a point from the face of the cell along each
// axis, x . normal. There the cell is a cuboid whose edges are the distances of opposite faces, images are moved by
// whole edges, and because normals have length 1 two points are not farther apart along an axis than they are in space.
// So a structure that proposes every pair of points within reach of each other along each axis loses none. The exact
// test works in the coordinates of the user.
template <class T, int D>
struct Lattice {
  Matrix<T, D> vector{};        // as rows; 0 along open axes
  Matrix<double, D> inverse{};  // x . inverse[k]: position along vector k, in lengths of it; 0 along open axes
  Matrix<double, D> normal{};   // of length 1
  Matrix<std::int32_t, D> basis{}, back{};  // user's shift = shift * basis, shift = user's shift * back
};

// The inverse of a matrix of integers whose determinant is 1 or -1.
template <int D>
Matrix<std::int32_t, D> inverse_of(const Matrix<std::int32_t, D>& m) {
  const auto minor = [&](std::size_t row, std::size_t column) -> std::int64_t {
    if constexpr (D == 2) return m[1 - row][1 - column];
    // Cyclic indices give the sign, too.
    const std::size_t r = (row + 1) % 3, s = (row + 2) % 3, c = (column + 1) % 3, d = (column + 2) % 3;
    return std::int64_t{m[r][c]} * m[s][d] - std::int64_t{m[r][d]} * m[s][c];
  };
  const auto cofactor = [&](std::size_t row, std::size_t column) {
    return D == 2 && (row + column) % 2 == 1 ? -minor(row, column) : minor(row, column);
  };
  std::int64_t determinant = 0;
  for (std::size_t k = 0; k < D; ++k) determinant += m[0][k] * cofactor(0, k);
  Matrix<std::int32_t, D> result{};
  for (std::size_t i = 0; i < D; ++i)
    for (std::size_t k = 0; k < D; ++k) result[k][i] = static_cast<std::int32_t>(cofactor(i, k) * determinant);
  return result;
}

// A period along every axis; 0 marks an open axis. Of a tilted cell, `edge` is the distance of opposite faces.
template <class T, int D>
struct Box {
  std::array<T, D> edge{};
  bool tilted = false;
  Lattice<T, D> lattice{};

  [[nodiscard]] bool periodic(int axis) const { return edge[static_cast<std::size_t>(axis)] > 0; }
  [[nodiscard]] bool periodic() const {
    for (const T e : edge)
      if (e > 0) return true;
    return false;
  }

  // ---- One axis of an orthogonal cell ----

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

  // ---- Any cell ----

  using Position = std::array<T, D>;
  using Integers = std::array<std::int32_t, D>;

  // The image inside the cell of a position, D numbers, by the plain expression of the definition. In a tilted cell it
  // may be outside by a rounding error, which `lattice_slack` bounds.
  [[nodiscard]] Position wrap(const T* x) const {
    Position w;
    if (tilted) {
      Integers counts{};
      for (std::size_t a = 0; a < D; ++a) w[a] = x[a];
      wrap_tilted(w, counts);
    } else {
      for (std::size_t a = 0; a < D; ++a) w[a] = wrap(x[a], static_cast<int>(a));
    }
    return w;
  }
  // The same in a tilted cell of n positions, one after the other. `counts`, unless null, gets their `wraps`.
  void wrap_all(const T* from, std::size_t n, T* to, std::int32_t* counts) const;
  // The number of vectors that wrapping subtracted, along each of them.
  [[nodiscard]] Integers wraps(const T* x) const {
    Integers counts{};
    if (tilted) {
      Position w;
      for (std::size_t a = 0; a < D; ++a) w[a] = x[a];
      wrap_tilted(w, counts);
    } else {
      for (std::size_t a = 0; a < D; ++a) counts[a] = wraps(x[a], static_cast<int>(a));
    }
    return counts;
  }
  // How far an image is moved: the sum of shift[k] * vector k, in the order of the vectors.
  template <class Shift>
  [[nodiscard]] Position image(const Shift& shift) const {
    Position moved{};
    for (std::size_t a = 0; a < D; ++a) {
      if (!tilted) {
        moved[a] = static_cast<T>(shift[a]) * edge[a];
        continue;
      }
      for (std::size_t k = 0; k < D; ++k) {
        const T step = static_cast<T>(shift[k]) * lattice.vector[k][a];
        moved[a] = k == 0 ? step : moved[a] + step;
      }
    }
    return moved;
  }
  // A shift in units of the vectors that the user gave, and back.
  [[nodiscard]] Integers given(const Integers& shift) const { return tilted ? product(shift, lattice.basis) : shift; }
  [[nodiscard]] Integers reduced(const Integers& shift) const { return tilted ? product(shift, lattice.back) : shift; }
  // Whether of two opposite images this one counts: its first entry that is not 0, in units of the user, is positive.
  [[nodiscard]] bool up(const Integers& shift) const {
    for (const std::int32_t s : given(shift))
      if (s != 0) return s > 0;
    return false;
  }
  // The whole vectors to subtract from a difference of positions to get the shortest one. Correct for differences whose
  // shortest image is below half of every `edge`.
  [[nodiscard]] Integers nearest(const Position& difference) const {
    Integers whole{};
    for (std::size_t k = 0; k < D; ++k)
      if (edge[k] > 0) whole[k] = static_cast<std::int32_t>(std::nearbyint(fraction(difference, k)));
    return whole;
  }
  // The lattice coordinate of a position.
  [[nodiscard]] double along(const Position& x, int axis) const {
    const auto k = static_cast<std::size_t>(axis);
    if (!tilted) return static_cast<double>(x[k]);
    double sum = 0;
    for (std::size_t a = 0; a < D; ++a) sum += static_cast<double>(x[a]) * lattice.normal[k][a];
    return sum;
  }
  // The length of a vector of a tilted cell.
  [[nodiscard]] double length(std::size_t k) const {
    double sum = 0;
    for (const T x : lattice.vector[k]) sum = std::hypot(sum, static_cast<double>(x));
    return sum;
  }
  // A coordinate along a periodic axis, in edges.
  [[nodiscard]] double fraction(const Position& x, std::size_t k) const {
    if (!tilted) return static_cast<double>(x[k]) / static_cast<double>(edge[k]);
    double sum = 0;
    for (std::size_t a = 0; a < D; ++a) {
      const double step = static_cast<double>(x[a]) * lattice.inverse[k][a];
      sum = a == 0 ? step : sum + step;
    }
    return sum;
  }

 private:
  void wrap_tilted(Position& x, Integers& counts) const;
  // Entries of `back` and products may need more than 32 bits, which unsigned numbers drop; results fit 32 bits
  // (check_wraps and check_images in src/vicinal/_check.py), and are right modulo 2^32.
  static Integers product(const Integers& shift, const Matrix<std::int32_t, D>& matrix) {
    Integers sum{};
    for (std::size_t a = 0; a < D; ++a) {
      std::uint32_t total = 0;
      for (std::size_t k = 0; k < D; ++k)
        total += static_cast<std::uint32_t>(shift[k]) * static_cast<std::uint32_t>(matrix[k][a]);
      sum[a] = static_cast<std::int32_t>(total);
    }
    return sum;
  }
};

// Bounds how much farther apart than `reach` along an axis the lattice coordinates of a pair can be, because of
// rounding: positions and images round relative to their coordinates in space, which may be far longer than the edge of
// the cell along this axis.
//
// With X a bound of the coordinates of wrapped bodies and of images, each times the component of the normal and summed:
// wrapping leaves a body at most 8 eps X outside (rounding of the fraction, of the product of wraps and vectors, of the
// difference; all in T or better). (xj - xi) + image rounds by at most 2 eps X + 4 eps X, the lattice coordinates of
// both bodies by 2 * 4 eps X, and `edge` by eps X per image. `bound` bounds the coordinates along open axes.
template <class T, int D>
double lattice_slack(const Box<T, D>& box, double reach, const std::type_identity_t<std::array<double, D>>& bound,
                     std::size_t axis) {
  double sum = 0;
  for (std::size_t a = 0; a < D; ++a) {
    double most = 0;
    for (std::size_t k = 0; k < D; ++k) {
      const auto edge = static_cast<double>(box.edge[k]);
      most += edge > 0 ? (std::floor(reach / edge) + 3) * std::abs(static_cast<double>(box.lattice.vector[k][a]))
                       : 2 * (bound[k] + reach) * std::abs(box.lattice.normal[k][a]);
    }
    sum += most * std::abs(box.lattice.normal[axis][a]);
  }
  return 32 * static_cast<double>(std::numeric_limits<T>::epsilon()) * sum;
}

// An upper bound of the true distance between two bodies that pass the exact test.
//
// The test accepts fl(fl(dx*dx) + …) <= fl(r*r), each rounded in T. Rounding to nearest loses at most a relative eps/2
// or, among denormals, half the smallest denormal; so d^2 <= r2 (1 + 4 eps) + 3 denorm_min, and the differences
// themselves were rounded once more. 16 eps covers the rounding of this very expression too.
template <class T>
double reach_of_square(T squared) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  constexpr double tiny = std::numeric_limits<T>::denorm_min();
  return std::sqrt(static_cast<double>(squared) + 3 * tiny) * (1 + 16 * eps);
}
template <class T>
double reach_of(T cutoff) {
  return reach_of_square<T>(cutoff * cutoff);
}

// On a periodic axis (wj - wi) + s*L rounds relative to L instead of to dx: up to |s|+1 edges, two roundings.
template <class T>
double periodic_reach(double reach, T edge) {
  const double images = std::floor(reach / static_cast<double>(edge)) + 2;
  return reach + images * static_cast<double>(edge) * 2 * std::numeric_limits<T>::epsilon();
}

}  // namespace vicinal
