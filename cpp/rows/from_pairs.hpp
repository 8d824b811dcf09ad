// Rows from pairs in any order and any direction: each pair goes to the row of its smaller id, and each row is sorted.
//
// Two passes, so that neither scatters over more memory than the caches hold: first into buckets of consecutive rows,
// then into the rows of each bucket. The result does not depend on the number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "exec/threads.hpp"
#include "rows/ordered_pairs.hpp"
#include "rows/sort_eight.hpp"
#include "rows/sort_row.hpp"

namespace vicinal {

struct CanonicalPair {
  std::int32_t low, high;
};

namespace detail {

// Compilers turn this into conditional moves, but std::minmax into a branch that is mispredicted half of the time.
inline CanonicalPair canonical(std::int32_t i, std::int32_t j) { return {i < j ? i : j, i < j ? j : i}; }

// Rows are short and in random order, so half of the branches of a comparison sort would be mispredicted. Up to eight
// numbers are sorted by a fixed network instead. Reads and writes eight numbers for any size.
inline constexpr std::size_t few = 8;
inline void sort_few(const std::int32_t* from, std::size_t size, std::int32_t* to) {
  std::array<std::int32_t, few> v;
  for (std::size_t k = 0; k < few; ++k) v[k] = k < size ? from[k] : std::numeric_limits<std::int32_t>::max();
  const auto exchange = [&v](std::size_t a, std::size_t b) {
    const CanonicalPair pair = canonical(v[a], v[b]);
    v[a] = pair.low;
    v[b] = pair.high;
  };
  sort_eight(exchange);
  for (std::size_t k = 0; k < few; ++k) to[k] = v[k];
}

}  // namespace detail

// The number of rows that the pairs need: the largest smaller id plus one. Empty if an id is negative.
inline std::optional<std::size_t> rows_needed(std::span<const std::int32_t> i, std::span<const std::int32_t> j) {
  struct IdRange {
    std::int32_t most = -1, signs = 0;
  };
  std::vector<IdRange> pieces((i.size() + pair_grain - 1) / pair_grain);
  parallel_ranges(i.size(), pair_grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    IdRange all;
    for (std::size_t k = begin; k < end; ++k) {
      all.most = std::max(all.most, std::min(i[k], j[k]));
      all.signs |= i[k] | j[k];
    }
    pieces[piece] = all;
  });
  IdRange all;
  for (const IdRange& piece : pieces) {
    all.most = std::max(all.most, piece.most);
    all.signs |= piece.signs;
  }
  if (all.signs < 0) return std::nullopt;
  return static_cast<std::size_t>(all.most + 1);
}

// Fills `offsets` (rows_needed + 1) and `indices` (one per pair). Repeated pairs are kept. `scratch` has room for every
// pair.
inline void rows_from_pairs(std::span<const std::int32_t> i, std::span<const std::int32_t> j,
                            std::span<std::int64_t> offsets, std::span<std::int32_t> indices,
                            std::span<CanonicalPair> scratch) {
  // Scattering is faster with few buckets, as long as the rows of a bucket and their entries fit into the level-2
  // cache.
  constexpr std::size_t enough_buckets = 256, most_buckets = 1024, most_pieces = 256;
  constexpr std::size_t cached_rows = std::size_t{1} << 12, cached_entries = std::size_t{1} << 15;
  const std::size_t size = i.size(), rows = offsets.size() - 1;
  const std::size_t per_row = size / std::max<std::size_t>(rows, 1);
  const auto fits = [&](int shift) {
    const std::size_t bucket_rows = std::size_t{1} << shift;
    return bucket_rows < cached_rows && bucket_rows * per_row < cached_entries;
  };
  int shift = 0;
  while ((rows >> shift) >= (fits(shift) ? enough_buckets : most_buckets)) ++shift;
  const std::size_t buckets = (rows >> shift) + 1;
  const std::size_t grain = std::max<std::size_t>(std::size_t{1} << 14, size / most_pieces + 1);
  const std::size_t pieces = (size + grain - 1) / grain;
  const auto bucket_of = [&](const CanonicalPair& pair) { return static_cast<std::size_t>(pair.low) >> shift; };

  // starts[piece][bucket]: first the number of pairs, then the position of the next one.
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

  parallel_ranges(size, grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    auto& next = starts[piece];
    for (std::size_t k = begin; k < end; ++k) {
      const CanonicalPair pair = detail::canonical(i[k], j[k]);
      scratch[next[bucket_of(pair)]++] = pair;
    }
  });

  offsets[rows] = static_cast<std::int64_t>(size);
  parallel_for(buckets, [&](std::size_t bucket, int) {
    const std::size_t row_begin = bucket << shift, row_end = std::min(rows, (bucket + 1) << shift);
    if (row_begin >= row_end) return;
    const std::size_t begin = bucket_start[bucket], end = bucket_start[bucket + 1];
    std::vector<std::size_t> next(row_end - row_begin, 0);
    const auto row_in = [&](const CanonicalPair& pair) { return static_cast<std::size_t>(pair.low) - row_begin; };
    for (std::size_t k = begin; k < end; ++k) ++next[row_in(scratch[k])];
    std::size_t place = begin;
    for (std::size_t row = 0; row < next.size(); ++row) {
      offsets[row_begin + row] = static_cast<std::int64_t>(place);
      place += std::exchange(next[row], place - begin);
    }
    std::vector<std::int32_t> placed(end - begin + detail::few);
    for (std::size_t k = begin; k < end; ++k) placed[next[row_in(scratch[k])]++] = scratch[k].high;
    std::size_t from = 0;
    for (const std::size_t to : next) {
      // Entries written past the end of a row are overwritten by the next rows, except at the end of the bucket.
      if (to - from <= detail::few && begin + from + detail::few <= end) {
        detail::sort_few(placed.data() + from, to - from, indices.data() + begin + from);
      } else {
        sort_row(placed.data() + from, to - from, indices.data() + begin + from);
      }
      from = to;
    }
  });
}

}  // namespace vicinal
