// Searches: run the exact test over all blocks of an index and emit pairs, rows or counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "exec/available_memory.hpp"
#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "geometry/box.hpp"
#include "index/structure.hpp"
#include "pairs/columns.hpp"
#include "pairs/pair_writer.hpp"
#include "pairs/result.hpp"
#include "pairs/test.hpp"

namespace vicinal {

// The bodies to search: those of an index among themselves, or queries against them.
template <class T, int D>
struct Task {
  const Structure<T, D>& index;
  const Bodies<T, D>& queries;  // index.bodies() unless mode is cross
  Mode mode;
  T cutoff;
  const PairFilter* filter = nullptr;
  // Only these pieces of work of the index.
  std::size_t first_part = 0, last_part = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] std::size_t parts() const { return std::min(index.parts(queries), last_part) - first_part; }
  [[nodiscard]] bool whole() const { return first_part == 0 && last_part >= index.parts(queries); }
};

// Below this many bodies a result rarely fills a huge page.
inline constexpr std::size_t few_bodies = 16384;

namespace detail {

// The payload that the vector code writes for a hit: the user's ids or, if other columns are requested, slots (null).
template <class T, int D>
const std::int32_t* payload_of(const Bodies<T, D>& bodies, const Want& want) {
  return want.slots() ? nullptr : bodies.ids.data();
}

// One value per thread, made by the thread that first needs it.
template <class V>
class PerThread {
 public:
  PerThread() : values_(static_cast<std::size_t>(thread_count())) {}
  template <class Make>
  V& get(std::size_t thread, Make&& make) {
    if (!values_[thread]) make(values_[thread]);
    return *values_[thread];
  }
  [[nodiscard]] bool has(std::size_t thread) const { return values_[thread].has_value(); }
  [[nodiscard]] const V& at(std::size_t thread) const { return *values_[thread]; }
  template <class F>
  void for_each(F&& f) {
    for (auto& value : values_)
      if (value) f(*value);
  }

 private:
  std::vector<std::optional<V>> values_;
};

// For every part of the task: body(part, thread, run), where run(visit) calls visit(test, block) for its blocks.
// Returns the number of candidates.
template <class T, int D, class Body>
std::uint64_t for_each_part(const Task<T, D>& task, Body&& body) {
  const Bodies<T, D>& bodies = task.index.bodies();
  PerThread<std::unique_ptr<Test<T, D>>> tests;
  parallel_for(task.parts(), [&](std::size_t number, int thread) {
    const std::size_t part = task.first_part + number;
    Test<T, D>& test = *tests.get(static_cast<std::size_t>(thread), [&](auto& made) {
      made.emplace(make_test<T, D>(task.queries, bodies, task.cutoff, task.filter));
    });
    body(part, static_cast<std::size_t>(thread), [&](auto&& visit) {
      auto each = [&](const Block& block) { visit(test, block); };
      task.index.blocks(task.queries, task.mode, part, each);
    });
  });
  std::uint64_t candidates = 0;
  tests.for_each([&](const auto& test) { candidates += test->candidates(); });
  return candidates;
}

}  // namespace detail

// Neighbours per query, by the user's number.
template <class T, int D>
Tally count_neighbors(const Task<T, D>& task, std::span<std::int32_t> counts) {
  Tally tally;
  std::fill(counts.begin(), counts.end(), 0);
  tally.candidates = detail::for_each_part(task, [&](std::size_t, std::size_t, auto&& run) {
    run([&](Test<T, D>& test, const Block& block) { test.count(block, counts); });
  });
  for (const std::int32_t count : counts) tally.pairs += static_cast<std::uint64_t>(count);
  return tally;
}

namespace detail {

// Columns for results that cannot be very large. Mapping and unmapping pages takes longer than a small search, so a
// small result is copied out of columns that the next search reuses.
inline Pool& kept_columns() {
  static Pool pool;
  return pool;
}
// Copying more entries than this takes as long as mapping pages.
inline constexpr std::size_t copied_entries = std::size_t{1} << 14;
// So many entries that all columns are mapped, and can be trimmed.
inline constexpr std::size_t mapped_entries = huge_page / sizeof(std::int32_t);

template <class T, int D>
ColumnStore<T, D> copy_out(ColumnStore<T, D> kept, const Want& want, std::size_t entries) {
  ColumnStore<T, D> result(want, entries, nullptr);
  Columns<T>::template for_each<D>(result.columns(), kept.columns(), [&](void* to, void* from, std::size_t bytes) {
    if (to != nullptr) std::memcpy(to, from, entries * bytes);
  });
  kept.give_to(kept_columns());
  return result;
}

// All pairs into columns of `count` slabs; std::bad_alloc if there are more.
template <class T, int D>
PairResult<T, D> find_pairs_within(const Task<T, D>& task, const Want& want, std::size_t count, std::size_t slab,
                                   Pool* pool) {
  const Bodies<T, D>& bodies = task.index.bodies();
  const bool few = slab == small_slab;
  const bool keep = pool == nullptr && count * slab <= mapped_entries;
  // Two sizes of columns, so that they fit the next search.
  if (keep && count * slab <= copied_entries) count = copied_entries / slab;
  else if (pool == nullptr) count = std::max(count, mapped_entries / slab);
  PairResult<T, D> result;
  result.store =
      ColumnStore<T, D>(want, count * slab, keep ? &kept_columns() : pool, few ? PageSize::small : PageSize::huge);
  const Columns<T> columns = result.store.columns();
  ColumnSlabs slabs(count, slab, ColumnStore<T, D>::entry_bytes(want));
  const std::int32_t* const payload = payload_of(bodies, want);
  PerThread<PairWriter<T, D>> writers;
  result.tally.candidates = for_each_part(task, [&](std::size_t, std::size_t thread, auto&& run) {
    auto& writer = writers.get(thread, [&](auto& w) { w.emplace(task.queries, bodies, want, columns, slabs); });
    run([&](Test<T, D>& test, const Block& block) { test.hits(block, payload, writer, {}); });
    writer.settle();
  });
  std::vector<Gap> gaps;
  writers.for_each([&](PairWriter<T, D>& writer) {
    gaps.push_back(writer.finish());
    result.tally.pairs += writer.total();
  });
  result.size = close_gaps<T, D>(columns, std::move(gaps), slabs.taken());
  if (keep && result.size <= copied_entries) result.store = copy_out(std::move(result.store), want, result.size);
  else if (pool == nullptr) result.store.trim(result.size);
  return result;
}

}  // namespace detail

