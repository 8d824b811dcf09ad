// Contacts as rows: the contacts are pairs (i, j) with i < j, sorted by i, then by j, and row i holds the bodies j.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/threads.hpp"
#include "rows/rows.hpp"

namespace vicinal::contacts {

// Writes the number of the contact of each pair (first[k], second[k]), in either order; -1 if there is none.
inline void find(const RowsView& pairs, std::span<const std::int32_t> first, std::span<const std::int32_t> second,
                 std::span<std::int64_t> place) {
  parallel_ranges(first.size(), row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto [low, high] = std::minmax(first[k], second[k]);
      const auto row = static_cast<std::size_t>(low);
      const auto* const from = pairs.indices.data() + pairs.begin(row);
      const auto* const to = pairs.indices.data() + pairs.begin(row + 1);
      const auto* const match = std::lower_bound(from, to, high);
      place[k] = match != to && *match == high ? match - pairs.indices.data() : -1;
    }
  });
}

}  // namespace vicinal::contacts
