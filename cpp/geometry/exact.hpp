// Numbers without rounding error: floating-point expansions, and integers of fixed width.
//
// Why an optimiser cannot break this code:
//   * it needs IEEE doubles, rounded to nearest after every operation; the checks below refuse anything else, and
//     rounds_to_nearest() checks the rounding mode of the processor;
//   * contraction to fused multiply-add is harmless: the one product that must be rounded is protected from fusion, and
//     all others are exact, so fused and plain give the same bits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error "exact predicates cannot be compiled with -ffast-math or parts of it"
#endif
static_assert(FLT_EVAL_METHOD == 0, "doubles must be rounded after every operation (x87: use -mfpmath=sse)");
static_assert(std::numeric_limits<double>::is_iec559 && std::numeric_limits<double>::digits == 53);

namespace vicinal::exact {

// Some libraries change the rounding mode and do not restore it. Checked once before work that would not terminate with
// wrong signs; `volatile` prevents constant folding.
inline bool rounds_to_nearest() {
  const volatile double one = 1, small = 0x1p-55;
  return one + small == one && one - small == one;
}

// ---- Expansions: sums of doubles that do not overlap, smallest first (Priest 1991; Shewchuk 1997, section 2) --------

struct Two {
  double high, low;  // the rounded result and its rounding error; their sum is exact
};

// Knuth: exact for any two doubles without overflow.
inline Two two_sum(double a, double b) {
  const double s = a + b;
  const double b_part = s - a;
  const double a_part = s - b_part;
  return {s, (a - a_part) + (b - b_part)};
}

// The leading 26 bits, rounded to nearest; the rest then has at most 26 bits, too (its sign is the 27th). Done on the
// integer representation, where a carry out of the mantissa raises the exponent just as rounding should.
inline double leading_half(double a) {
  const std::uint64_t rounded = std::bit_cast<std::uint64_t>(a) + (std::uint64_t{1} << 26U);
  return std::bit_cast<double>(rounded & ~((std::uint64_t{1} << 27U) - 1));
}

// Dekker: the four partial products have at most 52 bits and are exact, and so is each difference. `volatile`: a fused
// operation would use a * b unrounded, which does not match this rounding error.
inline Two two_product(double a, double b) {
  const volatile double rounded = a * b;
  const double p = rounded;
  const double ah = leading_half(a);
  const double bh = leading_half(b);
  const double al = a - ah;
  const double bl = b - bh;
  return {p, al * bl - (((p - ah * bh) - al * bh) - ah * bl)};
}

// An expansion of at most N components. Only `add` changes one: it carries b upwards through two_sum, which keeps
// the value exactly and the components free of overlap (Shewchuk, theorem 10); dropping zeros keeps both. Hence the
// last component is larger than the sum of all others, and its sign is the sign of the whole.
template <std::size_t N>
class Expansion {
 public:
  void add(double b) {
    std::size_t kept = 0;
    double carry = b;
    for (std::size_t k = 0; k < size_; ++k) {
      const Two sum = two_sum(carry, part_[k]);
      carry = sum.high;
      part_[kept] = sum.low;
      kept += sum.low != 0 ? 1U : 0U;
    }
    size_ = kept;
    if (carry != 0) part_[size_++] = carry;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] double operator[](std::size_t k) const { return part_[k]; }
  [[nodiscard]] double sign() const { return size_ == 0 ? 0 : part_[size_ - 1]; }

 private:
  std::array<double, N> part_;
  std::size_t size_ = 0;
};

template <std::size_t N, std::size_t M>
Expansion<N + M> operator+(const Expansion<N>& a, const Expansion<M>& b) {
  Expansion<N + M> sum;
  for (std::size_t k = 0; k < a.size(); ++k) sum.add(a[k]);
  for (std::size_t k = 0; k < b.size(); ++k) sum.add(b[k]);
  return sum;
}
template <std::size_t N, std::size_t M>
Expansion<N + M> operator-(const Expansion<N>& a, const Expansion<M>& b) {
  Expansion<N + M> sum;
  for (std::size_t k = 0; k < a.size(); ++k) sum.add(a[k]);
  for (std::size_t k = 0; k < b.size(); ++k) sum.add(-b[k]);
  return sum;
}
template <std::size_t N, std::size_t M>
Expansion<2 * N * M> operator*(const Expansion<N>& a, const Expansion<M>& b) {
  Expansion<2 * N * M> product;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) {
      const Two p = two_product(a[i], b[j]);
      product.add(p.low);
      product.add(p.high);
    }
  return product;
}

// ---- Integers of 64 * L bits, two's complement: exact as long as the result fits ------------------------------------