// All pairs in any order.
template <class T, int D>
PairResult<T, D> find_pairs(const Task<T, D>& task, const Want& want, Pool* pool) {
  const std::size_t slab = task.queries.size < few_bodies ? small_slab : large_slab;
  const std::size_t spare = static_cast<std::size_t>(thread_count()) + 1;  // the last slab of each thread is not full
  // No result is larger than memory, and untouched pages use none: reserve address space of that size and write once.
  const std::size_t bytes = std::max<std::size_t>(1, ColumnStore<T, D>::entry_bytes(want));
  std::size_t most = physical_memory() / bytes / slab;
  // Few bodies cannot have more pairs than all combinations. (Queries of any size may reach more images than the bodies
  // do.)
  const Bodies<T, D>& bodies = task.index.bodies();
  double all = static_cast<double>(task.queries.size) * static_cast<double>(bodies.size);
  if (bodies.box.periodic() && task.mode == Mode::cross) all = std::numeric_limits<double>::infinity();
  const Reach<D> reach = bodies.raw.reach(task.cutoff);
  for (std::size_t a = 0; a < D; ++a)  // images of a body within reach of another, along each axis
    if (const T edge = bodies.box.edge[a]; edge > 0)
      all *= std::floor(2 * periodic_reach(reach.axis[a], edge) / static_cast<double>(edge)) + 1;
  const double slabs = all / static_cast<double>(slab) + static_cast<double>(spare);
  if (slabs < static_cast<double>(most)) most = static_cast<std::size_t>(slabs);
  try {
    return detail::find_pairs_within(task, want, most, slab, pool);
  } catch (const OutOfMemory&) {
    throw;
  } catch (const std::bad_alloc&) {
    // If address space is limited, too (ulimit -v, strict overcommit): count first, then reserve what is needed.
    Task<T, D> all = task;
    if (task.mode == Mode::half) all.mode = Mode::full;
    Buffer<std::int32_t> counts(task.queries.size);
    // Of all parts together, each pair is counted twice in mode full.
    const bool twice = task.mode == Mode::half && task.whole();
    const std::size_t entries = count_neighbors(all, counts.span()).pairs / (twice ? 2 : 1);
    ensure_memory(entries * bytes, pool);
    return detail::find_pairs_within(task, want, entries / slab + 1 + spare, slab, pool);
  }
}

// About `most` pairs from piece of work `part` on, which becomes the next one to search; `together` pieces are tried at
// once, a number that follows the pairs found. One piece alone may have more pairs than wanted.
template <class T, int D>
PairResult<T, D> find_pairs_from(Task<T, D> task, const Want& want, std::size_t most, std::size_t& part,
                                 std::size_t& together) {
  const std::size_t parts = task.index.parts(task.queries);
  const std::size_t spare = static_cast<std::size_t>(thread_count()) + 1;
  while (true) {
    task.first_part = part;
    task.last_part = std::min(parts, part + together);
    const std::size_t tried = task.parts();
    try {
      PairResult<T, D> result =
          tried > 1 ? detail::find_pairs_within(task, want, most / small_slab + 1 + spare, small_slab, nullptr)
                    : find_pairs(task, want, nullptr);
      part = task.last_part;
      // As many pieces as are expected to fill three quarters of a chunk, at most twice as many as before.
      const double filled = static_cast<double>(std::max<std::size_t>(result.size, 1)) / static_cast<double>(most);
      const double fitting = 0.75 / filled * static_cast<double>(tried);
      together = static_cast<std::size_t>(
          std::clamp(fitting, 1.0, 2.0 * static_cast<double>(std::max<std::size_t>(tried, 1))));
      return result;
    } catch (const std::bad_alloc&) {
      if (tried <= 1) throw;
      together = std::max<std::size_t>(1, tried / 4);
    }
  }
}

}  // namespace vicinal
