// Rows: the partners of every query, in the user's order of queries; the base of everything that has an order.
//
// A row's place is known only when all rows before it are counted. So hits are first kept in the order they are found,
// with a log of whose they are, and then brought to their rows: 4 bytes per entry and some 7 per query more while that
// lasts. (Testing everything twice instead would need no such memory, but tests are most of the work.)
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
#include "pairs/sort_row.hpp"

namespace vicinal {

// Which hits of a row are kept.
enum class Keep {
  all,
  upper,  // only partners with a larger number: each pair once (of a body's own images, one of two opposite ones)
};

namespace detail {

// Hits of some queries, slots first … first+queries-1, through one image.
struct Sheaf {
  Slot first;
  std::uint32_t queries;
  Shift shift;
};

// The hits one thread finds, in the order it finds them, and the log of whose they are. Nobody knows how long either
// gets, so they share one piece of memory: hits grow from its beginning, the log from its end downwards, each sheaf
// above the number of hits of each of its queries.
template <class T, int D>
class Harvest {
 public:
  Harvest(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, bool slots, Keep keep, Pool* pool)
      : queries_(queries), bodies_(bodies), slots_(slots), keep_(keep) {
    // As much address space as there is memory; only what is written becomes memory. Where that is not to be had
    // (ulimit -v, strict overcommit), as much as there is.
    const auto pages = queries.size < few_bodies ? Region::Pages::small : Region::Pages::huge;
    for (std::size_t most = physical_memory(); hits_.data() == nullptr; most /= 2) {
      try {
        hits_ = pool != nullptr ? pool->take(most, pages) : Region(most, pages);
      } catch (const std::bad_alloc&) {
        if (most < 2 * huge_page) throw;
      }
    }
    log_ = hits_.bytes() / cache_line * cache_line;
  }

  HitRoom room(std::size_t most) {
    if (size_ - flushed_ + most > staged_most) flush();
    return {staged(), nullptr};
  }
  void take(Slot first, std::span<const std::uint32_t> counts, const Shift& shift) {
    std::uint32_t* const log = enter({first, static_cast<std::uint32_t>(counts.size()), shift});
    if (keep_ == Keep::all) {
      std::copy(counts.begin(), counts.end(), log);
      size_ = std::accumulate(counts.begin(), counts.end(), size_);
      return;
    }
    const std::int32_t* from = staged();
    for (std::size_t k = 0; k < counts.size(); ++k) {
      log[k] = keep_upper(first + static_cast<Slot>(k), from, counts[k], shift);
      from += counts[k];
      size_ += log[k];
    }
  }

  // Calls visit(query, its hits, their number, shift) for what was logged from `begin` to `end` (see `logged`), whose
  // first hit is number `at`.
  template <class Visit>
  void replay(std::size_t begin, std::size_t end, std::size_t at, Visit&& visit) const {
    const std::int32_t* from = hits() + at;
    while (begin != end) {
      Sheaf sheaf;
      begin -= sizeof(Sheaf);
      std::memcpy(&sheaf, base() + begin, sizeof(Sheaf));
      begin -= sheaf.queries * sizeof(std::uint32_t);
      const auto* const counts = reinterpret_cast<const std::uint32_t*>(base() + begin);
      for (std::uint32_t k = 0; k < sheaf.queries; ++k) {
        visit(sheaf.first + k, from, counts[k], sheaf.shift);
        from += counts[k];
      }
    }
  }

  // To be called before anybody looks at hits.
  void finish() {
    flush();
    std::copy_n(stage_.data(), size_ - flushed_, hits() + flushed_);
  }
  [[nodiscard]] std::int32_t* hits() const { return static_cast<std::int32_t*>(hits_.data()); }
  [[nodiscard]] std::size_t size() const { return size_; }
  // How far down the log has come, in bytes.
  [[nodiscard]] std::size_t logged() const { return log_; }
  [[nodiscard]] Region release() { return std::move(hits_); }

 private:
  static constexpr std::size_t line_hits = cache_line / sizeof(std::int32_t);
  // What is asked for always fits behind what a flush leaves.
  static constexpr std::size_t staged_most = batch_hits + line_hits;
  // So many hits will still be in the cache when they are brought to their rows. More are streamed past it.
  static constexpr std::size_t cached_hits = std::size_t{1} << 20;

