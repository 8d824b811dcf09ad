// Sorts one row with the vector code of the instruction set in use.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "rows/row_kernels.hpp"

namespace vicinal {

// Writes a row in ascending order to `to`, which may be the row itself. If `sort_overshoot` entries past the end of the
// row may be overwritten, row_kernels().sort needs no copy.
inline void sort_row(const std::int32_t* row, std::size_t n, std::int32_t* to) {
  constexpr std::size_t most = 2048;
  if (n > most) {
    if (to != row) std::copy_n(row, n, to);
    std::sort(to, to + n);
    return;
  }
  std::array<std::int32_t, most + sort_overshoot> copy;
  std::copy_n(row, n, copy.begin());
  row_kernels().sort(copy.data(), n, copy.data());
  std::copy_n(copy.begin(), n, to);
}
inline void sort_row(std::int32_t* row, std::size_t n) {
  if (n > 1) sort_row(row, n, row);
}

}  // namespace vicinal
