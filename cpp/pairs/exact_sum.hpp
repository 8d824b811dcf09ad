// Sums of doubles without rounding error: the order of the summands does not matter.
//
// A sum is a wide integer in units of 2^-1074, the smallest double, in digits of 32 bits that carry late (Kulisch). Up
// to sum_block numbers are added at once: adding and subtracting an anchor rounds each to a multiple of one unit, the
// sum of the multiples is exact in a double, and what is left of the numbers is split again in a smaller unit (Rump,
// Ogita & Oishi 2008). Numbers of similar size take two rounds.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "pairs/sum_kernels.hpp"

namespace vicinal {

class ExactSum {
 public:
  void add(const double* numbers, std::size_t n) {
    for (std::size_t from = 0; from < n; from += sum_block) add_block(numbers + from, std::min(sum_block, n - from));
  }
  void add(const ExactSum& other) {
    for (std::size_t k = other.first_; k < other.end_; ++k) digits_[k] += other.digits_[k];
    first_ = std::min(first_, other.first_);
    end_ = std::max(end_, other.end_);
    for (std::size_t k = 0; k < special_.size(); ++k) special_[k] += other.special_[k];
    additions_ += other.additions_;
    if (additions_ >= most_additions) carry();
  }
  // The sum as whole numbers, for sums of several processes, which are added or subtracted number by number. The last
  // three count the numbers that were not finite.
  using Digits = std::array<std::int64_t, 73>;
  [[nodiscard]] Digits digits() {
    carry();
    Digits out{};
    std::copy(digits_.begin(), digits_.end(), out.begin());
    std::copy(special_.begin(), special_.end(), out.begin() + size);
    return out;
  }
  void add(const Digits& digits) {
    for (std::size_t k = 0; k < size; ++k) digits_[k] += digits[k];
    first_ = 0;
    end_ = size;
    for (std::size_t k = 0; k < special_.size(); ++k) special_[k] += digits[size + k];
    carry();
  }
  void clear() {
    std::fill(digits_.begin() + static_cast<std::ptrdiff_t>(std::min(first_, end_)),
              digits_.begin() + static_cast<std::ptrdiff_t>(end_), 0);
    first_ = size;
    end_ = 0;
    special_ = {};
    additions_ = 0;
  }
  // The sum, rounded once to the nearest double, ties to even; as in IEEE arithmetic if a number was not finite.
  [[nodiscard]] double value() {
    const auto [above, below, no_number] = special_;
    if (no_number != 0 || (above != 0 && below != 0)) return std::numeric_limits<double>::quiet_NaN();
    if (above != 0) return std::numeric_limits<double>::infinity();
    if (below != 0) return -std::numeric_limits<double>::infinity();
    if (first_ >= end_) return 0;
    carry();
    const bool negative = digits_[end_ - 1] < 0;
    if (negative) {
      negate();
      carry();
    }
    const double magnitude = rounded();
    if (negative) negate();
    return negative ? -magnitude : magnitude;
  }

 private:
  static constexpr int lowest = -1074;  // exponent of the unit
  static constexpr int digit_bits = 32;
  static constexpr std::int64_t digit_mask = (std::int64_t{1} << digit_bits) - 1;
  // 2098 bits of a double, the carries of 2^64 numbers, and room to write three digits at once.
  static constexpr std::size_t size = 70;
  // One addition changes a digit by less than 2^34.
  static constexpr std::uint64_t most_additions = std::uint64_t{1} << 28;
  // Outside of these limits an anchor overflows, or a unit is below the lowest; such numbers are added one by one.
  static constexpr double too_small = 0x1p-900, too_large = 0x1p1000;
  // A unit is this much smaller than the power of two of the largest number: see sum_block.
  static constexpr int unit_bits = 42;

  // 2^exponent, a normal number.
  static double power(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
  }
  // Of a normal number.
  static int exponent_of(double magnitude) {
    return static_cast<int>(std::bit_cast<std::uint64_t>(magnitude) >> 52U) - 1023;
  }

