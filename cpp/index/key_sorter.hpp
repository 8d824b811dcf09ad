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

// The keys of records, wherever these are in memory.
template <class Key>
class RecordKeys {
 public:
  template <class Item>
  explicit RecordKeys(const Item* items)
      : first_(reinterpret_cast<const std::byte*>(&items->key)), stride_(sizeof(Item)) {}
  Key operator[](std::size_t k) const { return *reinterpret_cast<const Key*>(first_ + k * stride_); }

 private:
  const std::byte* first_;
  std::size_t stride_;
};

// What depends on keys only, so that it is compiled twice and not for every kind of record.
template <class Key>
class KeyBuckets {
 public:
  KeyBuckets(std::uint64_t limit, const KeySource& source, std::size_t n) : n_(n) {
    plan(limit);
    find_keys(source);
  }

  // In 64 bits: a key of 32 bits may have to be shifted by all of them.
  [[nodiscard]] std::size_t of(std::uint64_t key) const { return static_cast<std::size_t>(key >> shift_); }
  [[nodiscard]] std::size_t count() const { return buckets_; }
  [[nodiscard]] std::size_t begin(std::size_t bucket) const { return bucket_begin_[bucket]; }

  // Calls f(begin, end, keys, next) for pieces of all bodies: next[bucket] is the place of the piece's next record of a
  // bucket. The keys are dropped afterwards.
  template <class F>
  void distribute(F&& f) {
    parallel_ranges(n_, grain_, [&](std::size_t begin, std::size_t end, std::size_t piece) {
      f(begin, end, keys_.data(), starts_.data() + piece * buckets_);
    });
    keys_.release();
    // There are at most as many groups as bodies; unused pages are never touched.
    group_key_.reset(n_);
    group_begin_.reset(n_);
    group_count_.assign(buckets_ + 1, 0);
  }

  // Counts the keys of a bucket, which begin with `low`. Replaces counts by the places of the first record of each key,
  // and adds the groups.
  void count_keys(std::size_t bucket, RecordKeys<Key> keys, Key low, std::vector<std::uint32_t>& counter) {
    const std::size_t begin = bucket_begin_[bucket], end = bucket_begin_[bucket + 1];
    for (std::size_t k = begin; k < end; ++k) ++counter[static_cast<std::size_t>(keys[k] - low)];
    std::size_t groups = 0;
    auto sum = static_cast<std::uint32_t>(begin);
    for (std::size_t c = 0; c < counter.size(); ++c) {
      const std::uint32_t here = std::exchange(counter[c], sum);
      if (here == 0) continue;
      group_key_[begin + groups] = static_cast<std::uint64_t>(low) + c;
      group_begin_[begin + groups] = sum;
      ++groups;
      sum += here;
    }
    group_count_[bucket] = groups;
  }

  using Entry = std::pair<Key, std::uint32_t>;

