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
#include "rows/sort_rows.hpp"

namespace vicinal {

namespace detail {

// Permutes entries: the new entry k is the former entry order[k]. The usual sizes of an entry are compile-time
// constants, so that copying needs no call.
template <std::size_t Bytes = 0>
void permute_entries(std::byte* entries, std::size_t bytes, std::span<const std::uint64_t> order,
                     std::vector<std::byte>& copy) {
  const std::size_t each = Bytes > 0 ? Bytes : bytes;
  copy.resize(order.size() * each);
  for (std::size_t k = 0; k < order.size(); ++k)
    std::memcpy(copy.data() + k * each, entries + static_cast<std::uint32_t>(order[k]) * each, each);
  std::memcpy(entries, copy.data(), order.size() * each);
}

}  // namespace detail

// Sorts rows with further columns by index, then by shift.
template <class T, int D>
void sort_described_rows(const Columns<T>& columns, std::span<const std::int64_t> offsets) {
  parallel_ranges(offsets.size() - 1, 1024, [&](std::size_t first, std::size_t last, std::size_t) {
    std::vector<std::uint64_t> order;  // upper half: the index of an entry; lower half: its position in the row
    std::vector<std::byte> copy;
    for (std::size_t row = first; row < last; ++row) {
      const auto begin = static_cast<std::size_t>(offsets[row]);
      const auto size = static_cast<std::size_t>(offsets[row + 1]) - begin;
      if (size < 2) continue;
      order.resize(size);
      for (std::size_t k = 0; k < size; ++k)
        order[k] = static_cast<std::uint64_t>(static_cast<std::uint32_t>(columns.j[begin + k])) << 32 | k;
      if (columns.shift == nullptr) {
        std::sort(order.begin(), order.end());
      } else {
        const std::int32_t* const shifts = columns.shift + begin * D;
        std::sort(order.begin(), order.end(), [&](std::uint64_t a, std::uint64_t b) {
          if (a >> 32 != b >> 32) return a < b;
          const std::int32_t* const one = shifts + static_cast<std::uint32_t>(a) * D;
          const std::int32_t* const other = shifts + static_cast<std::uint32_t>(b) * D;
          return std::lexicographical_compare(one, one + D, other, other + D);
        });
      }
      Columns<T>::template for_each<D>(columns, columns, [&](void* column, void*, std::size_t bytes) {
        if (column == nullptr || column == columns.i) return;  // all entries of a row have the same owner
        auto* const entries = static_cast<std::byte*>(column) + begin * bytes;
        if (bytes == 4) detail::permute_entries<4>(entries, bytes, order, copy);
        else if (bytes == 8) detail::permute_entries<8>(entries, bytes, order, copy);
        else if (bytes == 12) detail::permute_entries<12>(entries, bytes, order, copy);
        else if (bytes == 24) detail::permute_entries<24>(entries, bytes, order, copy);
        else detail::permute_entries(entries, bytes, order, copy);
      });
    }
  });
}

namespace detail {

// Rows are short: copying four entries at a time, with an overlap at the end, is faster than a call.
inline void copy_row(const std::int32_t* from, std::size_t n, std::int32_t* to) {
  constexpr std::size_t four = 4 * sizeof(std::int32_t);
  if (n < 4) {
    for (std::size_t k = 0; k < n; ++k) to[k] = from[k];
    return;
  }
  for (std::size_t k = 0; k + 4 < n; k += 4) std::memcpy(to + k, from + k, four);
  std::memcpy(to + n - 4, from + n - 4, four);
}

// The same if up to 32 further entries may be read and written: saves a branch that is hard to predict.
inline void copy_row_past(const std::int32_t* from, std::size_t n, std::int32_t* to) {
  std::size_t k = 0;
  do std::memcpy(to + k, from + k, copied_past * sizeof(std::int32_t));
  while ((k += copied_past) < n);
}

// The position of some hits of one row: the log of a thread, the first hit, their number. 0 means none.
class LoggedHits {
 public:
  LoggedHits() = default;
  LoggedHits(std::size_t thread, std::size_t first, std::uint32_t count)
      : bits_(static_cast<std::uint64_t>(thread) << 53 | static_cast<std::uint64_t>(first) << 12 | count) {}
  [[nodiscard]] bool none() const { return bits_ == 0; }
  [[nodiscard]] std::size_t thread() const { return static_cast<std::size_t>(bits_ >> 53 & 0x3ff); }
  [[nodiscard]] std::size_t first() const { return static_cast<std::size_t>(bits_ >> 12 & 0x1ffffffffff); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(bits_ & 0xfff); }
  // Whether the row has further pieces.
  [[nodiscard]] bool more() const { return bits_ >> 63 != 0; }
  void set_more() { bits_ |= std::uint64_t{1} << 63; }

