// The definition of order_by_key; included only to instantiate it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "index/bodies.hpp"
#include "index/cell_order.hpp"

namespace vicinal {

namespace detail {

template <class Hot, std::size_t Columns, class Key>
struct Record {
  std::array<Hot, Columns> x;
  std::int32_t id;
  Key key;
};

// Bodies per bucket that make a bucket's records and its output fit a level-2 cache together.
inline constexpr std::size_t bucket_bodies = 4096;
inline constexpr std::size_t most_buckets = 1024;
template <class T, int D, class Hot, std::size_t Columns, class Key>
class KeySorter {
 public:
  KeySorter(std::uint64_t limit, const KeySource& source, Bodies<T, D>& bodies)
      : limit_(limit), source_(source), bodies_(bodies), n_(bodies.size) {}

  void run() {
    plan();
    find_keys();
    into_buckets();
    keys_.release();
    sort_buckets();
    join_groups();
  }

 private:
  using Item = Record<Hot, Columns, Key>;

  void plan() {
    const auto wanted = std::clamp<std::size_t>(n_ / bucket_bodies, 1, most_buckets);
    const auto key_bits = static_cast<int>(std::bit_width(limit_ - 1));
    const int bucket_bits = std::min(key_bits, static_cast<int>(std::bit_width(wanted)) - 1);
    shift_ = key_bits - bucket_bits;
    buckets_ = static_cast<std::size_t>(((limit_ - 1) >> shift_) + 1);
    const auto threads = static_cast<std::size_t>(thread_count());
    grain_ = std::max<std::size_t>((n_ + threads - 1) / threads, bucket_bodies);
    pieces_ = (n_ + grain_ - 1) / grain_;
    keys_.reset(n_);
    starts_.assign(pieces_ * buckets_, 0);
    items_.reset(n_);
  }

  // In 64 bits: a key of 32 bits may have to be shifted by all of them.
  [[nodiscard]] std::size_t bucket_of(std::uint64_t key) const { return static_cast<std::size_t>(key >> shift_); }

  void find_keys() {
    parallel_ranges(n_, grain_, [&](std::size_t begin, std::size_t end, std::size_t piece) {
      std::uint32_t* const count = starts_.data() + piece * buckets_;
      constexpr std::size_t chunk = 1024;  // so that keys are counted while they are in the first cache
      for (std::size_t first = begin; first < end; first += chunk) {
        const std::size_t last = std::min(first + chunk, end);
        source_.fill(first, last, keys_.data() + first);
        for (std::size_t p = first; p < last; ++p) ++count[bucket_of(keys_[p])];
      }
    });
    // The start of each piece in each bucket: bucket by bucket, within a bucket piece by piece, so the sort is stable.
    bucket_begin_.assign(buckets_ + 1, 0);
    std::uint32_t sum = 0;
    for (std::size_t b = 0; b < buckets_; ++b) {
      bucket_begin_[b] = sum;
      for (std::size_t piece = 0; piece < pieces_; ++piece) sum += std::exchange(starts_[piece * buckets_ + b], sum);
    }
    bucket_begin_[buckets_] = sum;
  }

  void into_buckets() {
    parallel_ranges(n_, grain_, [&](std::size_t begin, std::size_t end, std::size_t piece) {
      std::uint32_t* const next = starts_.data() + piece * buckets_;
      for (std::size_t p = begin; p < end; ++p) {
        const Key key = keys_[p];
        Item& item = items_[next[bucket_of(key)]++];
        bodies_.values(p, item.x.data(), Columns);
        item.id = static_cast<std::int32_t>(p);
        item.key = key;
      }
    });
  }

  void place(const Item& item, std::size_t slot) {
    bodies_.ids[slot] = item.id;
    for (std::size_t c = 0; c < Columns; ++c) {
      if constexpr (std::is_same_v<Hot, T>) bodies_.exact[c][slot] = item.x[c];
      else bodies_.near[c][slot] = item.x[c];
    }
  }

  void sort_buckets() {
    // There are at most as many groups as bodies; unused pages are never touched.
    group_key_.reset(n_);
    group_begin_.reset(n_);
    group_count_.assign(buckets_ + 1, 0);
    std::vector<std::vector<std::uint32_t>> counters(static_cast<std::size_t>(thread_count()));
    parallel_for(buckets_, [&](std::size_t bucket, int thread) {
      const std::size_t begin = bucket_begin_[bucket];
      const std::size_t end = bucket_begin_[bucket + 1];
      if (begin == end) return;
      Key low = items_[begin].key;
      Key high = low;
      for (std::size_t k = begin; k < end; ++k) {
        low = std::min(low, items_[k].key);
        high = std::max(high, items_[k].key);
      }
      const auto span = static_cast<std::uint64_t>(high - low) + 1;
      if (counting_pays(span, static_cast<std::uint64_t>(end - begin)))
        count_bucket(bucket, low, static_cast<std::size_t>(span), counters[static_cast<std::size_t>(thread)]);
      else compare_bucket(bucket, low, high);
    });
  }

  void count_bucket(std::size_t bucket, Key low, std::size_t span, std::vector<std::uint32_t>& counter) {
    const std::size_t begin = bucket_begin_[bucket];
    const std::size_t end = bucket_begin_[bucket + 1];
    counter.assign(span, 0);
    for (std::size_t k = begin; k < end; ++k) ++counter[static_cast<std::size_t>(items_[k].key - low)];
    std::size_t groups = 0;
    auto sum = static_cast<std::uint32_t>(begin);
    for (std::size_t c = 0; c < span; ++c) {
      const std::uint32_t here = std::exchange(counter[c], sum);
      if (here == 0) continue;
      group_key_[begin + groups] = static_cast<std::uint64_t>(low) + c;
      group_begin_[begin + groups] = sum;
      ++groups;
      sum += here;
    }
    group_count_[bucket] = groups;
    for (std::size_t k = begin; k < end; ++k) {
      const Item& item = items_[k];
      place(item, counter[static_cast<std::size_t>(item.key - low)]++);
    }
  }

