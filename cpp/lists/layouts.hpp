// Conversions of rows: to a table of fixed width with or without overflow, and back; and renumbering of bodies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "rows/from_pairs.hpp"
#include "rows/rows.hpp"

namespace vicinal {

// The overflow of a row is its entries beyond `width`. Returns the position of the overflow of every row, and the total
// number last.
inline std::vector<std::int64_t> overflow_begin(std::span<const std::int64_t> offsets, std::size_t width) {
  std::vector<std::int64_t> begin(offsets.size());
  std::int64_t sum = 0;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    begin[row] = sum;
    sum += std::max<std::int64_t>(0, offsets[row + 1] - offsets[row] - static_cast<std::int64_t>(width));
  }
  begin.back() = sum;
  return begin;
}

// Fills a table of `width` entries per row, padded with -1, and the number of entries per row. Entries that do not fit
// are written to (i, j), starting at overflow[row].
inline void spread(const RowsView& rows, std::size_t width, std::span<const std::int64_t> overflow, std::int32_t* table,
                   std::int32_t* counts, std::int32_t* i, std::int32_t* j) {
  parallel_ranges(rows.size(), row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t row = begin; row < end; ++row) {
      const auto entries = rows[row];
      const std::size_t fit = std::min(width, entries.size());
      std::int32_t* const to = table + row * width;
      std::copy_n(entries.begin(), fit, to);
      std::fill(to + fit, to + width, -1);
      counts[row] = static_cast<std::int32_t>(fit);
      std::fill_n(i + overflow[row], entries.size() - fit, static_cast<std::int32_t>(row));
      std::copy(entries.begin() + static_cast<std::ptrdiff_t>(fit), entries.end(), j + overflow[row]);
    }
  });
}

// Rows from a table and its overflow.
inline void collect(std::span<const std::int64_t> offsets, std::size_t width, const std::int32_t* table,
                    const std::int32_t* overflow_j, std::int32_t* indices) {
  const std::vector<std::int64_t> overflow = overflow_begin(offsets, width);
  parallel_ranges(offsets.size() - 1, row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t row = begin; row < end; ++row) {
      const auto length = static_cast<std::size_t>(offsets[row + 1] - offsets[row]);
      const std::size_t fit = std::min(width, length);
      std::int32_t* const to = std::copy_n(table + row * width, fit, indices + offsets[row]);
      std::copy_n(overflow_j + overflow[row], length - fit, to);
    }
  });
}

// Body k of the new order was order[k] before. Full rows are moved and sorted. In half rows, a pair changes its row if
// the order of its bodies is reversed.
inline void renumber(const RowsView& rows, std::span<const std::int32_t> order, bool half,
                     std::span<std::int64_t> offsets, std::int32_t* indices) {
  const std::size_t n = rows.size();
  Buffer<std::int32_t> place(n);  // the new number of each body
  parallel_ranges(n, row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t k = begin; k < end; ++k) place[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
  });
  const auto moved = [&](std::int32_t body) { return place[static_cast<std::size_t>(body)]; };
  if (half) {
    const auto entries = static_cast<std::size_t>(rows.offsets[n]);
    Buffer<std::int32_t> i(entries);
    Buffer<std::int32_t> j(entries);
    parallel_ranges(n, row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t row = begin; row < end; ++row)
        for (auto k = static_cast<std::size_t>(rows.offsets[row]); k < static_cast<std::size_t>(rows.offsets[row + 1]);
             ++k) {
          i[k] = place[row];
          j[k] = moved(rows.indices[k]);
        }
    });
    Buffer<CanonicalPair> scratch(entries);
    rows_from_pairs(i.span(), j.span(), offsets, {indices, entries}, scratch.span());
    return;
  }
  offsets[0] = 0;
  for (std::size_t k = 0; k < n; ++k)
    offsets[k + 1] = offsets[k] + static_cast<std::int64_t>(rows.length(static_cast<std::size_t>(order[k])));
  parallel_ranges(n, row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto before = rows[static_cast<std::size_t>(order[k])];
      std::transform(before.begin(), before.end(), indices + offsets[k], moved);
      sort_row(indices + offsets[k], before.size());
    }
  });
}

}  // namespace vicinal