 private:
  static_assert(tile_candidates <= 0xfff);
  std::uint64_t bits_;
};
struct RowPiece {
  std::int32_t row;
  LoggedHits piece;
};

// Writes rows one after the other: collects them in the level-1 cache and writes whole cache lines with streaming
// stores. Without a target it writes nothing.
class RowStream {
 public:
  RowStream(std::int32_t* to, bool past_cache) : to_(to), past_cache_(past_cache) {}
  explicit operator bool() const { return to_ != nullptr; }
  // Room for n entries and `sort_overshoot` more.
  [[nodiscard]] std::int32_t* room(std::size_t n) {
    if (size_ + n > staged) flush();
    if (size_ + n + sort_overshoot > stage_.size()) stage_.resize(size_ + n + sort_overshoot);
    return stage_.data() + size_;
  }
  void add(std::size_t n) { size_ += n; }
  void finish() {
    flush();
    std::copy_n(stage_.data(), size_, to_);
  }

 private:
  static constexpr std::size_t staged = 2048;
  static constexpr std::size_t line = cache_line / sizeof(std::int32_t);

  void flush() {
    std::size_t done = 0;
    if (past_cache_) {
      const auto address = reinterpret_cast<std::uintptr_t>(to_);
      const std::size_t lead = (cache_line - address % cache_line) % cache_line / sizeof(std::int32_t);
      if (size_ < lead) return;
      done = lead + (size_ - lead) / line * line;
      std::copy_n(stage_.data(), lead, to_);
      kernels().stream(to_ + lead, stage_.data() + lead, (done - lead) * sizeof(std::int32_t));
    } else {
      done = size_;
      std::copy_n(stage_.data(), done, to_);
    }
    std::memmove(stage_.data(), stage_.data() + done, (size_ - done) * sizeof(std::int32_t));
    to_ += done;
    size_ -= done;
  }

  std::int32_t* to_;
  bool past_cache_;
  std::size_t size_ = 0;
  Buffer<std::int32_t> stage_{staged + sort_overshoot};
};

// Counts queries and hits.
class HitSample final : public HitSink {
 public:
  std::size_t queries = 0, total = 0;

  HitRoom room(std::size_t /*most*/) override { return {hits_.data(), nullptr}; }
  void take(Slot /*first*/, std::span<const std::uint32_t> counts, const Shift& /*shift*/) override {
    queries += counts.size();
    total = std::accumulate(counts.begin(), counts.end(), total);
  }

 private:
  Buffer<std::int32_t> hits_{batch_hits + overshoot};
};

// One search for rows: the logs of its threads, and two ways to convert the logs to rows.
template <class T, int D>
class RowSearch {
 public:
  RowSearch(const Task<T, D>& task, const Want& want, Keep keep, Pool* pool)
      : task_(task), want_(want), keep_(keep), pool_(pool), queries_(task.queries), bodies_(task.index.bodies()),
        parts_(task.index.parts(task.queries)) {}
  ~RowSearch() {
    if (pool_ != nullptr) logs_.for_each([&](HitLog<T, D>& log) { pool_->give(log.release()); });
  }
  RowSearch(const RowSearch&) = delete;
  RowSearch& operator=(const RowSearch&) = delete;

