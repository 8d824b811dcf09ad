// Arithmetic without rounding error: expansions, wide integers and the stages of the predicates behind the filters.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "check.hpp"
#include "geometry/exact.hpp"
#include "geometry/predicates.hpp"

namespace {

using namespace vicinal;
using namespace vicinal::exact;
__extension__ using Int128 = __int128;

constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

int sign(double x) { return (x > 0) - (x < 0); }

// Doubles that are integers below 2^53, so that __int128 holds sums and products.
double integer(std::mt19937_64& rng) {
  const auto bits = static_cast<int>(rng() % 54);
  const auto value = static_cast<double>(rng() >> (63 - bits));
  return rng() % 2 == 0 ? std::min(value, 0x1p53) : -std::min(value, 0x1p53);
}

const check::Register errors("the rounding errors of sums and products are exact", [] {
  std::mt19937_64 rng(1);
  for (int k = 0; k < 20000; ++k) {
    const double a = integer(rng), b = integer(rng);
    const auto exact_a = static_cast<Int128>(a), exact_b = static_cast<Int128>(b);
    const Two sum = two_sum(a, b);
    check::that(static_cast<Int128>(sum.high) + static_cast<Int128>(sum.low) == exact_a + exact_b, "a sum");
    const Two product = two_product(a, b);
    check::that(static_cast<Int128>(product.high) + static_cast<Int128>(product.low) == exact_a * exact_b, "a product");
  }
});

const check::Register expansions("an expansion keeps every bit, for any order of the summands", [] {
  const std::array<double, 6> parts{1e300, 1.0, -1e300, 1e-300, -1.0, -1e-300};
  std::array<std::size_t, 6> order{0, 1, 2, 3, 4, 5};
  do {
    Expansion<8> sum;
    for (const std::size_t k : order) sum.add(parts[k]);
    check::equal(sign(sum.sign()), 0, "the sign of a sum that cancels");
    sum.add(smallest);
    check::equal(sign(sum.sign()), 1, "the sign of the rest");
  } while (std::next_permutation(order.begin(), order.end()));
});

const check::Register products("the sign of a product of expansions depends on the smallest part", [] {
  Expansion<2> a, b;
  a.add(1);
  a.add(0x1p-60);
  b.add(1);
  b.add(-0x1p-60);
  Expansion<2> one;
  one.add(1);
  // (1 + e)(1 - e) = 1 - e², and e² = 2^-120.
  check::equal(sign((a * b - one * one).sign()), -1, "the sign of -2^-120");
  Expansion<2> square;
  square.add(0x1p-60);
  check::equal(sign((a * b - one * one + square * square).sign()), 0, "the sign after adding 2^-120");
});

template <std::size_t L>
Integer<L> wide(Int128 value) {
  Integer<L> result;
  for (std::size_t k = 0; k < L; ++k)
    result.limb[k] = k < 2 ? static_cast<std::uint64_t>(value >> (64 * k)) : (value < 0 ? ~std::uint64_t{0} : 0);
  return result;
}

const check::Register integers("wide integers add, subtract and multiply as narrow ones do", [] {
  std::mt19937_64 rng(2);
  for (int k = 0; k < 20000; ++k) {
    const auto a = static_cast<std::int64_t>(rng()) >> (rng() % 62 + 1);
    const auto b = static_cast<std::int64_t>(rng()) >> (rng() % 62 + 1);
    const auto x = wide<2>(a), y = wide<2>(b);
    check::that((x + y).limb == wide<2>(static_cast<Int128>(a) + b).limb, "a sum");
    check::that((x - y).limb == wide<2>(static_cast<Int128>(a) - b).limb, "a difference");
    check::that((x * y).limb == wide<4>(static_cast<Int128>(a) * b).limb, "a product");
    check::equal(sign((x - y).sign()), (a > b) - (a < b), "the sign of a difference");
  }
  const Integer<2> most = wide<2>(static_cast<Int128>(std::numeric_limits<std::int64_t>::min()));
  check::that(!(most * most).negative(), "the square of the least number is positive");
});

const check::Register halves("multiplying two limbs gives both halves", [] {
  constexpr std::uint64_t all = ~std::uint64_t{0};
  const Wide64 product = multiply(all, all);
  check::that(product.high == all - 1 && product.low == 1, "(2^64 - 1)² = 2^128 - 2^65 + 1");
});

const check::Register taken_apart("every double is its mantissa times a power of two", [] {
  for (const double x : {1.0, -3.5, 0.1, largest, -largest, smallest, -smallest, 3 * smallest, 0x1p-1022, 0x1p1023}) {
    const Parts parts(x);
    check::that(parts.mantissa % 2 == 1, "the mantissa is odd");
    const double again = std::ldexp(static_cast<double>(parts.mantissa), parts.exponent);
    check::that((parts.negative ? -again : again) == x, "put together again");
  }
  check::equal(Parts(-0.0).mantissa, std::uint64_t{0}, "the mantissa of zero");
});

const check::Register whole_range("integers as wide as the range of double hold its ends", [] {
  const WholeDifference difference{-1074};
  check::equal(sign(difference(largest, largest).sign()), 0, "largest - largest");
  check::equal(sign(difference(largest, -largest).sign()), 1, "largest + largest");
  check::equal(sign(difference(smallest, largest).sign()), -1, "smallest - largest");
  check::equal(sign((difference(largest, 0) - (difference(largest, smallest) + difference(smallest, 0))).sign()), 0,
               "largest - ((largest - smallest) + smallest)");
});

const check::Register stages("all stages of a predicate agree", [] {
  std::mt19937_64 rng(3);
  const auto coordinate = [&] { return static_cast<double>(static_cast<std::int64_t>(rng() % 17) - 8); };
  for (int k = 0; k < 2000; ++k) {
    std::array<Point2, 4> p;
    for (Point2& q : p) q = {coordinate(), coordinate()};
    const int expected = sign(Incircle{}(SmallDifference{1.0}, p));
    check::equal(sign(Incircle{}(ExpansionDifference{}, p)), expected, "incircle by expansions");
    if (k < 100) check::equal(sign(Incircle{}(WholeDifference{0}, p)), expected, "incircle by wide integers");
    check::equal(sign(incircle(p[0], p[1], p[2], p[3])), expected, "incircle");
    for (const double scale : {0x1p-1060, 0x1p-900, 0x1p500, 0x1p1010}) {
      std::array<Point2, 4> q = p;
      for (Point2& point : q) point = {point.x * scale, point.y * scale};
      check::equal(sign(incircle(q[0], q[1], q[2], q[3])), expected, "incircle of points multiplied by a power of two");
      check::equal(sign(orient2d(q[0], q[1], q[2])),
                   sign(Orient2d{}(SmallDifference{1.0}, std::array{p[0], p[1], p[2]})),
                   "orient2d of points multiplied by a power of two");
      check::equal(sign(compare_distance(q[0], q[1], q[2])),
                   sign(CompareDistance{}(SmallDifference{1.0}, std::array{p[0], p[1], p[2]})),
                   "compare_distance of points multiplied by a power of two");
    }
  }
});

}  // namespace
