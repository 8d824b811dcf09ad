// Rows from pairs that are already in canonical order, for example from a sorted search: only offsets are computed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/threads.hpp"

namespace vicinal {

inline constexpr std::size_t pair_grain = std::size_t{1} << 16;

inline bool in_order(std::span<const std::int32_t> i, std::span<const std::int32_t> j) {
  std::atomic<bool> good{true};
  parallel_ranges(i.size(), pair_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    if (!good) return;
    int wrong = i[begin] >= j[begin];
    // Without branches, so that compilers vectorise it.
    for (std::size_t k = std::max<std::size_t>(begin, 1); k < end; ++k) {
      const int own = i[k] >= j[k], falls = i[k] < i[k - 1], same = i[k] == i[k - 1], repeats = j[k] <= j[k - 1];
      wrong |= own | falls | (same & repeats);
    }
    if (wrong != 0) good = false;
  });
  return good;
}

// Fills the offsets of all rows up to that of the last pair.
inline void start_rows(std::span<const std::int32_t> i, std::span<std::int64_t> offsets) {
  parallel_ranges(i.size(), pair_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto row = static_cast<std::size_t>(i[k]);
      for (std::size_t r = k > 0 ? static_cast<std::size_t>(i[k - 1]) + 1 : 0; r <= row; ++r)
        offsets[r] = static_cast<std::int64_t>(k);
    }
  });
  offsets.back() = static_cast<std::int64_t>(i.size());
}

}  // namespace vicinal