  // Fills `offsets`; rows are sorted if `sort` is set and only indices are requested.
  PairResult<T, D> run(std::span<std::int64_t> offsets, bool sort) {
    PairResult<T, D> result;
    const bool plain = want_.j && !want_.slots();
    if (plain) {
      pieces_.reset(queries_.size);
      parallel_ranges(queries_.size, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::fill(pieces_.data() + begin, pieces_.data() + end, LoggedHits(0, 0, 0));
      });
    }
    more_.resize(static_cast<std::size_t>(thread_count()));
    result.tally.candidates = search(plain, sort);
    logs_.for_each([](HitLog<T, D>& log) { log.finish(); });
    std::size_t more = 0;
    for (const auto& pieces : more_) more += pieces.size();
    // If rows have many pieces, they are written piece by piece.
    const bool by_row = plain && more <= queries_.size / 4;
    if (by_row) count_pieces(offsets);
    else count_hits(offsets);
    result.size = static_cast<std::size_t>(by_row ? offsets.back() : total_);
    result.tally.pairs = result.size;
    ensure_memory(result.size * ColumnStore<T, D>::entry_bytes(want_), pool_);
    result.store = ColumnStore<T, D>(want_, result.size, pool_);
    const Columns<T> columns = result.store.columns();
    if (by_row) {
      write_rows(offsets, columns, sort);
      return result;
    }
    write_pieces(offsets, columns);
    if (plain && sort) sort_rows(offsets, columns.j);
    if (columns.i != nullptr && !want_.slots()) fill_owners(offsets, columns.i);
    return result;
  }

 private:
  static constexpr std::size_t grain = std::size_t{1} << 16;
  struct PartOfLog {
    std::size_t thread = 0, log_begin = 0, log_end = 0, first_hit = 0;
  };

  template <class Visit>
  void replay(const PartOfLog& part, Visit&& visit) const {
    logs_.at(part.thread).replay(part.log_begin, part.log_end, part.first_hit, visit);
  }

  // With many hits per query, sorting the candidates of a cell once takes less time than sorting the hits of each query
  // (benchmarks/rows.py), unless few queries share the candidates.
  [[nodiscard]] bool sort_candidates_first() const {
    constexpr std::size_t shared = 12;
    const double many = keep_ == Keep::upper ? 76 : 50;  // full rows
    return queries_.groups > 0 && queries_.size >= shared * queries_.groups && sampled_hits() >= many;
  }
  // The mean number of hits of some queries.
  [[nodiscard]] double sampled_hits() const {
    constexpr std::size_t sample = 64;
    const auto test = make_test<T, D>(queries_, bodies_, task_.cutoff, task_.filter);
    HitSample hits;
    auto each = [&](const Block& block) {
      if (hits.queries < sample) test->hits(block, nullptr, hits, {});
    };
    task_.index.blocks(queries_, task_.mode, task_.index.parts(queries_) / 2, each);
    return static_cast<double>(hits.total) / static_cast<double>(std::max<std::size_t>(1, hits.queries));
  }

  // Finds all hits; returns the number of candidates.
  std::uint64_t search(bool plain, bool sort) {
    const std::int32_t* const payload = payload_of(bodies_, want_);
    // The test compares ids; of hits that are slots, the log keeps those that are wanted.
    HitOptions options;
    sorts_candidates_ = plain && sort && sort_candidates_first();
    if (!want_.slots()) options = {keep_, sorts_candidates_ ? &row_kernels() : nullptr};
    const Keep logged = want_.slots() ? keep_ : Keep::all;
    return for_each_part(task_, [&](std::size_t part, std::size_t thread, auto&& run) {
      auto& log = logs_.get(thread, [&](auto& made) { made.emplace(queries_, bodies_, logged, pool_); });
      parts_[part] = {thread, log.logged(), 0, log.size()};
      run([&](Test<T, D>& test, const Block& block) { test.hits(block, payload, log, options); });
      parts_[part].log_end = log.logged();
      if (plain) note_pieces(parts_[part]);
    });
  }

