// orient2d, incircle and compare_distance: signs that are correct for all finite doubles.
//
// Three stages, each used only if the one before cannot decide:
//   1. a floating-point filter: the plain formula and a bound of its rounding error;
//   2. exact arithmetic on numbers of ordinary size: 256-bit integers when the coordinates span few bits (grids, ties:
//      the common doubtful case), floating-point expansions otherwise;
//   3. when exponents are extreme, the coordinates are multiplied by a power of two into the ordinary range, and if
//      even that cannot hold them all, integers as wide as the whole range of double decide.
//
// Ordinary ("tame") coordinates are 0 or in [2^-200, 2^201). They are multiples of 2^-252, so are their differences,
// and rounding keeps multiples; a product of four is a multiple of 2^-1008 and below 2^(4*202+4). So in stages 1 and 2
// no value overflows or is subnormal, and the treatment of subnormal numbers by the processor does not matter.
//
// Contraction to fused multiply-add does no harm: in the filters it removes a rounding error from the bound, and
// exact.hpp is not affected by it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "geometry/exact.hpp"

namespace vicinal {

struct Point2 {
  double x, y;
  friend bool operator==(const Point2&, const Point2&) = default;
};

// By x, then by y.
inline bool lexicographic_less(Point2 a, Point2 b) { return a.x < b.x || (a.x == b.x && a.y < b.y); }

namespace exact {

inline constexpr int tame_exponent = 200;

// Read from the bits, so that a subnormal number is seen even where the processor treats it as zero.
inline bool is_tame(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) << 1U;
  const std::uint64_t biased = bits >> 53U;
  return bits == 0 || (biased >= 1023 - tame_exponent && biased <= 1023 + tame_exponent);
}
inline bool is_tame(Point2 p) { return is_tame(p.x) && is_tame(p.y); }

// The largest power of two that divides all coordinates, and the smallest one that exceeds them all.
struct BitSpan {
  int unit = std::numeric_limits<int>::max();
  int top = std::numeric_limits<int>::min();

  template <std::size_t N>
  explicit BitSpan(const std::array<Point2, N>& points) {
    for (const Point2 p : points)
      for (const double x : {p.x, p.y}) {
        const Parts parts(x);
        if (parts.mantissa == 0) continue;
        unit = std::min(unit, parts.exponent);
        top = std::max(top, parts.top());
      }
  }
  [[nodiscard]] bool all_zero() const { return unit > top; }
};

// ---- The determinants, once, for every kind of number ---------------------------------------------------------------

// Integers of 64 L bits may have 64 L - 3 = s: differences then are below 2^(s+1), lifts and cross products below
// 2^(2s+3) < 2^(128 L - 1), and the sum of three products of two of those below 3 * 2^(4s+6) < 2^(256 L - 1).
template <std::size_t L>
inline constexpr int most_bits = static_cast<int>(64 * L) - 3;

struct SmallDifference {
  double scale;  // 2^-unit, so that the products are integers below 2^61
  Integer<1> operator()(double a, double b) const {
    const auto difference = static_cast<std::int64_t>(a * scale) - static_cast<std::int64_t>(b * scale);
    return {{static_cast<std::uint64_t>(difference)}};
  }
};

inline constexpr std::size_t whole_limbs = 33;
static_assert(most_bits<whole_limbs> >= 1024 + 1074, "the whole range of double");
struct WholeDifference {
  int unit;
  Integer<whole_limbs> operator()(double a, double b) const {
    return to_integer<whole_limbs>(a, unit) - to_integer<whole_limbs>(b, unit);
  }
};

struct ExpansionDifference {
  Expansion<2> operator()(double a, double b) const {
    Expansion<2> d;
    d.add(a);
    d.add(-b);
    return d;
  }
};

struct Orient2d {
  template <class Difference>
  double operator()(Difference diff, const std::array<Point2, 3>& p) const {
    const auto [a, b, c] = p;
    return (diff(a.x, c.x) * diff(b.y, c.y) - diff(a.y, c.y) * diff(b.x, c.x)).sign();
  }
};

struct Incircle {
  template <class Difference>
  double operator()(Difference diff, const std::array<Point2, 4>& p) const {
    const auto [a, b, c, d] = p;
    const auto ax = diff(a.x, d.x), ay = diff(a.y, d.y);
    const auto bx = diff(b.x, d.x), by = diff(b.y, d.y);
    const auto cx = diff(c.x, d.x), cy = diff(c.y, d.y);
    return ((ax * ax + ay * ay) * (bx * cy - by * cx) + (bx * bx + by * by) * (cx * ay - cy * ax) +
            (cx * cx + cy * cy) * (ax * by - ay * bx))
        .sign();
  }
};

struct CompareDistance {
  template <class Difference>
  double operator()(Difference diff, const std::array<Point2, 3>& p) const {
    const auto [o, a, b] = p;
    const auto ax = diff(a.x, o.x), ay = diff(a.y, o.y);
    const auto bx = diff(b.x, o.x), by = diff(b.y, o.y);
    return ((ax * ax + ay * ay) - (bx * bx + by * by)).sign();
  }
};

// Stage 2, for tame points.
template <class Determinant, std::size_t N>
[[gnu::noinline, gnu::cold]] double decide(Determinant det, const std::array<Point2, N>& points) {
  const BitSpan span(points);
  if (span.all_zero()) return 0;
  if (span.top - span.unit <= most_bits<1>) return det(SmallDifference{std::ldexp(1.0, -span.unit)}, points);
  return det(ExpansionDifference{}, points);
}

// Stage 3, for any finite points. `tame` is the predicate for tame ones.
template <class Determinant, std::size_t N, class Tame>
[[gnu::noinline, gnu::cold]] double decide_wild(Determinant det, std::array<Point2, N> points, Tame tame) {
  const BitSpan span(points);
  if (span.all_zero()) return 0;
  if (span.top - span.unit <= 2 * tame_exponent) {
    // Every coordinate that is not 0 is at least 2^unit, and lands in [2^-200, 2^200): ldexp is exact.
    for (Point2& p : points) p = {std::ldexp(p.x, tame_exponent - span.top), std::ldexp(p.y, tame_exponent - span.top)};
    return tame(points);
  }
  return det(WholeDifference{span.unit}, points);
}

}  // namespace exact