  // Adds the groups of a bucket, and returns keys and places of its records in ascending order: distributed by their
  // leading bits, so that few are left to compare.
  std::vector<Entry> sort_keys(std::size_t bucket, RecordKeys<Key> keys, Key low, Key high) {
    const std::size_t begin = bucket_begin_[bucket], end = bucket_begin_[bucket + 1];
    const std::size_t n = end - begin;
    const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(high - low)));
    const int shift = std::max(0, bits - static_cast<int>(std::bit_width(n)));
    const auto part_of = [&](Key key) {
      return static_cast<std::size_t>(static_cast<std::uint64_t>(key - low) >> shift);
    };
    std::vector<std::uint32_t> next(part_of(high) + 2, 0);
    for (std::size_t k = begin; k < end; ++k) ++next[part_of(keys[k]) + 1];
    for (std::size_t p = 1; p < next.size(); ++p) next[p] += next[p - 1];
    std::vector<Entry> order(n);
    for (std::size_t k = begin; k < end; ++k)
      order[next[part_of(keys[k])]++] = {keys[k], static_cast<std::uint32_t>(k)};
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
    std::size_t groups = 0;
    for (std::size_t k = 0; k < n; ++k) {
      if (k > 0 && order[k].first == order[k - 1].first) continue;
      group_key_[begin + groups] = order[k].first;
      group_begin_[begin + groups] = static_cast<std::uint32_t>(begin + k);
      ++groups;
    }
    group_count_[bucket] = groups;
    return order;
  }

  // Writes the groups of all buckets, and one past the end. Returns their number.
  std::size_t join_groups(Buffer<std::uint64_t>& keys, Buffer<std::uint32_t>& begins, std::uint64_t no_key) {
    std::size_t sum = 0;
    for (auto& count : group_count_) sum += std::exchange(count, sum);
    keys.reset(sum + 1);
    begins.reset(sum + 1);
    parallel_for(buckets_, [&](std::size_t bucket, int) {
      const std::size_t from = bucket_begin_[bucket];
      const std::size_t to = group_count_[bucket];
      const std::size_t count = group_count_[bucket + 1] - to;
      std::copy_n(group_key_.data() + from, count, keys.data() + to);
      std::copy_n(group_begin_.data() + from, count, begins.data() + to);
    });
    keys[sum] = no_key;
    begins[sum] = static_cast<std::uint32_t>(n_);
    return sum;
  }

 private:
  void plan(std::uint64_t limit) {
    const auto wanted = std::clamp<std::size_t>(n_ / bucket_bodies, 1, most_buckets);
    const auto key_bits = static_cast<int>(std::bit_width(limit - 1));
    const int bucket_bits = std::min(key_bits, static_cast<int>(std::bit_width(wanted)) - 1);
    shift_ = key_bits - bucket_bits;
    buckets_ = static_cast<std::size_t>(((limit - 1) >> shift_) + 1);
    const auto threads = static_cast<std::size_t>(thread_count());
    grain_ = std::max<std::size_t>((n_ + threads - 1) / threads, bucket_bodies);
    pieces_ = (n_ + grain_ - 1) / grain_;
    keys_.reset(n_);
    starts_.assign(pieces_ * buckets_, 0);
  }

  void find_keys(const KeySource& source) {
    parallel_ranges(n_, grain_, [&](std::size_t begin, std::size_t end, std::size_t piece) {
      std::uint32_t* const count = starts_.data() + piece * buckets_;
      constexpr std::size_t chunk = 1024;  // so that keys are counted while they are in the first cache
      for (std::size_t first = begin; first < end; first += chunk) {
        const std::size_t last = std::min(first + chunk, end);
        source.fill(first, last, keys_.data() + first);
        for (std::size_t p = first; p < last; ++p) ++count[of(keys_[p])];
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

  std::size_t n_;
  int shift_ = 0;
  std::size_t buckets_ = 1, pieces_ = 1, grain_ = 1;
  Buffer<Key> keys_;
  std::vector<std::uint32_t> starts_;        // [piece][bucket]
  std::vector<std::uint32_t> bucket_begin_;  // [bucket]
  Buffer<std::uint64_t> group_key_;
  Buffer<std::uint32_t> group_begin_;
  std::vector<std::size_t> group_count_;  // [bucket]; then the start of its groups
};

// Where the numbers of bodies go.
template <class Hot, std::size_t Columns>
struct SlotColumns {
  std::int32_t* ids;
  std::array<Hot*, Columns> x;
};

// Writes the records of every bucket to their slots. It does not depend on the dimension: a sphere in the plane has as
// many numbers as a point in space.
template <class Hot, std::size_t Columns, class Key>
[[gnu::noinline]] void sort_buckets(KeyBuckets<Key>& buckets, const Record<Hot, Columns, Key>* items,
                                    const SlotColumns<Hot, Columns>& slots) {
  std::vector<std::vector<std::uint32_t>> counters(static_cast<std::size_t>(thread_count()));
  parallel_for(buckets.count(), [&](std::size_t bucket, int thread) {
    const SlotColumns<Hot, Columns> to = slots;
    const auto place = [&](const Record<Hot, Columns, Key>& item, std::size_t slot) {
      to.ids[slot] = item.id;
      for (std::size_t c = 0; c < Columns; ++c) to.x[c][slot] = item.x[c];
    };
    const std::size_t begin = buckets.begin(bucket);
    const std::size_t end = buckets.begin(bucket + 1);
    if (begin == end) return;
    Key low = items[begin].key;
    Key high = low;
    for (std::size_t k = begin; k < end; ++k) {
      low = std::min(low, items[k].key);
      high = std::max(high, items[k].key);
    }
    const RecordKeys<Key> keys(items);
    const auto span = static_cast<std::uint64_t>(high - low) + 1;
    if (counting_pays(span, static_cast<std::uint64_t>(end - begin))) {
      auto& next = counters[static_cast<std::size_t>(thread)];
      next.assign(static_cast<std::size_t>(span), 0);
      buckets.count_keys(bucket, keys, low, next);
      for (std::size_t k = begin; k < end; ++k) place(items[k], next[static_cast<std::size_t>(items[k].key - low)]++);
    } else {
      // Few bodies in a large range of keys.
      const auto order = buckets.sort_keys(bucket, keys, low, high);
      for (std::size_t k = 0; k < order.size(); ++k) place(items[order[k].second], begin + k);
    }
  });
}

template <class Hot, std::size_t Columns, class Key, class T, int D>
void sort_by_key(std::uint64_t limit, const KeySource& source, Bodies<T, D>& bodies) {
  KeyBuckets<Key> buckets(limit, source, bodies.size);
  Buffer<Record<Hot, Columns, Key>> items;
  items.reset(bodies.size);
  buckets.distribute([&](std::size_t begin, std::size_t end, const Key* keys, std::uint32_t* next) {
    for (std::size_t p = begin; p < end; ++p) {
      const Key key = keys[p];
      auto& item = items[next[buckets.of(key)]++];
      bodies.values(p, item.x.data(), Columns);
      item.id = static_cast<std::int32_t>(p);
      item.key = key;
    }
  });
  SlotColumns<Hot, Columns> slots{bodies.ids.data(), {}};
  for (std::size_t c = 0; c < Columns; ++c) {
    if constexpr (std::is_same_v<Hot, T>) slots.x[c] = bodies.exact[c].data();
    else slots.x[c] = bodies.near[c].data();
  }
  sort_buckets(buckets, items.data(), slots);
  bodies.groups = buckets.join_groups(bodies.group_key, bodies.group_begin, Bodies<T, D>::no_key);
}

// The keys of cells without calls in the loop over bodies: the compiler limits how much this small unit may grow.
template <class T, int D>
struct FlatCellKeys : CellKeys<T, D> {
  using CellKeys<T, D>::CellKeys;
  template <class F>
  [[gnu::flatten]] void for_each(std::size_t begin, std::size_t end, F&& f) const {
    CellKeys<T, D>::for_each(begin, end, f);
  }
};

// The keys of the cells of bodies in a tilted cell. Their positions are wrapped on the way, into `wrapped`.
template <class T, int D>
class WrappedCellKeys {
 public:
  WrappedCellKeys(const Grid& grid, const Box<T, D>& box, const T* given, T* wrapped)
      : grid_(grid), box_(box), given_(given), wrapped_(wrapped) {}

  template <class F>
  [[gnu::flatten]] void for_each(std::size_t begin, std::size_t end, F&& f) const {
    box_.wrap_all(given_ + begin * D, end - begin, wrapped_ + begin * D, nullptr);
    const PlainKey<D> key_of(grid_);
    const bool plain = grid_.plain();
    for (std::size_t p = begin; p < end; ++p) {
      std::array<T, D> x;
      std::array<double, D> place;
      for (std::size_t a = 0; a < D; ++a) x[a] = wrapped_[p * D + a];
      for (std::size_t a = 0; a < D; ++a) place[a] = box_.along(x, static_cast<int>(a));
      if (plain) {
        f(p, key_of(place));
        continue;
      }
      std::array<std::int64_t, 3> cell{};
      for (std::size_t a = 0; a < D; ++a) cell[a] = grid_.axis[a].cell(place[a]);
      f(p, grid_.key(cell));
    }
  }

 private:
  const Grid& grid_;
  const Box<T, D>& box_;
  const T* given_;
  T* wrapped_;
};

// While it exists, bodies in a tilted cell are bodies of open space at the positions given.
template <class T, int D>
class InOpenSpace {
 public:
  InOpenSpace(Bodies<T, D>& bodies, const T* positions) : bodies_(bodies), data_(bodies.raw.data), box_(bodies.box) {
    bodies.raw.data = positions;
    bodies.box = {};
  }
  ~InOpenSpace() {
    bodies_.raw.data = data_;
    bodies_.box = box_;
  }
  InOpenSpace(const InOpenSpace&) = delete;
  InOpenSpace& operator=(const InOpenSpace&) = delete;

 private:
  Bodies<T, D>& bodies_;
  const T* const data_;
  const Box<T, D> box_;
};

// Orders points or spheres in a tilted cell. They are wrapped once, and sorted as bodies of open space that are where
// wrapping has put them: their numbers in the frame are the same.
template <class T, int D>
void order_wrapped(const Grid& grid, Bodies<T, D>& bodies) {
  const Box<T, D> box = bodies.box;
  Buffer<T> wrapped(bodies.size * D);
  const WrappedCellKeys<T, D> keys(grid, box, bodies.raw.data, wrapped.data());
  const InOpenSpace<T, D> open(bodies, wrapped.data());
  order_by_key<T, D>(grid.keys, keys, bodies);
}

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
    if (limit <= std::uint64_t{1} << 32) detail::sort_by_key<Hot, Columns, std::uint32_t>(limit, source, bodies);
    else detail::sort_by_key<Hot, Columns, std::uint64_t>(limit, source, bodies);
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
  if (bodies.box.tilted && bodies.raw.shape != Shape::box) {
    detail::order_wrapped(grid, bodies);
    return;
  }
  const detail::FlatCellKeys<T, D> keys(grid, bodies);
  order_by_key<T, D>(grid.keys, keys, bodies);
}

}  // namespace vicinal
