// Rows in plain C++, on every processor.
//
// Rows are short and in random order, so a branch per comparison is mispredicted half of the time: with std::sort this
// took a third of the time of a list build. Short rows are sorted by rank, without branches.
#include <algorithm>
#include <array>

#include "rows/rank.hpp"
#include "rows/row_kernels.hpp"

namespace vicinal {
namespace {

constexpr std::size_t most_by_rank = 64;  // above this, n² comparisons take longer

// Sorts up to `most_by_rank` entries: the position of an entry is the number of entries that are smaller, or equal and
// before it.
void sort_by_rank(std::int32_t* row, std::size_t n) {
  constexpr std::size_t lanes = 8;
  std::array<std::int32_t, most_by_rank> copy;
  std::array<std::int32_t, most_by_rank> rank;
  const std::size_t padded = (n + lanes - 1) / lanes * lanes;
  for (std::size_t k = 0; k < n; ++k) copy[k] = row[k];
  for (std::size_t k = n; k < padded; ++k) copy[k] = 0;
  for (std::size_t first = 0; first < padded; first += lanes) {
    std::array<std::int32_t, lanes> lower{};  // stays in registers during the inner loop
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

void sort_in_place(std::int32_t* row, std::size_t n) {
  constexpr std::size_t most_merged = 1024;
  if (n < 2) return;
  if (n <= most_by_rank) {
    sort_by_rank(row, n);
  } else if (n <= most_merged) {
    const std::size_t half = n / 2;
    sort_in_place(row, half);
    sort_in_place(row + half, n - half);
    std::array<std::int32_t, most_merged> merged;
    std::merge(row, row + half, row + half, row + n, merged.begin());
    std::copy_n(merged.begin(), n, row);
  } else {
    std::sort(row, row + n);
  }
}

void sort(const std::int32_t* from, std::size_t n, std::int32_t* to) {
  if (to != from) std::copy_n(from, n, to);
  sort_in_place(to, n);
}

void arrange(std::int32_t* places, std::size_t n, std::int32_t* const* columns, std::size_t count) {
  std::array<std::int32_t, most_ranked> copy;
  for (std::size_t c = 0; c < count; ++c) {
    for (std::size_t k = 0; k < n; ++k) copy[k] = columns[c][places[k]];
    std::copy_n(copy.begin(), n, columns[c]);
  }
}

}  // namespace

const SortKernels& baseline_row_kernels() {
  static constexpr SortKernels kernels{sort, rank<sort>, arrange};
  return kernels;
}

}  // namespace vicinal