  [[nodiscard]] std::byte* base() const { return static_cast<std::byte*>(hits_.data()); }
  [[nodiscard]] std::int32_t* staged() { return stage_.data() + (size_ - flushed_); }
  // Moves whole lines to the harvest and keeps the rest, so that writing stays aligned.
  void flush() {
    const std::size_t count = size_ - flushed_;
    const std::size_t whole = count / line_hits * line_hits;
    if (flushed_ < cached_hits) std::copy_n(stage_.data(), whole, hits() + flushed_);
    else kernels().stream(hits() + flushed_, stage_.data(), whole * sizeof(std::int32_t));
    std::memmove(stage_.data(), stage_.data() + whole, (count - whole) * sizeof(std::int32_t));
    flushed_ += whole;
  }

  // Writes a sheaf and returns where its counts go. Makes sure that its hits, which are staged, find their place, too.
  std::uint32_t* enter(const Sheaf& sheaf) {
    const std::size_t bytes = sizeof(Sheaf) + sheaf.queries * sizeof(std::uint32_t);
    if ((size_ + batch_hits) * sizeof(std::int32_t) + bytes > log_) throw std::bad_alloc();
    std::memcpy(base() + log_ - sizeof(Sheaf), &sheaf, sizeof(Sheaf));
    log_ -= bytes;
    return reinterpret_cast<std::uint32_t*>(base() + log_);
  }

  // Moves the hits of a query that stay to the end of the harvest. They never overtake those still to be looked at.
  std::uint32_t keep_upper(Slot query, const std::int32_t* from, std::uint32_t n, const Shift& shift) {
    const std::int32_t id = queries_.ids[query];
    const bool image = (shift.x != 0 ? shift.x : shift.y != 0 ? shift.y : shift.z) > 0;
    std::int32_t* const to = staged();
    std::uint32_t kept = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      const std::int32_t hit = from[k];
      const std::int32_t partner = slots_ ? bodies_.ids[static_cast<std::size_t>(hit)] : hit;
      to[kept] = hit;
      kept += partner > id || (partner == id && image) ? 1 : 0;
    }
    return kept;
  }

  const Bodies<T, D>& queries_;
  const Bodies<T, D>& bodies_;
  bool slots_;
  Keep keep_;
  Region hits_;
  std::size_t size_ = 0;
  std::size_t flushed_ = 0;  // hits after these are still staged
  Buffer<std::int32_t> stage_{staged_most + overshoot};
  std::size_t log_ = 0;
};

// Where the harvest of a part is.
struct PartOfHarvest {
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
  std::vector<detail::PartOfHarvest> parts(task.index.parts(queries));
  detail::PerThread<detail::Harvest<T, D>> harvests;
  const auto replay = [&](const detail::PartOfHarvest& part, auto&& visit) {
    harvests.at(part.thread).replay(part.log_begin, part.log_end, part.first_hit, visit);
  };
  {
    const detail::Payload<T, D> payload(bodies, want.slots());
    found.tally.candidates = detail::for_each_part(task, [&](std::size_t part, std::size_t thread, auto&& run) {
      auto& harvest = harvests.get(thread, [&](auto& h) { h.emplace(queries, bodies, want.slots(), keep, pool); });
      parts[part] = {thread, harvest.logged(), 0, harvest.size()};
      run([&](Test<T, D>& test, const Block& block) { test.hits(block, payload.data(), harvest); });
      parts[part].log_end = harvest.logged();
      // Counting apart from testing: rows far apart in memory are waited for all at once, not one by one.
      replay(parts[part], [&](Slot query, const std::int32_t*, std::uint32_t count, const Shift&) {
        ends[queries.ids[query]] += count;
      });
    });
  }
  harvests.for_each([](detail::Harvest<T, D>& harvest) { harvest.finish(); });
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
  if (pool != nullptr) harvests.for_each([&](detail::Harvest<T, D>& harvest) { pool->give(harvest.release()); });
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
