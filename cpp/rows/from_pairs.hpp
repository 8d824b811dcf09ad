// Rows from pairs in any order, each row in ascending order.
//
// Scattering millions of pairs directly to their rows would miss the cache on every write. As in index/cell_order.hpp,
// a first pass writes to a limited number of places at a time, and everything else happens within a bucket of rows that
// fits the level-2 cache. The result does not depend on the number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "rows/sort_row.hpp"

namespace vicinal {

// The number of rows that the pairs need if each is in the row of its smaller id: one more than the largest of these.
// Nothing if an id is negative.
inline std::optional<std::size_t> rows_needed(std::span<const std::int32_t> i, std::span<const std::int32_t> j) {
  constexpr std::size_t grain = std::size_t{1} << 16;
  struct Piece {
    std::int32_t most = -1, signs = 0;
  };
  std::vector<Piece> pieces((i.size() + grain - 1) / grain);
  parallel_ranges(i.size(), grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    Piece all;
    for (std::size_t k = begin; k < end; ++k) {
      all.most = std::max(all.most, std::min(i[k], j[k]));
      all.signs |= i[k] | j[k];
    }
    pieces[piece] = all;
  });
  Piece all;
  for (const Piece& piece : pieces) {
    all.most = std::max(all.most, piece.most);
    all.signs |= piece.signs;
  }
  if (all.signs < 0) return std::nullopt;
  return static_cast<std::size_t>(all.most + 1);
}

// Keeps its scratch memory for the next call.
class RowsFromPairs {
 public:
  // Row k gets the neighbours of body k: every pair goes to the rows of both its bodies (`both`), or to the row of the
  // smaller id. Fills `offsets` (one more than the number of rows) and `indices`. Entries that are equal stay side by
  // side.
  void build(std::span<const std::int32_t> i, std::span<const std::int32_t> j, bool both,
             std::span<std::int64_t> offsets, std::int32_t* indices) {
    const std::size_t bodies = offsets.size() - 1;
    plan(bodies, i.size(), i.size() * (both ? 2 : 1));
    const auto for_each = [&](std::size_t begin, std::size_t end, auto&& f) {
      for (std::size_t k = begin; k < end; ++k) {
        const std::int32_t low = std::min(i[k], j[k]);
        const std::int32_t high = std::max(i[k], j[k]);
        f(Entry{low, high});
        if (both) f(Entry{high, low});
      }
    };
    into_buckets(i.size(), for_each);
    offsets[0] = 0;
    std::vector<std::vector<std::int64_t>> ends(static_cast<std::size_t>(thread_count()));
    parallel_for(buckets_, [&](std::size_t bucket, int thread) {
      into_rows(bucket, bodies, ends[static_cast<std::size_t>(thread)], offsets, indices);
    });
  }
  [[nodiscard]] std::size_t bytes() const { return entries_.bytes(); }

 private:
  struct Entry {
    std::int32_t row;
    std::int32_t index;
  };
  // Entries that fit a level-2 cache together with the rows they go to, and places a core can write to in turn.
  static constexpr std::size_t bucket_entries = std::size_t{1} << 15;
  static constexpr std::size_t most_buckets = 1024;

  void plan(std::size_t bodies, std::size_t pairs, std::size_t entries) {
    const std::size_t wanted = std::min(entries / bucket_entries + 1, most_buckets);
    shift_ = 0;
    while ((bodies >> shift_) >= wanted) ++shift_;
    buckets_ = (bodies >> shift_) + 1;
    const auto threads = static_cast<std::size_t>(thread_count());
    grain_ = std::max<std::size_t>((pairs + threads - 1) / threads, std::size_t{1} << 16);
    pieces_ = (pairs + grain_ - 1) / grain_;
    starts_.assign(pieces_ * buckets_, 0);
  }

  [[nodiscard]] std::size_t bucket_of(std::int32_t row) const { return static_cast<std::size_t>(row) >> shift_; }

  template <class ForEach>
  void into_buckets(std::size_t pairs, const ForEach& for_each) {
    parallel_ranges(pairs, grain_, [&](std::size_t begin, std::size_t end, std::size_t piece) {
      std::int64_t* const counts = starts_.data() + piece * buckets_;
      for_each(begin, end, [&](Entry entry) { ++counts[bucket_of(entry.row)]; });
    });
    bucket_begin_.assign(buckets_ + 1, 0);
    std::int64_t sum = 0;
    for (std::size_t b = 0; b < buckets_; ++b) {
      bucket_begin_[b] = sum;
      for (std::size_t piece = 0; piece < pieces_; ++piece) sum += std::exchange(starts_[piece * buckets_ + b], sum);
    }
    bucket_begin_[buckets_] = sum;
    entries_.reset(static_cast<std::size_t>(sum));
    parallel_ranges(pairs, grain_, [&](std::size_t begin, std::size_t end, std::size_t piece) {
      std::int64_t* const next = starts_.data() + piece * buckets_;
      for_each(begin, end,
               [&](Entry entry) { entries_[static_cast<std::size_t>(next[bucket_of(entry.row)]++)] = entry; });
    });
  }

  void into_rows(std::size_t bucket, std::size_t bodies, std::vector<std::int64_t>& ends,
                 std::span<std::int64_t> offsets, std::int32_t* indices) const {
    const std::size_t first = bucket << shift_;
    const std::size_t last = std::min(bodies, (bucket + 1) << shift_);
    const auto begin = static_cast<std::size_t>(bucket_begin_[bucket]);
    const auto end = static_cast<std::size_t>(bucket_begin_[bucket + 1]);
    ends.assign(last - first, 0);
    for (std::size_t k = begin; k < end; ++k) ++ends[static_cast<std::size_t>(entries_[k].row) - first];
    std::int64_t sum = bucket_begin_[bucket];
    for (std::size_t row = first; row < last; ++row) {
      sum += std::exchange(ends[row - first], sum);
      offsets[row + 1] = sum;
    }
    for (std::size_t k = begin; k < end; ++k) {
      const Entry entry = entries_[k];
      indices[ends[static_cast<std::size_t>(entry.row) - first]++] = entry.index;
    }
    std::int64_t from = bucket_begin_[bucket];
    for (std::size_t row = first; row < last; ++row) {
      sort_row(indices + from, static_cast<std::size_t>(offsets[row + 1] - from));
      from = offsets[row + 1];
    }
  }

  unsigned shift_ = 0;
  std::size_t buckets_ = 1, pieces_ = 0, grain_ = 1;
  std::vector<std::int64_t> starts_;        // [piece][bucket]
  std::vector<std::int64_t> bucket_begin_;  // [bucket]
  Buffer<Entry> entries_;
};

}  // namespace vicinal