  void add_block(const double* numbers, std::size_t n) {
    const SumKernels& kernels = sum_kernels();
    double largest = kernels.largest(numbers, n);
    std::array<double, sum_block> rest;
    while (largest >= too_small && largest < too_large) {
      const int unit = exponent_of(largest) - unit_bits;
      const int next = unit - 1 - unit_bits;
      const std::array<double, 2> anchors{1.5 * power(unit + 52), 1.5 * power(next + 52)};
      std::array<double, 2> sums;
      largest = kernels.split(numbers, n, anchors.data(), rest.data(), sums.data());
      add_integer(sums[0], unit);
      add_integer(sums[1], next);
      numbers = rest.data();
    }
    if (largest == 0) return;
    for (std::size_t k = 0; k < n; ++k) add_one(numbers[k]);
  }
  void add_one(double x) {
    if (!std::isfinite(x)) {
      ++special_[std::isnan(x) ? 2 : x > 0 ? 0 : 1];
      return;
    }
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    const int unit = std::max(exponent - 53, lowest);
    add_digits(static_cast<std::int64_t>(std::ldexp(fraction, exponent - unit)), unit);
  }
  // A multiple of 2^unit below 2^(unit+54). In two steps: 2^-unit alone may be too large.
  void add_integer(double sum, int unit) {
    add_digits(static_cast<std::int64_t>(sum * power(-(unit / 2)) * power(-(unit - unit / 2))), unit);
  }
  // Adds value * 2^unit, where value is below 2^54.
  void add_digits(std::int64_t value, int unit) {
    const auto at = static_cast<unsigned>(unit - lowest);
    const std::size_t k = at / digit_bits;
    const unsigned shift = at % digit_bits;
    const std::uint64_t low = (static_cast<std::uint64_t>(value) & static_cast<std::uint64_t>(digit_mask)) << shift;
    const std::int64_t high = (value >> digit_bits) * (std::int64_t{1} << shift);
    digits_[k] += static_cast<std::int64_t>(low) & digit_mask;
    digits_[k + 1] += static_cast<std::int64_t>(low >> digit_bits) + (high & digit_mask);
    digits_[k + 2] += high >> digit_bits;
    first_ = std::min(first_, k);
    end_ = std::max(end_, k + 3);
    if (++additions_ >= most_additions) carry();
  }
  // Digits in 0 … 2^32-1, except the last one in use, which has the sign.
  void carry() {
    if (first_ >= end_) return;
    for (std::size_t k = first_; k < end_; ++k) {
      const std::int64_t above = digits_[k] >> digit_bits;
      if (k + 1 == end_) {
        if (above == 0 || above == -1 || end_ == size) break;
        digits_[end_++] = 0;
      }
      digits_[k] &= digit_mask;
      digits_[k + 1] += above;
    }
    additions_ = 1;
  }
  void negate() {
    for (std::size_t k = first_; k < end_; ++k) digits_[k] = -digits_[k];
  }
  // Of digits that are not negative.
  [[nodiscard]] double rounded() const {
    std::size_t top = end_;
    while (top > first_ && digits_[top - 1] == 0) --top;
    if (top == first_) return 0;
    const auto digit = [&](std::size_t below) {
      return below < top - first_ ? static_cast<std::uint64_t>(digits_[top - 1 - below]) : std::uint64_t{0};
    };
    const std::uint64_t next = digit(2);
    std::uint64_t bits = digit(0) << 32U | digit(1);
    const auto zeros = static_cast<unsigned>(std::countl_zero(bits));
    bits = bits << zeros | next >> (32U - zeros);
    bool more = (next << zeros & static_cast<std::uint64_t>(digit_mask)) != 0;
    for (std::size_t k = first_; !more && k + 3 < top; ++k) more = digits_[k] != 0;
    // 64 bits, of which 53 are kept.
    std::uint64_t kept = bits >> 11U;
    const std::uint64_t dropped = bits & 0x7FFU;
    if (dropped > 0x400U || (dropped == 0x400U && (more || (kept & 1U) != 0))) ++kept;
    const int exponent = digit_bits * (static_cast<int>(top) - 2) - static_cast<int>(zeros) + 11 + lowest;
    return std::ldexp(static_cast<double>(kept), exponent);
  }

  std::array<std::int64_t, size> digits_{};
  std::size_t first_ = size, end_ = 0;     // the digits in use
  std::uint64_t additions_ = 0;            // since the last carry
  std::array<std::int64_t, 3> special_{};  // how many numbers were ∞, -∞ or none
};

}  // namespace vicinal
