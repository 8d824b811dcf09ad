// The functions of sum_kernels.hpp for any register `Lanes`; included once per instruction set.
#pragma once

#include "pairs/sum_kernels.hpp"

namespace vicinal {
namespace {

template <class Lanes>
double largest_of(const double* numbers, std::size_t n) {
  using Vector = typename Lanes::vector;
  Vector largest = Lanes::broadcast(0), finite = Lanes::broadcast(0);
  const auto take = [&](Vector x) {
    largest = Lanes::most(largest, Lanes::magnitude(x));
    finite = Lanes::add(finite, Lanes::subtract(x, x));  // 0, or NaN
  };
  std::size_t k = 0;
  for (; k + Lanes::width <= n; k += Lanes::width) take(Lanes::load(numbers + k));
  if (k < n) take(Lanes::load_first(numbers + k, n - k));
  const double sum = Lanes::sum(finite);
  return sum == 0 ? Lanes::largest(largest) : sum;
}

template <class Lanes>
double split_numbers(const double* from, std::size_t n, const double* anchors, double* to, double* sums) {
  using Vector = typename Lanes::vector;
  const Vector coarse = Lanes::broadcast(anchors[0]), fine = Lanes::broadcast(anchors[1]);
  Vector first = Lanes::broadcast(0), second = first, largest = first;
  const auto take = [&](Vector x, double* left) {
    const Vector rounded = Lanes::subtract(Lanes::add(x, coarse), coarse);
    first = Lanes::add(first, rounded);
    x = Lanes::subtract(x, rounded);
    const Vector again = Lanes::subtract(Lanes::add(x, fine), fine);
    second = Lanes::add(second, again);
    x = Lanes::subtract(x, again);
    Lanes::store(left, x);
    largest = Lanes::most(largest, Lanes::magnitude(x));
  };
  std::size_t k = 0;
  for (; k + Lanes::width <= n; k += Lanes::width) take(Lanes::load(from + k), to + k);
  if (k < n) take(Lanes::load_first(from + k, n - k), to + k);
  sums[0] = Lanes::sum(first);
  sums[1] = Lanes::sum(second);
  return Lanes::largest(largest);
}

}  // namespace
}  // namespace vicinal
