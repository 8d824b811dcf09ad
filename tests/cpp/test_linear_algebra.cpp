// Small symmetric matrices of fluids: solutions, and bounds of eigenvalues.
#include <cmath>
#include <cstddef>

#include "check.hpp"
#include "sph/linear_algebra.hpp"

namespace {

using vicinal::sph::Symmetric;
using vicinal::sph::Vector;

template <int D>
Vector<D> times(const Symmetric<D>& m, const Vector<D>& x) {
  Vector<D> y{};
  std::size_t k = 0;
  for (std::size_t a = 0; a < D; ++a)
    for (std::size_t b = a; b < D; ++b, ++k) {
      y[a] += m[k] * x[b];
      if (b != a) y[b] += m[k] * x[a];
    }
  return y;
}

template <int D>
void solves(const Symmetric<D>& m, const Vector<D>& x) {
  const Vector<D> found = vicinal::sph::solve<D>(m, times<D>(m, x));
  for (std::size_t a = 0; a < D; ++a) check::that(std::abs(found[a] - x[a]) < 1e-12, "a solution");
}

const check::Register solutions("systems of two and three equations", [] {
  solves<2>({1.1, 0.3, 0.9}, {2.0, -3.0});
  solves<2>({0.25, -0.01, 1.0}, {-1.0, 5.0});
  solves<3>({1.1, 0.3, -0.2, 0.9, 0.15, 0.8}, {2.0, -3.0, 0.5});
  solves<3>({0.3, 0.02, 0.05, 1.2, -0.4, 0.7}, {-1.0, 5.0, 4.0});
});

const check::Register bounds("all eigenvalues exceed a bound, or one does not", [] {
  // Rotated by an angle whose sine is 0.6: eigenvalues 0.5 and 1, with 2 along the third axis.
  const double c = 0.8, s = 0.6;
  const double xx = 0.5 * c * c + s * s, xy = (0.5 - 1.0) * c * s, yy = 0.5 * s * s + c * c;
  check::that(vicinal::sph::exceeds<2>({xx, xy, yy}, 0.499), "0.5 and 1 exceed 0.499");
  check::that(!vicinal::sph::exceeds<2>({xx, xy, yy}, 0.501), "0.5 does not exceed 0.501");
  check::that(!vicinal::sph::exceeds<2>({xx, xy, yy}, 1.5),
              "neither exceeds 1.5: a positive determinant is not enough");
  for (const double third : {0.4, 2.0}) {
    const double least = third < 0.5 ? third : 0.5;
    // The pair of axes that is rotated: x and y, x and z, y and z.
    const Symmetric<3> turned[] = {{xx, xy, 0, yy, 0, third}, {xx, 0, xy, third, 0, yy}, {third, 0, 0, xx, xy, yy}};
    for (const Symmetric<3>& m : turned) {
      check::that(vicinal::sph::exceeds<3>(m, least - 0.001), "all three exceed");
      check::that(!vicinal::sph::exceeds<3>(m, least + 0.001), "the least does not");
      check::that(!vicinal::sph::exceeds<3>(m, 0.7), "two of three may be below");
      check::that(!vicinal::sph::exceeds<3>(m, 3.0), "none exceeds");
    }
  }
});

}  // namespace
