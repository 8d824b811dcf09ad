// Contacts in canonical order, the pairs (i, j) with i < j by i, then by j, as rows: row i holds the bodies j,
// ascending.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/threads.hpp"
#include "rows/rows.hpp"

namespace vicinal::contacts {

// Writes the entry of each pair (first[k], second[k]), in either order, among the contacts; -1 if it is not a contact.
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
