// Wrapping and reach at the ends of the number range, where a mistake would lose or invent pairs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"
#include "geometry/box.hpp"

namespace {

using vicinal::Box;

template <class T>
void wraps_into_the_box(T edge) {
  const Box<T, 2> box{{edge, 0}};
  constexpr T up = std::numeric_limits<T>::infinity();
  for (const T whole : {T(0), T(1), T(-1), T(7), T(-7), T(1e4), T(-1e4), T(1e6), T(-1e6)})
    for (const T part : {T(0), T(0.25), T(0.5), T(0.999)})
      for (const int side : {-1, 0, 1}) {
        T x = whole * edge + part * edge;
        if (side != 0) x = std::nextafter(x, static_cast<T>(side) * up);
        const T w = box.wrap(x, 0);
        check::that(w >= 0 && w < edge, "a wrapped coordinate is in [0, edge)");
        check::that(box.wrap(w, 0) == w, "a wrapped coordinate stays where it is");
        const double back = static_cast<double>(w) + static_cast<double>(box.wraps(x, 0)) * static_cast<double>(edge);
        const double most = 4 * std::numeric_limits<T>::epsilon() * (std::abs(static_cast<double>(x)) + edge);
        check::that(std::abs(back - static_cast<double>(x)) <= most, "the wraps lead back to the coordinate");
        check::that(box.wrap(x, 1) == x && box.wraps(x, 1) == 0, "nothing is wrapped along an open axis");
      }
}

const check::Register wraps("coordinates are wrapped into the box and counted", [] {
  for (const double edge : {1.0, 0.7, 1e-300, 1e300, 1 / 3.0}) wraps_into_the_box(edge);
  for (const float edge : {1.0F, 0.7F, 1e-30F, 1e30F, 1 / 3.0F}) wraps_into_the_box(edge);
});

const check::Register below_zero("a coordinate that rounds up to the edge goes to zero, one edge up", [] {
  const Box<double, 2> box{{0.7, 0}};
  check::that(box.wrap(-1e-30, 0) == 0, "never to the edge itself");
  check::equal(box.wraps(-1e-30, 0), 0, "edges taken off");
  check::that(box.wrap(0.7, 0) == 0, "the edge is zero");
  check::equal(box.wraps(0.7, 0), 1, "edges taken off");
  check::that(std::signbit(box.wrap(-0.0, 0)), "a zero keeps its sign");
});

template <class T>
void wraps_into_a_tilted_cell() {
  // Vectors (1, 0.25), (-0.375, 1.5); the inverse is that of the matrix.
  Box<T, 2> box;
  box.tilted = true;
  box.lattice.vector = {{{T(1), T(0.25)}, {T(-0.375), T(1.5)}}};
  const double determinant = 1.5 + 0.25 * 0.375;
  box.lattice.inverse = {{{1.5 / determinant, 0.375 / determinant}, {-0.25 / determinant, 1 / determinant}}};
  for (std::size_t k = 0; k < 2; ++k) {
    const double length = std::hypot(box.lattice.inverse[k][0], box.lattice.inverse[k][1]);
    box.edge[k] = static_cast<T>(1 / length);
    for (std::size_t a = 0; a < 2; ++a) box.lattice.normal[k][a] = box.lattice.inverse[k][a] / length;
  }
  box.lattice.basis = {{{1, 3}, {2, 7}}};
  box.lattice.back = vicinal::inverse_of<2>(box.lattice.basis);
  for (const T far : {T(0), T(1), T(-1), T(77), T(-1e4), T(1e5)})
    for (const T part : {T(0), T(0.3), T(-0.7)}) {
      const std::array<T, 2> x{far + part, part - far / 3};
      const auto w = box.wrap(x.data());
      const auto wraps = box.wraps(x.data());
      const auto moved = box.image(wraps);
      for (int k = 0; k < 2; ++k) {
        const double slack = vicinal::lattice_slack(box, 0.5, {}, static_cast<std::size_t>(k));
        const double at = box.along(w, k);
        check::that(at >= -slack && at <= static_cast<double>(box.edge[static_cast<std::size_t>(k)]) + slack,
                    "a wrapped position is in the cell up to the slack");
        const auto a = static_cast<std::size_t>(k);
        check::that(std::abs(w[a] + moved[a] - x[a]) <= 8 * std::numeric_limits<T>::epsilon() * (std::abs(far) + 2),
                    "the wraps lead back to the position");
      }
      check::that(box.reduced(box.given(wraps)) == wraps, "shifts of the user are those of the reduced vectors");
      const std::size_t n = 67;
      std::vector<T> many(2 * n), wrapped(2 * n);
      std::vector<std::int32_t> counts(2 * n);
      for (std::size_t k = 0; k < n; ++k) {
        many[2 * k] = k % 5 == 0 ? T(0.25) : x[0] + static_cast<T>(k);
        many[2 * k + 1] = k % 5 == 0 ? T(-0.0) : x[1];
      }
      box.wrap_all(many.data(), n, wrapped.data(), counts.data());
      for (std::size_t k = 0; k < n; ++k) {
        const auto one = box.wrap(many.data() + 2 * k);
        check::that(std::memcmp(one.data(), wrapped.data() + 2 * k, sizeof(one)) == 0, "many positions, the same bits");
        const auto count = box.wraps(many.data() + 2 * k);
        check::that(std::equal(count.begin(), count.end(), counts.data() + 2 * k), "and the same wraps");
      }
    }
}

const check::Register tilted("positions are wrapped into a tilted cell, and shifts converted", [] {
  wraps_into_a_tilted_cell<double>();
  wraps_into_a_tilted_cell<float>();
  const vicinal::Matrix<std::int32_t, 3> turn{{{1, 5, -2}, {0, 1, 4}, {0, 0, -1}}};
  const auto back = vicinal::inverse_of<3>(turn);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      std::int32_t sum = 0;
      for (std::size_t n = 0; n < 3; ++n) sum += turn[i][n] * back[n][k];
      check::equal(sum, i == k ? 1 : 0, "the inverse of integers is exact");
    }
});