// ---- Predicates for tame points: filter, then stage 2 ---------------------------------------------------------------
//
// u = 2^-53; every operation gives the exact result times (1 + e), |e| <= u. Let D be the determinant, P the sum of the
// absolute values of its terms (products of differences), D' and P' what is computed. If a term passes through k
// roundings on its way into D', then |D' - D| <= ((1+u)^k - 1) P, and P <= P' / (1-u)^k, because P' sees no more
// roundings than D' and only adds positive numbers. So D' has the sign of D if |D'| > b P' for any
// b >= ((1+u)^k - 1) / (1-u)^k = k u + O(k^2 u^2); computing b P' costs one more factor (1-u). The bounds below leave
// a whole u or more for the terms of second order, which are below 2 k^2 u^2 < 2^-45 u.

inline constexpr double unit_roundoff = 0x1p-53;

// Positive: a, b, c turn left; negative: right; 0: on a line. k = 4: difference, difference, product, sum.
inline double orient2d_tame(Point2 a, Point2 b, Point2 c) {
  const double left = (a.x - c.x) * (b.y - c.y);
  const double right = (a.y - c.y) * (b.x - c.x);
  const double det = left - right;
  if (std::abs(det) > 5 * unit_roundoff * (std::abs(left) + std::abs(right))) [[likely]]
    return det;
  return exact::decide(exact::Orient2d{}, std::array{a, b, c});
}

// Positive: d is inside the circle through a, b, c (which turn left). k = 11: a lift takes 4 (difference twice,
// product, sum), a cross product 4, their product 1, the sums 2.
inline double incircle_tame(Point2 a, Point2 b, Point2 c, Point2 d) {
  const double ax = a.x - d.x, ay = a.y - d.y;
  const double bx = b.x - d.x, by = b.y - d.y;
  const double cx = c.x - d.x, cy = c.y - d.y;
  const double bc = bx * cy, cb = by * cx;
  const double ca = cx * ay, ac = cy * ax;
  const double ab = ax * by, ba = ay * bx;
  const double a_lift = ax * ax + ay * ay;
  const double b_lift = bx * bx + by * by;
  const double c_lift = cx * cx + cy * cy;
  const double det = a_lift * (bc - cb) + b_lift * (ca - ac) + c_lift * (ab - ba);
  const double sum = a_lift * (std::abs(bc) + std::abs(cb)) + b_lift * (std::abs(ca) + std::abs(ac)) +
                     c_lift * (std::abs(ab) + std::abs(ba));
  if (std::abs(det) > 12 * unit_roundoff * sum) [[likely]]
    return det;
  return exact::decide(exact::Incircle{}, std::array{a, b, c, d});
}

// Negative: a is nearer to o than b is; 0: equally near. k = 5: difference twice, product, two sums.
inline double compare_distance_tame(Point2 o, Point2 a, Point2 b) {
  const double ax = a.x - o.x, ay = a.y - o.y;
  const double bx = b.x - o.x, by = b.y - o.y;
  const double near = ax * ax + ay * ay;
  const double far = bx * bx + by * by;
  const double det = near - far;
  if (std::abs(det) > 6 * unit_roundoff * (near + far)) [[likely]]
    return det;
  return exact::decide(exact::CompareDistance{}, std::array{o, a, b});
}

// ---- Predicates for any finite points -------------------------------------------------------------------------------

inline double orient2d(Point2 a, Point2 b, Point2 c) {
  if (exact::is_tame(a) && exact::is_tame(b) && exact::is_tame(c)) [[likely]]
    return orient2d_tame(a, b, c);
  return exact::decide_wild(exact::Orient2d{}, std::array{a, b, c},
                            [](const auto& p) { return orient2d_tame(p[0], p[1], p[2]); });
}
inline double incircle(Point2 a, Point2 b, Point2 c, Point2 d) {
  if (exact::is_tame(a) && exact::is_tame(b) && exact::is_tame(c) && exact::is_tame(d)) [[likely]]
    return incircle_tame(a, b, c, d);
  return exact::decide_wild(exact::Incircle{}, std::array{a, b, c, d},
                            [](const auto& p) { return incircle_tame(p[0], p[1], p[2], p[3]); });
}
inline double compare_distance(Point2 o, Point2 a, Point2 b) {
  if (exact::is_tame(o) && exact::is_tame(a) && exact::is_tame(b)) [[likely]]
    return compare_distance_tame(o, a, b);
  return exact::decide_wild(exact::CompareDistance{}, std::array{o, a, b},
                            [](const auto& p) { return compare_distance_tame(p[0], p[1], p[2]); });
}

}  // namespace vicinal