struct Wide64 {
  std::uint64_t high, low;
};
inline Wide64 multiply(std::uint64_t a, std::uint64_t b) {
#ifdef __SIZEOF_INT128__
  __extension__ using Double64 = unsigned __int128;
  const Double64 p = static_cast<Double64>(a) * b;
  return {static_cast<std::uint64_t>(p >> 64U), static_cast<std::uint64_t>(p)};
#else
  const std::uint64_t mask = 0xffffffffU;
  const std::uint64_t low = (a & mask) * (b & mask);
  const std::uint64_t mid = (a >> 32U) * (b & mask) + (low >> 32U);
  const std::uint64_t mid2 = (a & mask) * (b >> 32U) + (mid & mask);
  return {(a >> 32U) * (b >> 32U) + (mid >> 32U) + (mid2 >> 32U), (mid2 << 32U) | (low & mask)};
#endif
}

template <std::size_t L>
struct Integer {
  std::array<std::uint64_t, L> limb{};

  friend Integer operator+(const Integer& a, const Integer& b) {
    Integer sum;
    std::uint64_t carry = 0;
    for (std::size_t k = 0; k < L; ++k) {
      const std::uint64_t partial = a.limb[k] + carry;
      sum.limb[k] = partial + b.limb[k];
      carry = static_cast<std::uint64_t>(partial < carry) + static_cast<std::uint64_t>(sum.limb[k] < partial);
    }
    return sum;
  }
  friend Integer operator-(const Integer& a) {
    Integer negated;
    std::uint64_t carry = 1;
    for (std::size_t k = 0; k < L; ++k) {
      negated.limb[k] = ~a.limb[k] + carry;
      carry = static_cast<std::uint64_t>(negated.limb[k] < carry);
    }
    return negated;
  }
  friend Integer operator-(const Integer& a, const Integer& b) { return a + (-b); }
  [[nodiscard]] bool negative() const { return (limb[L - 1] >> 63U) != 0; }
  [[nodiscard]] double sign() const {
    if (negative()) return -1;
    return std::any_of(limb.begin(), limb.end(), [](std::uint64_t l) { return l != 0; }) ? 1 : 0;
  }
};

// The product has room for every case, so only sums can overflow.
template <std::size_t L>
Integer<2 * L> operator*(const Integer<L>& a, const Integer<L>& b) {
  Integer<2 * L> product;
  for (std::size_t i = 0; i < L; ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < L; ++j) {
      const Wide64 p = multiply(a.limb[i], b.limb[j]);
      const std::uint64_t low = p.low + carry;
      product.limb[i + j] += low;
      carry = p.high + static_cast<std::uint64_t>(low < carry) + static_cast<std::uint64_t>(product.limb[i + j] < low);
    }
    product.limb[i + L] = carry;
  }
  // So far a negative factor counted as itself + 2^(64 L): subtract the other factor from the upper half.
  const auto take_off = [&](const Integer<L>& other) {
    std::uint64_t borrow = 0;
    for (std::size_t k = 0; k < L; ++k) {
      const std::uint64_t old = product.limb[L + k];
      const std::uint64_t partial = old - borrow;
      product.limb[L + k] = partial - other.limb[k];
      borrow = static_cast<std::uint64_t>(old < borrow) + static_cast<std::uint64_t>(partial < other.limb[k]);
    }
  };
  if (a.negative()) take_off(b);
  if (b.negative()) take_off(a);
  return product;
}

// A finite double as (-1)^negative * mantissa * 2^exponent, the mantissa odd or 0.
struct Parts {
  std::uint64_t mantissa = 0;
  int exponent = 0;
  bool negative = false;

  explicit Parts(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto biased = static_cast<int>((bits >> 52U) & 0x7ffU);
    mantissa = bits & ((std::uint64_t{1} << 52U) - 1);
    if (biased != 0) mantissa |= std::uint64_t{1} << 52U;
    if (mantissa == 0) return;
    const int zeros = std::countr_zero(mantissa);
    mantissa >>= static_cast<unsigned>(zeros);
    exponent = std::max(biased, 1) - 1075 + zeros;
    negative = (bits >> 63U) != 0;
  }
  [[nodiscard]] int top() const { return exponent + static_cast<int>(std::bit_width(mantissa)); }
};

// x / 2^unit, where unit is at most the exponent of x.
template <std::size_t L>
Integer<L> to_integer(double x, int unit) {
  const Parts parts(x);
  Integer<L> result;
  if (parts.mantissa == 0) return result;
  const auto shift = static_cast<unsigned>(parts.exponent - unit);
  const std::size_t limb = shift / 64;
  result.limb[limb] = parts.mantissa << (shift % 64);
  if (shift % 64 != 0 && limb + 1 < L) result.limb[limb + 1] = parts.mantissa >> (64 - shift % 64);
  return parts.negative ? -result : result;
}

}  // namespace vicinal::exact
