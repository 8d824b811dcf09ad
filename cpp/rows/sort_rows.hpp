// Sorts rows, so that sums over them do not depend on the structure that found them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/threads.hpp"
#include "rows/rows.hpp"
#include "rows/sort_row.hpp"
#include "rows/transpose.hpp"

namespace vicinal {

// Sorts every row in place.
inline void sort_rows(std::span<const std::int64_t> offsets, std::int32_t* indices) {
  parallel_ranges(offsets.size() - 1, row_grain, [&](std::size_t first, std::size_t last, std::size_t) {
    for (std::size_t row = first; row < last; ++row)
      sort_row(indices + offsets[row], static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
  });
}

// Rows longer than this are sorted by transposition if the relation is symmetric.
inline constexpr std::size_t long_row = 256;

// Writes the rows of a symmetric relation in ascending order to `sorted`, which has the same size. Short rows are
// sorted one by one, long ones by transposition.
inline void sort_symmetric_rows(const RowsView& rows, std::span<std::int32_t> sorted) {
  if (rows.indices.size() > rows.size() * long_row) {
    transpose_symmetric(rows, sorted);
    return;
  }
  parallel_ranges(rows.size(), row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t row = begin; row < end; ++row) {
      std::int32_t* const to = sorted.data() + rows.offsets[row];
      std::copy_n(rows.indices.data() + rows.offsets[row], rows.length(row), to);
      sort_row(to, rows.length(row));
    }
  });
}

}  // namespace vicinal
