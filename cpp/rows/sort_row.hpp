// Sorting one row of neighbours.
//
// Rows are short and in random order, so a branch per comparison is mispredicted every other time: with std::sort a
// third of the time of a whole list went into that.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace vicinal {

namespace detail {

inline constexpr std::size_t most_ranked = 64;  // beyond, n² catches up

// Sorts up to `most_ranked` numbers: the place of each is how many are smaller, or equal and before it.
inline void sort_by_rank(std::int32_t* row, std::size_t n) {
  constexpr std::size_t lanes = 8;
  std::array<std::int32_t, most_ranked> copy;
  std::array<std::int32_t, most_ranked> rank;
  const std::size_t padded = (n + lanes - 1) / lanes * lanes;
  for (std::size_t k = 0; k < n; ++k) copy[k] = row[k];
  for (std::size_t k = n; k < padded; ++k) copy[k] = 0;
  for (std::size_t first = 0; first < padded; first += lanes) {
    std::array<std::int32_t, lanes> lower{};  // in registers while all others go by
    for (std::size_t k = 0; k < first; ++k)
      for (std::size_t lane = 0; lane < lanes; ++lane) lower[lane] += copy[k] <= copy[first + lane] ? 1 : 0;
    for (std::size_t k = first; k < n; ++k)
      for (std::size_t lane = 0; lane < lanes; ++lane) lower[lane] += copy[k] < copy[first + lane] ? 1 : 0;
    for (std::size_t lane = 1; lane < lanes; ++lane)
      for (std::size_t k = first; k < first + lane; ++k) lower[lane] += copy[k] == copy[first + lane] ? 1 : 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) rank[first + lane] = lower[lane];
  }
  for (std::size_t k = 0; k < n; ++k) row[rank[k]] = copy[k];
}

}  // namespace detail

inline void sort_row(std::int32_t* row, std::size_t n) {
  constexpr std::size_t most_merged = 1024;
  if (n < 2) return;
  if (n <= detail::most_ranked) {
    detail::sort_by_rank(row, n);
  } else if (n <= most_merged) {
    const std::size_t half = n / 2;
    sort_row(row, half);
    sort_row(row + half, n - half);
    std::array<std::int32_t, most_merged> merged;
    std::merge(row, row + half, row + half, row + n, merged.begin());
    std::copy_n(merged.begin(), n, row);
  } else {
    std::sort(row, row + n);
  }
}

}  // namespace vicinal