  // Done after a whole part is tested, so that cache misses on rows far apart in memory overlap.
  void note_pieces(const PartOfLog& part) {
    std::vector<RowPiece>& more = more_[part.thread];
    const std::int32_t* const hits = logs_.at(part.thread).hits();
    const Slot last = static_cast<Slot>(queries_.ids.size()) - 1;
    replay(part, [&](Slot query, const std::int32_t* from, std::uint32_t count, const Shift&) {
      prefetch_to_write(pieces_.data() + queries_.ids[std::min(query + noted_ahead, last)]);
      if (count == 0) return;
      const std::int32_t row = queries_.ids[query];
      const LoggedHits piece(part.thread, static_cast<std::size_t>(from - hits), count);
      LoggedHits& first = pieces_[static_cast<std::size_t>(row)];
      if (first.none()) {
        first = piece;
      } else {
        first.set_more();
        more.push_back({row, piece});
      }
    });
  }

  void count_pieces(std::span<std::int64_t> offsets) {
    std::vector<RowPiece>& all = more_[0];
    for (std::size_t t = 1; t < more_.size(); ++t) all.insert(all.end(), more_[t].begin(), more_[t].end());
    // All pieces of a row come from one thread, in the order in which they were found.
    std::stable_sort(all.begin(), all.end(), [](const RowPiece& a, const RowPiece& b) { return a.row < b.row; });
    std::int64_t sum = 0;
    auto extra = all.begin();
    for (std::size_t row = 0; row < queries_.size; ++row) {
      offsets[row] = sum;
      const LoggedHits piece = pieces_[row];
      sum += piece.count();
      if (piece.more())
        for (; extra != all.end() && extra->row == static_cast<std::int32_t>(row); ++extra) sum += extra->piece.count();
    }
    offsets[queries_.size] = sum;
  }

  // Writes row by row: reads of the logs are scattered but can be prefetched, and rows are written in order.
  void write_rows(std::span<const std::int64_t> offsets, const Columns<T>& columns, bool sort) {
    const bool past_cache = static_cast<std::size_t>(offsets.back()) > cached_entries;
    const std::vector<RowPiece>& all = more_[0];
    // The cache lines of most rows; the number of lines of each row would be a branch that is hard to predict.
    const std::size_t rows = std::max<std::size_t>(1, queries_.size);
    const std::size_t lines = static_cast<std::size_t>(offsets.back()) / rows / line + 3;
    const SortKernels& kernels = row_kernels();
    const bool sort_pieces = sort && !sorts_candidates_;
    std::vector<const std::int32_t*> hits(more_.size());
    static constexpr std::array<std::int32_t, copied_past> none{};  // empty rows are copied, too
    for (std::size_t t = 0; t < hits.size(); ++t) hits[t] = logs_.has(t) ? logs_.at(t).hits() : none.data();
    parallel_ranges(queries_.size, row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      RowStream stream(columns.j + offsets[begin], past_cache);
      RowStream owners(columns.i != nullptr ? columns.i + offsets[begin] : nullptr, past_cache);
      auto extra = std::lower_bound(all.begin(), all.end(), static_cast<std::int32_t>(begin),
                                    [](const RowPiece& piece, std::int32_t row) { return piece.row < row; });
      for (std::size_t row = begin; row < end; ++row) {
        prefetch(pieces_[std::min(row + ahead, end - 1)], hits, lines);
        const auto length = static_cast<std::size_t>(offsets[row + 1] - offsets[row]);
        std::int32_t* const to = stream.room(length);
        const LoggedHits piece = pieces_[row];
        const std::int32_t* const from = hits[piece.thread()] + piece.first();
        if (!piece.more()) {
          if (sort_pieces) kernels.sort(from, length, to);
          else copy_row_past(from, length, to);
        } else {
          copy_row_past(from, piece.count(), to);
          std::size_t at = piece.count();
          for (; extra != all.end() && extra->row == static_cast<std::int32_t>(row); ++extra) {
            copy_row_past(hits[extra->piece.thread()] + extra->piece.first(), extra->piece.count(), to + at);
            at += extra->piece.count();
          }
          if (sort) kernels.sort(to, length, to);
        }
        stream.add(length);
        if (owners) {
          std::int32_t* const owner = owners.room(length);
          for (std::size_t k = 0; k < length; k += copied_past)
            std::fill_n(owner + k, copied_past, static_cast<std::int32_t>(row));
          owners.add(length);
        }
      }
      stream.finish();
      if (owners) owners.finish();
    });
  }
  static constexpr std::size_t line = cache_line / sizeof(std::int32_t);
  static void prefetch(const LoggedHits& piece, const std::vector<const std::int32_t*>& hits, std::size_t lines) {
    const std::int32_t* const from = hits[piece.thread()] + piece.first();
    for (std::size_t k = 0; k < lines; ++k) prefetch_to_read(from + k * line);
  }

