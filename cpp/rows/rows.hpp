// Rows of neighbours in compressed form (CSR): row k is indices[offsets[k]] … indices[offsets[k + 1] - 1].
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/memory.hpp"
#include "exec/threads.hpp"

namespace vicinal {

// Rows per piece of parallel work.
inline constexpr std::size_t row_grain = 4096;

// Rows whose memory belongs to the caller.
struct RowsView {
  std::span<const std::int64_t> offsets;  // one more than the number of rows, at least one
  std::span<const std::int32_t> indices;

  [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
  // The first entry of a row. Rows past the last are empty.
  [[nodiscard]] std::size_t begin(std::size_t row) const {
    return row < size() ? static_cast<std::size_t>(offsets[row]) : indices.size();
  }
  [[nodiscard]] std::size_t length(std::size_t row) const {
    return static_cast<std::size_t>(offsets[row + 1] - offsets[row]);
  }
  [[nodiscard]] std::span<const std::int32_t> operator[](std::size_t row) const {
    return indices.subspan(static_cast<std::size_t>(offsets[row]), length(row));
  }
};

// Rows that own their memory.
struct Rows {
  Buffer<std::int64_t> offsets;
  Buffer<std::int32_t> indices;

  [[nodiscard]] RowsView view() const { return {offsets.span(), indices.span()}; }
  [[nodiscard]] std::size_t bytes() const { return offsets.bytes() + indices.bytes(); }
};

// Writes the owner of every entry: the row it belongs to.
inline void fill_owners(std::span<const std::int64_t> offsets, std::int32_t* owners) {
  parallel_ranges(offsets.size() - 1, row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t row = begin; row < end; ++row)
      std::fill(owners + offsets[row], owners + offsets[row + 1], static_cast<std::int32_t>(row));
  });
}

// The first of the longest rows; 0 without rows.
inline std::size_t longest_row(std::span<const std::int64_t> offsets) {
  std::size_t longest = 0;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
    if (offsets[row + 1] - offsets[row] > offsets[longest + 1] - offsets[longest]) longest = row;
  return longest;
}

// Checks that offsets ascend from 0 to the number of entries. Returns the first row that violates this, or the number
// of rows. Offsets from a caller must be checked before they are used.
inline std::size_t first_wrong_offset(const RowsView& rows) {
  const std::size_t count = rows.size();
  if (rows.offsets[0] != 0) return 0;
  std::atomic<std::size_t> first{count};
  parallel_ranges(count, row_grain * 16, [&](std::size_t begin, std::size_t end, std::size_t) {
    bool falls = false;
    for (std::size_t row = begin; row < end; ++row) falls |= rows.offsets[row] > rows.offsets[row + 1];
    if (!falls) return;
    for (std::size_t row = begin; row < end; ++row)
      if (rows.offsets[row] > rows.offsets[row + 1]) {
        std::size_t known = first.load();
        while (row < known && !first.compare_exchange_weak(known, row)) {
        }
        return;
      }
  });
  const std::size_t wrong = first.load();
  if (wrong == count && static_cast<std::size_t>(rows.offsets[count]) != rows.indices.size())
    return count > 0 ? count - 1 : 0;
  return wrong;
}

}  // namespace vicinal