  using Entry = std::pair<Key, std::uint32_t>;

  // Keys and places of the items of a bucket in ascending order: distributed by their leading bits, so that few are
  // left to compare.
  std::vector<Entry> sorted_entries(std::size_t begin, std::size_t end, Key low, Key high) const {
    const std::size_t n = end - begin;
    const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(high - low)));
    const int shift = std::max(0, bits - static_cast<int>(std::bit_width(n)));
    const auto part_of = [&](Key key) {
      return static_cast<std::size_t>(static_cast<std::uint64_t>(key - low) >> shift);
    };
    std::vector<std::uint32_t> next(part_of(high) + 2, 0);
    for (std::size_t k = begin; k < end; ++k) ++next[part_of(items_[k].key) + 1];
    for (std::size_t p = 1; p < next.size(); ++p) next[p] += next[p - 1];
    std::vector<Entry> order(n);
    for (std::size_t k = begin; k < end; ++k)
      order[next[part_of(items_[k].key)]++] = {items_[k].key, static_cast<std::uint32_t>(k)};
    // Now next[p] is the end of part p.
    constexpr std::uint32_t few = 16;
    for (std::size_t p = 0, first = 0; first < n; first = next[p++]) {
      const std::size_t last = next[p];
      if (last - first > few) {
        std::sort(order.begin() + static_cast<std::ptrdiff_t>(first),
                  order.begin() + static_cast<std::ptrdiff_t>(last));
        continue;
      }
      for (std::size_t k = first + 1; k < last; ++k) {
        const Entry entry = order[k];
        std::size_t to = k;
        for (; to > first && entry.first < order[to - 1].first; --to) order[to] = order[to - 1];
        order[to] = entry;
      }
    }
    return order;
  }

  // Few bodies in a large range of keys.
  void compare_bucket(std::size_t bucket, Key low, Key high) {
    const std::size_t begin = bucket_begin_[bucket];
    const std::size_t end = bucket_begin_[bucket + 1];
    const std::vector<Entry> order = sorted_entries(begin, end, low, high);
    std::size_t groups = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t slot = begin + k;
      place(items_[order[k].second], slot);
      if (k > 0 && order[k].first == order[k - 1].first) continue;
      group_key_[begin + groups] = order[k].first;
      group_begin_[begin + groups] = static_cast<std::uint32_t>(slot);
      ++groups;
    }
    group_count_[bucket] = groups;
  }

  void join_groups() {
    std::size_t sum = 0;
    for (auto& count : group_count_) sum += std::exchange(count, sum);
    bodies_.groups = sum;
    bodies_.group_key.reset(sum + 1);
    bodies_.group_begin.reset(sum + 1);
    parallel_for(buckets_, [&](std::size_t bucket, int) {
      const std::size_t from = bucket_begin_[bucket];
      const std::size_t to = group_count_[bucket];
      const std::size_t count = group_count_[bucket + 1] - to;
      std::copy_n(group_key_.data() + from, count, bodies_.group_key.data() + to);
      std::copy_n(group_begin_.data() + from, count, bodies_.group_begin.data() + to);
    });
    bodies_.group_key[sum] = Bodies<T, D>::no_key;
    bodies_.group_begin[sum] = static_cast<std::uint32_t>(n_);
  }

  std::uint64_t limit_;
  const KeySource& source_;
  Bodies<T, D>& bodies_;
  std::size_t n_;
  int shift_ = 0;
  std::size_t buckets_ = 1, pieces_ = 1, grain_ = 1;
  Buffer<Key> keys_;
  Buffer<Item> items_;
  std::vector<std::uint32_t> starts_;        // [piece][bucket]
  std::vector<std::uint32_t> bucket_begin_;  // [bucket]
  Buffer<std::uint64_t> group_key_;
  Buffer<std::uint32_t> group_begin_;
  std::vector<std::size_t> group_count_;  // [bucket]; then the start of its groups
};

}  // namespace detail

template <class T, int D>
void order_by_key(std::uint64_t limit, const KeySource& source, Bodies<T, D>& bodies) {
  if (bodies.size == 0) {
    bodies.groups = 0;
    bodies.group_key.reset(1);
    bodies.group_key[0] = Bodies<T, D>::no_key;
    bodies.group_begin.reset(1);
    bodies.group_begin[0] = 0;
    return;
  }
  const auto sort = [&]<class Hot, std::size_t Columns>() {
    if (limit <= std::uint64_t{1} << 32)
      detail::KeySorter<T, D, Hot, Columns, std::uint32_t>(limit, source, bodies).run();
    else detail::KeySorter<T, D, Hot, Columns, std::uint64_t>(limit, source, bodies).run();
  };
  const bool spheres = bodies.raw.shape == Shape::sphere;
  if (std::is_same_v<T, double> && bodies.banded) {
    if (spheres) sort.template operator()<float, D + 1>();
    else sort.template operator()<float, D>();
  } else {
    if (spheres) sort.template operator()<T, D + 1>();
    else if (bodies.raw.shape == Shape::point) sort.template operator()<T, D>();
    else sort.template operator()<T, 2 * D>();
  }
}

template <class T, int D>
void order_by_cell(const Grid& grid, Bodies<T, D>& bodies) {
  const detail::CellKeys<T, D> keys(grid, bodies);
  order_by_key<T, D>(grid.keys, keys, bodies);
}

}  // namespace vicinal
