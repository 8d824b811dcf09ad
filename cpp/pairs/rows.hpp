// Rows: the partners of every query, in the user's order of queries; the base of everything that has an order.
//
// A row's place is known only when all rows before it are counted, so the test runs twice. Keeping the hits in between
// would cost more than testing again: a test is a quarter of a nanosecond, a touched cache line is not.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "pairs/search.hpp"

namespace vicinal {

// Which hits of a row are kept.
enum class Keep {
  all,
  upper,  // only partners with a larger number: each pair once (of a body's own images, one of two opposite ones)
};

namespace detail {

inline bool positive(const Shift& shift) {
  for (std::size_t a = 0; a < 3; ++a)
    if (shift[a] != 0) return shift[a] > 0;
  return false;
}

// Takes hits from the buffer they were found in to the row they belong to, or only counts them.
template <class T, int D>
class RowWriter {
 public:
  // `left[id]`: entries of row id still to come when writing, found so far when counting (`offsets` is empty then).
  RowWriter(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, const Columns<T>& columns,
            std::span<const std::int64_t> offsets, std::int32_t* left, bool slots, Keep keep)
      : queries_(queries), bodies_(bodies), columns_(columns), offsets_(offsets), left_(left), slots_(slots),
        keep_(keep), buffer_(batch_hits + overshoot) {}

  HitRoom room(std::size_t) { return {buffer_.data(), nullptr}; }
  void take(Slot first, std::span<const std::uint32_t> counts, const Shift& shift) {
    std::int32_t* hits = buffer_.data();
    for (std::size_t k = 0; k < counts.size(); ++k) {
      take_row(first + static_cast<Slot>(k), hits, counts[k], shift);
      hits += counts[k];
    }
  }

 private:
  void take_row(Slot query, std::int32_t* hits, std::size_t n, const Shift& shift) {
    const std::int32_t id = queries_.ids[query];
    if (keep_ == Keep::upper) n = keep_upper(id, hits, n, detail::positive(shift));
    std::int32_t& left = left_[static_cast<std::size_t>(id)];
    if (offsets_.empty()) {
      left += static_cast<std::int32_t>(n);
      return;
    }
    const auto at = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(id) + 1] - left);
    left -= static_cast<std::int32_t>(n);
    if (slots_) describe_hits(queries_, bodies_, query, shift, hits, n, columns_, at);
    else if (columns_.j != nullptr) std::copy_n(hits, n, columns_.j + at);
  }

  std::size_t keep_upper(std::int32_t id, std::int32_t* hits, std::size_t n, bool positive) const {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const std::int32_t hit = hits[k];
      const std::int32_t partner = slots_ ? bodies_.ids[static_cast<std::size_t>(hit)] : hit;
      hits[kept] = hit;
      kept += partner > id || (partner == id && positive) ? 1 : 0;
    }
    return kept;
  }

  const Bodies<T, D>& queries_;
  const Bodies<T, D>& bodies_;
  Columns<T> columns_;
  std::span<const std::int64_t> offsets_;
  std::int32_t* left_;
  bool slots_;
  Keep keep_;
  Buffer<std::int32_t> buffer_;
};

template <class T, int D>
std::uint64_t run_rows(const Task<T, D>& task, const Columns<T>& columns, std::span<const std::int64_t> offsets,
                       std::int32_t* left, bool slots, Keep keep) {
  const Bodies<T, D>& bodies = task.index.bodies();
  const Payload<T, D> payload(bodies, slots);
  PerThread<RowWriter<T, D>> writers;
  return for_each_block(task, [&](Test<T, D>& test, const Block& block, std::size_t thread) {
    test.hits(block, payload.data(), writers.get(thread, [&](auto& w) {
      w.emplace(task.queries, bodies, columns, offsets, left, slots, keep);
    }));
  });
}

}  // namespace detail

