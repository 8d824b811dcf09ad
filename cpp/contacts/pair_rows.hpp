// Contacts in canonical order: the pairs (i, j) with i < j, by i, then by j, as rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/threads.hpp"

namespace vicinal::contacts {

// Row i is others[offsets[i]] … others[offsets[i + 1]], ascending, all greater than i. Rows past the last are empty.
struct PairRows {
  std::span<const std::int64_t> offsets;  // one more than there are rows, at least one
  std::span<const std::int32_t> others;

  [[nodiscard]] std::size_t rows() const { return offsets.size() - 1; }
  [[nodiscard]] std::size_t begin(std::size_t row) const {
    return row < rows() ? static_cast<std::size_t>(offsets[row]) : others.size();
  }
};

inline constexpr std::size_t row_grain = 4096;

// The first row whose offsets do not ascend from 0 to the number of entries, or the number of rows. Nothing may be read
// through offsets before this was asked.
inline std::size_t first_wrong_offset(const PairRows& pairs) {
  const std::size_t rows = pairs.rows();
  if (pairs.offsets[0] != 0) return 0;
  std::atomic<std::size_t> first{rows};
  parallel_ranges(rows, row_grain * 16, [&](std::size_t begin, std::size_t end, std::size_t) {
    bool falls = false;
    for (std::size_t row = begin; row < end; ++row) falls |= pairs.offsets[row] > pairs.offsets[row + 1];
    if (!falls) return;
    for (std::size_t row = begin; row < end; ++row)
      if (pairs.offsets[row] > pairs.offsets[row + 1]) {
        std::size_t known = first.load();
        while (row < known && !first.compare_exchange_weak(known, row)) {
        }
        return;
      }
  });
  const std::size_t found = first.load();
  if (found == rows && static_cast<std::size_t>(pairs.offsets[rows]) != pairs.others.size())
    return rows > 0 ? rows - 1 : 0;
  return found;
}

// Writes the row of every entry.
inline void expand(const PairRows& pairs, std::span<std::int32_t> row_of) {
  parallel_ranges(pairs.rows(), row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t row = begin; row < end; ++row)
      for (std::size_t k = pairs.begin(row); k < pairs.begin(row + 1); ++k) row_of[k] = static_cast<std::int32_t>(row);
  });
}

// Writes the place of each pair (first[k], second[k]), whichever comes first, among the contacts; -1 where it is none.
inline void find(const PairRows& pairs, std::span<const std::int32_t> first, std::span<const std::int32_t> second,
                 std::span<std::int64_t> place) {
  parallel_ranges(first.size(), row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto [low, high] = std::minmax(first[k], second[k]);
      const auto row = static_cast<std::size_t>(low);
      const auto* const from = pairs.others.data() + pairs.begin(row);
      const auto* const to = pairs.others.data() + pairs.begin(row + 1);
      const auto* const found = std::lower_bound(from, to, high);
      place[k] = found != to && *found == high ? found - pairs.others.data() : -1;
    }
  });
}

}  // namespace vicinal::contacts
