// The transpose of rows: entry j of row i becomes entry i of row j.
//
// Writing i into row j for ascending i fills every row in ascending order without comparisons. If the relation is
// symmetric (j is in row i if and only if i is in row j), the transpose has the same rows, sorted. This takes 3 to 10
// ns per entry, depending on the distance of neighbours in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "exec/threads.hpp"
#include "rows/rows.hpp"

namespace vicinal {

namespace detail {

// Each block of rows i has its own range in every row j, after the ranges of the blocks before it. More blocks than
// threads would only use more memory.
class Transposer {
 public:
  Transposer(const RowsView& rows, std::size_t columns)
      : rows_(rows), columns_(columns), blocks_(static_cast<std::size_t>(thread_count())), next_(blocks_ * columns) {}

  // Counts the entries of every block in every column.
  void count() {
    parallel_for(blocks_, [&](std::size_t b, int) {
      std::int64_t* const counts = next_.data() + b * columns_;
      for_block(b, [&](std::size_t, std::size_t j) { ++counts[j]; });
    });
  }
  // The lengths of the transposed rows, after `count`.
  void lengths(std::span<std::int64_t> lengths) const {
    parallel_ranges(columns_, row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t j = begin; j < end; ++j) {
        lengths[j] = 0;
        for (std::size_t b = 0; b < blocks_; ++b) lengths[j] += next_[b * columns_ + j];
      }
    });
  }
  // Fills the transposed rows. With one thread `count` is not needed.
  void write(std::span<const std::int64_t> offsets, std::span<std::int32_t> indices) {
    parallel_ranges(columns_, row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t j = begin; j < end; ++j) {
        std::int64_t place = offsets[j];
        for (std::size_t b = 0; b < blocks_; ++b) {
          const std::int64_t entries = next_[b * columns_ + j];
          next_[b * columns_ + j] = place;
          place += entries;
        }
      }
    });
    parallel_for(blocks_, [&](std::size_t b, int) {
      std::int64_t* const place = next_.data() + b * columns_;
      for_block(b, [&](std::size_t i, std::size_t j) {
        indices[static_cast<std::size_t>(place[j]++)] = static_cast<std::int32_t>(i);
      });
    });
  }
  [[nodiscard]] bool counts_needed() const { return blocks_ > 1; }

 private:
  // Calls f(i, j) for the entries of a block. Blocks have approximately equal numbers of entries.
  template <class F>
  void for_block(std::size_t block, F&& f) const {
    const std::size_t end = first_row(block + 1);
    for (std::size_t i = first_row(block); i < end; ++i)
      for (const std::int32_t j : rows_[i]) f(i, static_cast<std::size_t>(j));
  }
  [[nodiscard]] std::size_t first_row(std::size_t block) const {
    if (block == blocks_) return rows_.size();
    const auto entry = static_cast<std::int64_t>(rows_.indices.size() / blocks_ * block);
    const auto row = std::lower_bound(rows_.offsets.begin(), rows_.offsets.end(), entry) - rows_.offsets.begin();
    return std::min(static_cast<std::size_t>(row), rows_.size());
  }

  RowsView rows_;
  std::size_t columns_;
  std::size_t blocks_;
  std::vector<std::int64_t> next_;  // [block][column]: first the number of entries, then the position of the next one
};

}  // namespace detail

// Transposes rows whose indices are below `columns`; the resulting rows ascend. Fills `offsets` (columns + 1) and
// `indices` (as many as `rows` has).
inline void transpose(const RowsView& rows, std::span<std::int64_t> offsets, std::span<std::int32_t> indices) {
  const std::size_t columns = offsets.size() - 1;
  detail::Transposer transposer(rows, columns);
  transposer.count();
  transposer.lengths(offsets.subspan(1));
  offsets[0] = 0;
  std::inclusive_scan(offsets.begin(), offsets.end(), offsets.begin());
  transposer.write(offsets, indices);
}

// The same for a symmetric relation, whose transpose has the offsets of `rows`: sorts the rows.
inline void transpose_symmetric(const RowsView& rows, std::span<std::int32_t> indices) {
  detail::Transposer transposer(rows, rows.size());
  if (transposer.counts_needed()) transposer.count();
  transposer.write(rows.offsets, indices);
}

}  // namespace vicinal