  // offsets[k + 1] becomes the first entry of row k.
  void count_hits(std::span<std::int64_t> offsets) {
    std::fill(offsets.begin(), offsets.end(), 0);
    std::int64_t* const ends = offsets.data() + 1;
    parallel_for(parts_.size(), [&](std::size_t part, int) {
      replay(parts_[part], [&](Slot query, const std::int32_t*, std::uint32_t count, const Shift&) {
        ends[queries_.ids[query]] += count;
      });
    });
    for (std::size_t k = 0; k < queries_.size; ++k) total_ += std::exchange(ends[k], total_);
  }
  // Writes piece by piece, in the order of the logs. `offsets` advance to the ends of the rows.
  void write_pieces(std::span<std::int64_t> offsets, const Columns<T>& columns) {
    std::int64_t* const ends = offsets.data() + 1;
    parallel_for(parts_.size(), [&](std::size_t part, int) {
      std::vector<std::int32_t> owners;
      replay(parts_[part], [&](Slot query, const std::int32_t* hits, std::uint32_t count, const Shift& shift) {
        std::int64_t& end = ends[queries_.ids[query]];
        const auto at = static_cast<std::size_t>(end);
        end += count;
        if (want_.slots()) {
          owners.assign(count, static_cast<std::int32_t>(query));
          describe_hits(queries_, bodies_, owners.data(), std::span<const std::int32_t>(hits, count), shift, columns,
                        at);
        } else if (columns.j != nullptr) copy_row(hits, count, columns.j + at);
      });
    });
  }

  // Results with more entries than this are written with streaming stores.
  static constexpr std::size_t cached_entries = std::size_t{1} << 20;
  // Number of rows to prefetch ahead.
  static constexpr std::size_t ahead = 16;
  // The same where the first piece of each is noted.
  static constexpr Slot noted_ahead = 32;

  const Task<T, D>& task_;
  const Want& want_;
  Keep keep_;
  Pool* pool_;
  const Bodies<T, D>& queries_;
  const Bodies<T, D>& bodies_;
  std::vector<PartOfLog> parts_;
  PerThread<HitLog<T, D>> logs_;
  Buffer<LoggedHits> pieces_;                // the first piece of every row
  std::vector<std::vector<RowPiece>> more_;  // per thread: further pieces of rows
  std::int64_t total_ = 0;
  bool sorts_candidates_ = false;
};

}  // namespace detail

// The rows of all queries: row k is offsets[k] … offsets[k + 1] - 1. Sorted if `sort`.
template <class T, int D>
PairResult<T, D> find_rows(const Task<T, D>& task, const Want& want, Keep keep, bool sort,
                           std::span<std::int64_t> offsets, Pool* pool) {
  PairResult<T, D> result = detail::RowSearch<T, D>(task, want, keep, pool).run(offsets, sort);
  if (sort && want.slots()) sort_described_rows<T, D>(result.store.columns(), offsets);
  return result;
}

// All pairs in canonical order: by i, then j, then shift; in a half list, i < j.
template <class T, int D>
PairResult<T, D> find_sorted_pairs(const Task<T, D>& task, const Want& want, Pool* pool) {
  Want needed = want;
  needed.j = true;
  // The images of one pair differ in their shift, so ordering them needs it.
  needed.shift = want.shift || (task.queries.box.periodic() && want.slots());
  Task<T, D> whole = task;
  const Keep keep = task.mode == Mode::half ? Keep::upper : Keep::all;
  if (task.mode == Mode::half) whole.mode = Mode::full;
  const std::size_t n = task.queries.size;
  Buffer<std::int64_t> offsets(n + 1);
  PairResult<T, D> result = find_rows(whole, needed, keep, true, offsets.span(), pool);
  if (!want.j) result.store.j = Region();
  if (!want.shift) result.store.shift = Region();
  return result;
}

}  // namespace vicinal
