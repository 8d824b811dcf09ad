#include "python/exact_sums.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "python/vectors.hpp"

namespace vicinal {

namespace nb = nanobind;

nb::object digits_of(std::span<ExactSum> sums, std::vector<std::size_t> shape) {
  std::vector<std::int64_t> all;
  for (ExactSum& sum : sums) {
    const ExactSum::Digits digits = sum.digits();
    all.insert(all.end(), digits.begin(), digits.end());
  }
  shape.push_back(std::tuple_size_v<ExactSum::Digits>);
  return array_of(std::move(all), std::move(shape));
}

namespace {

// The exact sum of every column, (columns, digits).
nb::object exact_sums(const In<double>& columns) {
  const std::size_t width = columns.ndim() == 2 ? columns.shape(1) : 1;
  std::vector<ExactSum> sums(width);
  std::vector<double> column;
  for (std::size_t c = 0; c < width; ++c) {
    column.clear();
    for (std::size_t k = c; k < columns.size(); k += width) column.push_back(columns.data()[k]);
    sums[c].add(column.data(), column.size());
  }
  return digits_of(sums, {width});
}

// The numbers that digits of exact sums stand for.
nb::object exact_values(const In<std::int64_t>& digits) {
  constexpr std::size_t size = std::tuple_size_v<ExactSum::Digits>;
  std::vector<double> values(digits.size() / size);
  for (std::size_t k = 0; k < values.size(); ++k) {
    ExactSum::Digits one;
    std::copy_n(digits.data() + k * size, size, one.begin());
    ExactSum sum;
    sum.add(one);
    values[k] = sum.value();
  }
  const std::size_t n = values.size();
  return array_of(std::move(values), {n});
}

}  // namespace

void bind_exact_sums(nb::module_& m) {
  m.def("exact_sums", &exact_sums, nb::arg("columns"), "Digits of sums that do not depend on the order of the terms.");
  m.def("exact_values", &exact_values, nb::arg("digits"), "The numbers that such digits stand for.");
}

}  // namespace vicinal
