// The functions of sum_kernels.hpp for any register `Lanes`; included once per instruction set.
#pragma once

#include "pairs/sum_kernels.hpp"

namespace vicinal {
namespace {

template <class Lanes>
double largest_of(typename Lanes::vector v) {
  double lanes[Lanes::width];
  Lanes::store(lanes, v);
  double largest = 0;
  for (const double lane : lanes) largest = lane > largest ? lane : largest;
  return largest;
}

template <class Lanes>
double copy_numbers(const double* from, std::size_t n, double* to) {
  for (std::size_t k = n / Lanes::width * Lanes::width; k < n; ++k) to[k] = from[k];
  const std::size_t padded = (n + Lanes::width - 1) / Lanes::width * Lanes::width;
  for (std::size_t k = n; k < padded; ++k) to[k] = 0;
  typename Lanes::vector largest = Lanes::broadcast(0), finite = Lanes::broadcast(0);
  for (std::size_t k = 0; k < padded; k += Lanes::width) {
    const bool whole = k + Lanes::width <= n;
    const typename Lanes::vector x = Lanes::load(whole ? from + k : to + k);
    Lanes::store(to + k, x);
    largest = Lanes::most(largest, Lanes::magnitude(x));
    finite = Lanes::add(finite, Lanes::subtract(x, x));  // 0, or NaN
  }
  double lanes[Lanes::width];
  Lanes::store(lanes, finite);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum == 0 ? largest_of<Lanes>(largest) : sum;
}

template <class Lanes>
double split_numbers(double* numbers, std::size_t n, double anchor, double* largest) {
  const typename Lanes::vector fixed = Lanes::broadcast(anchor);
  typename Lanes::vector sum = Lanes::broadcast(0), rest = Lanes::broadcast(0);
  for (std::size_t k = 0; k < n; k += Lanes::width) {
    const typename Lanes::vector x = Lanes::load(numbers + k);
    const typename Lanes::vector rounded = Lanes::subtract(Lanes::add(x, fixed), fixed);
    const typename Lanes::vector left = Lanes::subtract(x, rounded);
    Lanes::store(numbers + k, left);
    sum = Lanes::add(sum, rounded);
    rest = Lanes::most(rest, Lanes::magnitude(left));
  }
  double lanes[Lanes::width];
  Lanes::store(lanes, sum);
  double total = 0;
  for (const double lane : lanes) total += lane;
  *largest = largest_of<Lanes>(rest);
  return total;
}

}  // namespace
}  // namespace vicinal
