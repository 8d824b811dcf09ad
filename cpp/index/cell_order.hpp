// Sorts bodies by a key, such as the cell they are in: keys, one pass into buckets that fit a cache, a counting sort in
// each.
//
// Scattering a million bodies straight to their cells misses the cache on every write. Here the first pass writes to at
// most 1024 places at a time and the second stays inside the level-2 cache; both run on all threads, and the order
// (by cell, then by the user's number) does not depend on how many there are.
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
#include "geometry/grid.hpp"
#include "index/bodies.hpp"

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
// Whether to count the keys of bodies rather than to compare them: clearing and reading a counter takes about half a
// nanosecond, sorting a body by comparison a few tens.
template <class Number>
constexpr bool counting_pays(Number keys, Number bodies) {
  return keys <= 32 * bodies + 4096;
}

// `KeysOf` has for_each(begin, end, f): f(body, key) for the bodies as the user numbers them.
template <class T, int D, class Hot, std::size_t Columns, class Key, class KeysOf>
class KeySorter {
 public:
  KeySorter(std::uint64_t keys, const KeysOf& keys_of, Bodies<T, D>& bodies)
      : limit_(keys), keys_of_(keys_of), bodies_(bodies), n_(bodies.size) {}

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
      keys_of_.for_each(begin, end, [&](std::size_t p, std::uint64_t key) {
        keys_[p] = static_cast<Key>(key);
        ++count[bucket_of(key)];
      });
    });
    // Where each piece starts in each bucket: bucket by bucket, within a bucket piece by piece, so the sort is stable.
    bucket_begin_.assign(buckets_ + 1, 0);
    std::uint32_t sum = 0;
    for (std::size_t b = 0; b < buckets_; ++b) {
      bucket_begin_[b] = sum;
      for (std::size_t piece = 0; piece < pieces_; ++piece) sum += std::exchange(starts_[piece * buckets_ + b], sum);
    }
    bucket_begin_[buckets_] = sum;
  }

  [[nodiscard]] Hot hot(std::size_t point, std::size_t column) const {
    const int c = static_cast<int>(column);
    if constexpr (std::is_same_v<Hot, T>) return bodies_.value(point, c);
    else return bodies_.near_value(point, c);
  }

  void into_buckets() {
    parallel_ranges(n_, grain_, [&](std::size_t begin, std::size_t end, std::size_t piece) {
      std::uint32_t* const next = starts_.data() + piece * buckets_;
      for (std::size_t p = begin; p < end; ++p) {
        const Key key = keys_[p];
        Item& item = items_[next[bucket_of(key)]++];
        for (std::size_t c = 0; c < Columns; ++c) item.x[c] = hot(p, c);
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
    // At most as many groups as bodies; pages that stay empty are never touched.
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
      else compare_bucket(bucket);
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

  // Few bodies in a vast range of keys.
  void compare_bucket(std::size_t bucket) {
    const std::size_t begin = bucket_begin_[bucket];
    const std::size_t end = bucket_begin_[bucket + 1];
    std::vector<std::pair<Key, std::uint32_t>> order;
    order.reserve(end - begin);
    for (std::size_t k = begin; k < end; ++k) order.emplace_back(items_[k].key, static_cast<std::uint32_t>(k));
    std::sort(order.begin(), order.end());
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
  const KeysOf& keys_of_;
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
  std::vector<std::size_t> group_count_;  // [bucket], then where its groups start
};

// The key of the cell of each body.
template <class T, int D>
class CellKeys {
 public:
  CellKeys(const Grid& grid, const Bodies<T, D>& bodies) : grid_(grid), bodies_(bodies) {}

  template <class F>
  void for_each(std::size_t begin, std::size_t end, F&& f) const {
    if (grid_.plain()) {
      const PlainKey<D> key_of(grid_);
      for (std::size_t p = begin; p < end; ++p)
        f(p, key_of([&](int a) { return static_cast<double>(bodies_.value(p, a)); }));
      return;
    }
    for (std::size_t p = begin; p < end; ++p) {
      std::array<std::int64_t, 3> cell{};
      for (int a = 0; a < D; ++a)
        cell[static_cast<std::size_t>(a)] =
            grid_.axis[static_cast<std::size_t>(a)].cell(static_cast<double>(bodies_.value(p, a)));
      f(p, grid_.key(cell));
    }
  }

 private:
  const Grid& grid_;
  const Bodies<T, D>& bodies_;
};

}  // namespace detail

// Fills `bodies` (already `reset`) with slots in ascending order of key, then of the user's number, and with the groups
// of equal key. All keys are below `limit`.
template <class T, int D, class KeysOf>
void order_by_key(std::uint64_t limit, const KeysOf& keys_of, Bodies<T, D>& bodies) {
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
      detail::KeySorter<T, D, Hot, Columns, std::uint32_t, KeysOf>(limit, keys_of, bodies).run();
    else detail::KeySorter<T, D, Hot, Columns, std::uint64_t, KeysOf>(limit, keys_of, bodies).run();
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

// The same with the cells of a grid for keys.
template <class T, int D>
void order_by_cell(const Grid& grid, Bodies<T, D>& bodies) {
  order_by_key(grid.keys, detail::CellKeys<T, D>(grid, bodies), bodies);
}

}  // namespace vicinal
