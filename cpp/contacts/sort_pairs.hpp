// Pairs in any order and any direction become rows in canonical order.
//
// Two passes, so that neither scatters over more memory than the caches hold: into buckets of neighbouring rows first,
// then row by row within each bucket. Both keep the result independent of the number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "contacts/pair_rows.hpp"
#include "exec/memory.hpp"
#include "exec/threads.hpp"

namespace vicinal::contacts {

namespace detail {

struct Pair {
  std::int32_t low, high;
};
inline Pair canonical(std::int32_t i, std::int32_t j) { return {std::min(i, j), std::max(i, j)}; }

// Rows are short; sorting them by insertion avoids a call that costs more than the sort.
inline void sort_row(std::int32_t* begin, std::int32_t* end) {
  if (end - begin > 24) {
    std::sort(begin, end);
    return;
  }
  for (auto* k = begin; k < end; ++k) {
    const std::int32_t value = *k;
    auto* to = k;
    for (; to > begin && to[-1] > value; --to) *to = to[-1];
    *to = value;
  }
}

}  // namespace detail

// How many rows the pairs need: one more than the largest smaller number.
inline std::size_t rows_needed(std::span<const std::int32_t> i, std::span<const std::int32_t> j) {
  constexpr std::size_t grain = std::size_t{1} << 16;
  std::vector<std::int32_t> most((i.size() + grain - 1) / grain, -1);
  parallel_ranges(i.size(), grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    std::int32_t m = -1;
    for (std::size_t k = begin; k < end; ++k) m = std::max(m, std::min(i[k], j[k]));
    most[piece] = m;
  });
  std::int32_t m = -1;
  for (const std::int32_t piece : most) m = std::max(m, piece);
  return static_cast<std::size_t>(m + 1);
}

// Fills `offsets` (rows_needed + 1) and `others` (one per pair). Entries of a row that are equal stay side by side.
inline void sort_pairs(std::span<const std::int32_t> i, std::span<const std::int32_t> j,
                       std::span<std::int64_t> offsets, std::span<std::int32_t> others) {
  using detail::Pair;
  constexpr std::size_t most_buckets = 1024, most_pieces = 256;
  const std::size_t size = i.size(), rows = offsets.size() - 1;
  int shift = 0;
  while ((rows >> shift) >= most_buckets) ++shift;
  const std::size_t buckets = (rows >> shift) + 1;
  const std::size_t grain = std::max<std::size_t>(std::size_t{1} << 14, size / most_pieces + 1);
  const std::size_t pieces = (size + grain - 1) / grain;
  const auto bucket_of = [&](const Pair& pair) { return static_cast<std::size_t>(pair.low) >> shift; };

  // starts[piece][bucket]: first how many, then where the next one goes.
  std::vector<std::array<std::size_t, most_buckets>> starts(pieces);
  parallel_ranges(size, grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    auto& count = starts[piece];
    std::fill(count.begin(), count.end(), 0);
    for (std::size_t k = begin; k < end; ++k) ++count[bucket_of(detail::canonical(i[k], j[k]))];
  });
  std::vector<std::size_t> bucket_start(buckets + 1);
  std::size_t sum = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    bucket_start[bucket] = sum;
    for (auto& start : starts) sum += std::exchange(start[bucket], sum);
  }
  bucket_start[buckets] = sum;

  Buffer<Pair> sorted(size);
  parallel_ranges(size, grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    auto& next = starts[piece];
    for (std::size_t k = begin; k < end; ++k) {
      const Pair pair = detail::canonical(i[k], j[k]);
      sorted[next[bucket_of(pair)]++] = pair;
    }
  });

  offsets[rows] = static_cast<std::int64_t>(size);
  parallel_for(buckets, [&](std::size_t bucket, int) {
    const std::size_t row_begin = bucket << shift, row_end = std::min(rows, (bucket + 1) << shift);
    if (row_begin >= row_end) return;
    const std::size_t begin = bucket_start[bucket], end = bucket_start[bucket + 1];
    std::vector<std::size_t> next(row_end - row_begin + 1, 0);
    const auto row_in = [&](const Pair& pair) { return static_cast<std::size_t>(pair.low) - row_begin; };
    for (std::size_t k = begin; k < end; ++k) ++next[row_in(sorted[k])];
    std::size_t place = begin;
    for (std::size_t row = 0; row < row_end - row_begin; ++row) {
      offsets[row_begin + row] = static_cast<std::int64_t>(place);
      place += std::exchange(next[row], place);
    }
    for (std::size_t k = begin; k < end; ++k) others[next[row_in(sorted[k])]++] = sorted[k].high;
    std::size_t from = begin;
    for (std::size_t row = 0; row < row_end - row_begin; ++row) {
      detail::sort_row(others.data() + from, others.data() + next[row]);
      from = next[row];
    }
  });
}

}  // namespace vicinal::contacts
