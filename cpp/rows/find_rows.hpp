// Searches for rows: the neighbours of every query, in the user's order of queries.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "exec/prefetch.hpp"
#include "pairs/search.hpp"
#include "rows/hit_log.hpp"
#include "rows/rows.hpp"
#include "rows/sort_row.hpp"

namespace vicinal {

namespace detail {

// Where the log of a part is.
struct PartOfLog {
  std::size_t thread = 0, log_begin = 0, log_end = 0, first_hit = 0;
};

// Rows are short: four at a time and the last four once more beats a call.
inline void copy_row(const std::int32_t* from, std::size_t n, std::int32_t* to) {
  constexpr std::size_t four = 4 * sizeof(std::int32_t);
  if (n < 4) {
    for (std::size_t k = 0; k < n; ++k) to[k] = from[k];
    return;
  }
  for (std::size_t k = 0; k + 4 < n; k += 4) std::memcpy(to + k, from + k, four);
  std::memcpy(to + n - 4, from + n - 4, four);
}

// Copies to rows all over memory, each a few rows after it was asked for: by then its place has come into the cache.
class RowCopier {
 public:
  void add(const std::int32_t* from, std::uint32_t n, std::int32_t* to) {
    constexpr std::size_t line = cache_line / sizeof(std::int32_t);
    for (std::size_t k = 0; k < lines; ++k) prefetch_to_write(to + k * line);
    Copy& slot = waiting_[next_++ % waiting_.size()];
    copy_row(slot.from, slot.n, slot.to);
    slot = {from, n, to};
  }
  void finish() {
    for (Copy& slot : waiting_) copy_row(slot.from, std::exchange(slot.n, 0), slot.to);
  }

 private:
  struct Copy {
    const std::int32_t* from = nullptr;
    std::uint32_t n = 0;
    std::int32_t* to = nullptr;
  };
  static constexpr std::size_t lines = 3;  // what some thirty entries touch; a longer row brings the rest itself
  std::array<Copy, 16> waiting_{};
  std::size_t next_ = 0;
};

}  // namespace detail

// Row k is offsets[k] … offsets[k+1]-1.
template <class T, int D>
PairResult<T, D> find_rows(const Task<T, D>& task, const Want& want, Keep keep, std::span<std::int64_t> offsets,
                           Pool* pool) {
  const Bodies<T, D>& queries = task.queries;
  const Bodies<T, D>& bodies = task.index.bodies();
  const std::size_t n = queries.size;
  PairResult<T, D> found;
  // offsets[k + 1] is first the number of entries of row k, then where the next of them goes, and so at last its end.
  std::fill(offsets.begin(), offsets.end(), 0);
  std::int64_t* const ends = offsets.data() + 1;
  std::vector<detail::PartOfLog> parts(task.index.parts(queries));
  detail::PerThread<detail::HitLog<T, D>> logs;
  const auto replay = [&](const detail::PartOfLog& part, auto&& visit) {
    logs.at(part.thread).replay(part.log_begin, part.log_end, part.first_hit, visit);
  };
  {
    const detail::Payload<T, D> payload(bodies, want.slots());
    found.tally.candidates = detail::for_each_part(task, [&](std::size_t part, std::size_t thread, auto&& run) {
      auto& log = logs.get(thread, [&](auto& h) { h.emplace(queries, bodies, want.slots(), keep, pool); });
      parts[part] = {thread, log.logged(), 0, log.size()};
      run([&](Test<T, D>& test, const Block& block) { test.hits(block, payload.data(), log); });
      parts[part].log_end = log.logged();
      // Counting apart from testing: rows far apart in memory are waited for all at once, not one by one.
      replay(parts[part], [&](Slot query, const std::int32_t*, std::uint32_t count, const Shift&) {
        ends[queries.ids[query]] += count;
      });
    });
  }
  logs.for_each([](detail::HitLog<T, D>& log) { log.finish(); });
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += std::exchange(ends[k], sum);
  found.size = static_cast<std::size_t>(sum);
  found.tally.pairs = found.size;
  found.store = ColumnStore<T, D>(want, found.size, pool);
  const Columns<T> columns = found.store.columns();
  parallel_for(parts.size(), [&](std::size_t part, int) {
    detail::RowCopier copier;
    replay(parts[part], [&](Slot query, const std::int32_t* hits, std::uint32_t count, const Shift& shift) {
      std::int64_t& end = ends[queries.ids[query]];
      const auto at = static_cast<std::size_t>(end);
      end += count;
      if (want.slots()) describe_hits(queries, bodies, query, shift, hits, count, columns, at);
      else if (columns.j != nullptr) copier.add(hits, count, columns.j + at);
    });
    copier.finish();
  });
  if (pool != nullptr) logs.for_each([&](detail::HitLog<T, D>& log) { pool->give(log.release()); });
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
      if (size < 2) continue;
      if (plain) {
        sort_row(columns.j + begin, size);
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
PairResult<T, D> find_sorted_pairs(const Task<T, D>& task, const Want& want, Pool* pool) {
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
  PairResult<T, D> found = find_rows(whole, needed, keep, offsets.span(), pool);
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
