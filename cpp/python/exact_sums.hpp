// Exact sums for Python, as digits that can be added in any order, on any rank.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <vector>

#include "pairs/exact_sum.hpp"

namespace vicinal {

// The digits of exact sums, (.., digits).
nanobind::object digits_of(std::span<ExactSum> sums, std::vector<std::size_t> shape);
void bind_exact_sums(nanobind::module_& m);

}  // namespace vicinal
