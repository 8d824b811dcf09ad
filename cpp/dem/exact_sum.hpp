// A sum of floating-point numbers that does not depend on the order of the terms: digits of a fixed-point number that
// is long enough for every double. Sums of several threads or ranks are added digit by digit.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace vicinal::dem {

class ExactSum {
 public:
  // Digits of 32 bits, the lowest first; the last number counts the terms that are not finite. A digit has room for the
  // carries of 2^30 terms.
  static constexpr std::size_t size = 71;
  std::array<std::int64_t, size> digits{};

  void add(double term) {
    if (!std::isfinite(term)) {
      ++digits[size - 1];
      return;
    }
    if (term == 0) return;
    int exponent = 0;
    const double fraction = std::frexp(std::abs(term), &exponent);
    // term = mantissa * 2^(exponent - 53)
    const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    const auto place = static_cast<std::size_t>(exponent - 53 - lowest);
    const std::size_t digit = place / 32, shift = place % 32;
    const std::int64_t sign = term < 0 ? -1 : 1;
    const std::uint64_t low = (mantissa & mask) << shift, high = (mantissa >> 32) << shift;
    digits[digit] += sign * static_cast<std::int64_t>(low & mask);
    digits[digit + 1] += sign * static_cast<std::int64_t>((low >> 32) + (high & mask));
    digits[digit + 2] += sign * static_cast<std::int64_t>(high >> 32);
  }

  // The sum, rounded; NaN if a term was not finite.
  [[nodiscard]] double value() const {
    if (digits[size - 1] != 0) return std::numeric_limits<double>::quiet_NaN();
    std::array<std::int64_t, size> carried = digits;
    carry(carried);
    const bool negative = carried[size - 2] < 0;
    if (negative) {
      for (std::size_t k = 0; k < size; ++k) carried[k] = -digits[k];
      carry(carried);
    }
    // All digits are between 0 and 2^32 - 1 now, so adding from the highest loses no leading bits.
    double sum = 0;
    for (std::size_t k = size - 1; k-- > 0;)
      sum += std::ldexp(static_cast<double>(carried[k]), static_cast<int>(32 * k) + lowest);
    return negative ? -sum : sum;
  }

 private:
  static constexpr int lowest = -1074 - 53;  // the exponent of the lowest bit of the mantissa of the smallest double
  static constexpr std::uint64_t mask = 0xffffffff;

  static void carry(std::array<std::int64_t, size>& digits) {
    for (std::size_t k = 0; k + 2 < size; ++k) {
      const std::int64_t rest = digits[k] & static_cast<std::int64_t>(mask);
      digits[k + 1] += (digits[k] - rest) / (std::int64_t{1} << 32);
      digits[k] = rest;
    }
  }
};

}  // namespace vicinal::dem