// Row k is offsets[k] … offsets[k+1]-1.
template <class T, int D>
Found<T, D> find_rows(const Task<T, D>& task, const Want& want, Keep keep, std::span<std::int64_t> offsets,
                      Pool* pool) {
  const std::size_t n = task.queries.size;
  Buffer<std::int32_t> counts(n);
  Found<T, D> found;
  if (keep == Keep::all) {
    found.tally = count_partners(task, counts.span());
  } else {
    std::fill_n(counts.data(), n, 0);
    found.tally.candidates = detail::run_rows(task, {}, {}, counts.data(), false, keep);
  }
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    offsets[k] = sum;
    sum += counts[k];
  }
  offsets[n] = sum;
  found.size = static_cast<std::size_t>(sum);
  found.tally.pairs = found.size;
  found.store = ColumnStore<T, D>(want, found.size, pool);
  detail::run_rows(task, found.store.columns(), offsets, counts.data(), want.slots(), keep);
  return found;
}

// Puts every row into ascending order of partner, then of shift.
template <class T, int D>
void sort_rows(const Columns<T>& columns, std::span<const std::int64_t> offsets) {
  const bool plain = columns.distance == nullptr && columns.vector == nullptr && columns.shift == nullptr;
  parallel_ranges(offsets.size() - 1, 1024, [&](std::size_t first, std::size_t last, std::size_t) {
    std::vector<std::size_t> order;
    std::vector<std::byte> copy;
    for (std::size_t row = first; row < last; ++row) {
      const auto begin = static_cast<std::size_t>(offsets[row]);
      const auto size = static_cast<std::size_t>(offsets[row + 1]) - begin;
      if (plain) {
        std::sort(columns.j + begin, columns.j + begin + size);
        continue;
      }
      order.resize(size);
      std::iota(order.begin(), order.end(), begin);
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (columns.j[a] != columns.j[b]) return columns.j[a] < columns.j[b];
        if (columns.shift == nullptr) return false;
        return std::lexicographical_compare(columns.shift + a * D, columns.shift + a * D + D, columns.shift + b * D,
                                            columns.shift + b * D + D);
      });
      Columns<T>::template for_each<D>(columns, columns, [&](void* column, void*, std::size_t bytes) {
        if (column == nullptr) return;
        auto* const base = static_cast<std::byte*>(column);
        copy.resize(size * bytes);
        for (std::size_t k = 0; k < size; ++k) std::memcpy(copy.data() + k * bytes, base + order[k] * bytes, bytes);
        std::memcpy(base + begin * bytes, copy.data(), size * bytes);
      });
    }
  });
}

// All pairs in canonical order: by i, then j, then shift; of a half list with i < j.
template <class T, int D>
Found<T, D> find_sorted_pairs(const Task<T, D>& task, const Want& want, Pool* pool) {
  Want needed = want;
  needed.i = false;
  needed.j = true;
  // Images of one pair are told apart by their shift, so ordering them needs it.
  needed.shift = want.shift || (task.queries.box.periodic() && want.slots());
  Task<T, D> whole = task;
  const Keep keep = task.mode == Mode::half ? Keep::upper : Keep::all;
  if (task.mode == Mode::half) whole.mode = Mode::full;
  const std::size_t n = task.queries.size;
  Buffer<std::int64_t> offsets(n + 1);
  Found<T, D> found = find_rows(whole, needed, keep, offsets.span(), pool);
  sort_rows<T, D>(found.store.columns(), offsets.span());
  if (want.i) {
    Want only_i;
    only_i.i = true;
    found.store.i = std::move(ColumnStore<T, D>(only_i, found.size, pool).i);
    auto* const i = found.store.columns().i;
    parallel_ranges(n, 4096, [&](std::size_t first, std::size_t last, std::size_t) {
      for (std::size_t row = first; row < last; ++row)
        std::fill(i + offsets[row], i + offsets[row + 1], static_cast<std::int32_t>(row));
    });
  }
  if (!want.j) found.store.j = Region();
  if (!want.shift) found.store.shift = Region();
  return found;
}

}  // namespace vicinal