template <class T>
void reach_covers_the_rounded_test(T cutoff) {
  // The largest dx with fl(dx * dx) <= fl(cutoff * cutoff), found by bisection.
  const T squared = cutoff * cutoff;
  T inside = 0, outside = 4 * cutoff + 4 * std::sqrt(std::numeric_limits<T>::denorm_min());
  while (std::nextafter(inside, outside) < outside) {
    const T middle = inside + (outside - inside) / 2;
    (middle * middle <= squared ? inside : outside) = middle;
  }
  check::that(vicinal::reach_of(cutoff) >= static_cast<double>(inside), "the reach covers every accepted pair");
  if (squared > std::numeric_limits<T>::min())
    check::that(vicinal::reach_of(cutoff) <= 1.0001 * static_cast<double>(cutoff), "and not much more");
}

const check::Register reach("reach covers every separation that passes the rounded test", [] {
  for (const double cutoff : {1.0, 0.1, 1e150, 1e-150, 1e-161, 1e-162, 1e-170, 5e-324})
    reach_covers_the_rounded_test(cutoff);
  for (const float cutoff : {1.0F, 0.1F, 1e18F, 1e-18F, 5e-22F, 1e-23F, 1e-25F, 1e-45F})
    reach_covers_the_rounded_test(cutoff);
});

const check::Register periodic("a periodic reach is longer than the reach, by rounding only", [] {
  for (const double edge : {1e-3, 0.7, 1.0, 1e6}) {
    const double longer = vicinal::periodic_reach(0.5, edge);
    check::that(longer > 0.5, "longer");
    check::that(longer < 0.5 + (edge + 1) * 1e-14, "by rounding only");
  }
});

}  // namespace
