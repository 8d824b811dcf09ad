// Full rows of neighbours in canonical order, so that sums over them do not depend on the structure that found them.
//
// Short rows are sorted, each for itself. Long ones are filled in order, without comparing anything: being neighbours
// is mutual, j is in row i exactly if i is in row j. So writing i into the rows of its neighbours, for i from first to
// last, fills every row with the same numbers, in ascending order. That takes 3 to 10 ns per entry, depending on how
// far apart in memory neighbours are; sorting takes 4 in rows of 30 and 12 in rows of 120.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/threads.hpp"
#include "lists/gather.hpp"

namespace vicinal {

class RowOrder {
 public:
  RowOrder(std::span<const std::int64_t> offsets, std::span<const std::int32_t> found)
      : offsets_(offsets), found_(found), rows_(offsets.size() - 1) {}

  // Writes the ordered rows; `ordered` is as long as what was found.
  void write(std::span<std::int32_t> ordered) const {
    // Each block of rows i has its own place in every row j, after those of the blocks before it. More blocks than
    // threads would only cost memory.
    const auto blocks = static_cast<std::size_t>(thread_count());
    std::vector<std::int64_t> next(blocks * rows_);
    if (blocks > 1) count(next, blocks);
    parallel_ranges(rows_, rows_per_piece, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t j = begin; j < end; ++j) {
        std::int64_t place = offsets_[j];
        for (std::size_t b = 0; b < blocks; ++b) {
          const std::int64_t entries = next[b * rows_ + j];
          next[b * rows_ + j] = place;
          place += entries;
        }
      }
    });
    parallel_for(blocks, [&](std::size_t b, int) {
      std::int64_t* const place = next.data() + b * rows_;
      for_block(b, blocks, [&](std::size_t i, std::size_t j) {
        ordered[static_cast<std::size_t>(place[j]++)] = static_cast<std::int32_t>(i);
      });
    });
  }

 private:
  static constexpr std::size_t rows_per_piece = 4096;

  void count(std::vector<std::int64_t>& entries, std::size_t blocks) const {
    parallel_for(blocks, [&](std::size_t b, int) {
      std::int64_t* const counts = entries.data() + b * rows_;
      for_block(b, blocks, [&](std::size_t, std::size_t j) { ++counts[j]; });
    });
  }

  // Calls f(i, j) for the entries of a block. Blocks have about as many entries each.
  template <class F>
  void for_block(std::size_t block, std::size_t blocks, F&& f) const {
    const std::size_t end = first_row(block + 1, blocks);
    for (std::size_t i = first_row(block, blocks); i < end; ++i) {
      for (auto k = static_cast<std::size_t>(offsets_[i]); k < static_cast<std::size_t>(offsets_[i + 1]); ++k)
        f(i, static_cast<std::size_t>(found_[k]));
    }
  }

  [[nodiscard]] std::size_t first_row(std::size_t block, std::size_t blocks) const {
    if (block == blocks) return rows_;
    const auto entry = static_cast<std::int64_t>(found_.size() / blocks * block);
    const auto row = std::lower_bound(offsets_.begin(), offsets_.end(), entry) - offsets_.begin();
    return std::min(static_cast<std::size_t>(row), rows_);
  }

  std::span<const std::int64_t> offsets_;
  std::span<const std::int32_t> found_;
  std::size_t rows_;
};

// Writes the rows found into `ordered`, which is as long, each in ascending order.
inline void order_rows(std::span<const std::int64_t> offsets, std::span<const std::int32_t> found,
                       std::span<std::int32_t> ordered) {
  const std::size_t rows = offsets.size() - 1;
  if (found.size() > rows * detail::most_ranked) {
    RowOrder(offsets, found).write(ordered);
    return;
  }
  parallel_ranges(rows, 1024, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t row = begin; row < end; ++row) {
      const auto first = static_cast<std::size_t>(offsets[row]);
      const std::size_t size = static_cast<std::size_t>(offsets[row + 1]) - first;
      std::copy_n(found.data() + first, size, ordered.data() + first);
      sort_row(ordered.data() + first, size);
    }
  });
}

}  // namespace vicinal
