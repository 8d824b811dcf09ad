// The log of a search: hits in the order in which they are found, and the queries they belong to.
//
// The position of a row is known only after all rows before it have been counted. Therefore hits are first logged and
// then copied to their rows, which temporarily needs 4 more bytes per entry and about 7 per query. (Testing all
// candidates twice would need no such memory, but tests are most of the work.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>

#include "exec/available_memory.hpp"
#include "exec/memory.hpp"
#include "pairs/search.hpp"
#include "rows/sort_row.hpp"

namespace vicinal {

namespace detail {

// Hits are copied in pieces of this size, so up to this many entries past the last hit may be read.
inline constexpr std::size_t copied_past = 32;

// The hits of queries (slots first … first+queries-1) in one image.
struct LogEntry {
  Slot first;
  std::uint32_t queries;
  Shift shift;
};

// The hits of one thread. Their number is not known in advance, so hits and entries share one block of memory: hits
// grow from its beginning, entries from its end downwards. An entry is stored above the numbers of hits of its queries.
template <class T, int D>
class HitLog final : public HitSink {
 public:
  // `keep` selects the hits to log, which are slots then.
  HitLog(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, Keep keep, Pool* pool)
      : queries_(queries), bodies_(bodies), keep_(keep) {
    // Reserves as much address space as there is memory; pages are allocated when they are written. If the system
    // refuses this (ulimit -v, strict overcommit), reserves as much as it grants.
    const auto pages = queries.size < few_bodies ? PageSize::small : PageSize::huge;
    for (std::size_t most = physical_memory(); hits_.data() == nullptr; most /= 2) {
      try {
        hits_ = pool != nullptr ? pool->take(most, pages) : Region(most, pages);
      } catch (const std::bad_alloc&) {
        if (most < 2 * huge_page) throw;
      }
    }
    log_ = hits_.bytes() / cache_line * cache_line - copied_past * sizeof(std::int32_t);
  }
  ~HitLog() { hits_.trim(size_ * sizeof(std::int32_t)); }  // the remaining pages can be reused by the next region
  HitLog(const HitLog&) = delete;
  HitLog& operator=(const HitLog&) = delete;

  HitRoom room(std::size_t most) override {
    if (size_ - flushed_ + most > staged_most) flush();
    return {staged(), nullptr};
  }
  void take(Slot first, std::span<const std::uint32_t> counts, const Shift& shift) override {
    std::uint32_t* const log = enter({first, static_cast<std::uint32_t>(counts.size()), shift});
    if (keep_ == Keep::all) {
      std::copy(counts.begin(), counts.end(), log);
      size_ = std::accumulate(counts.begin(), counts.end(), size_);
      return;
    }
    std::int32_t* from = staged();
    for (std::size_t k = 0; k < counts.size(); ++k) {
      log[k] = keep_upper(first + static_cast<Slot>(k), from, counts[k], shift);
      from += counts[k];
      size_ += log[k];
    }
  }

  // Calls visit(query, its hits, their number, shift) for the entries logged from `begin` to `end` (see `logged`),
  // whose first hit is number `at`.
  template <class Visit>
  void replay(std::size_t begin, std::size_t end, std::size_t at, Visit&& visit) const {
    const std::int32_t* from = hits() + at;
    while (begin != end) {
      LogEntry entry;
      begin -= sizeof(LogEntry);
      std::memcpy(&entry, base() + begin, sizeof(LogEntry));
      begin -= entry.queries * sizeof(std::uint32_t);
      const auto* const counts = reinterpret_cast<const std::uint32_t*>(base() + begin);
      for (std::uint32_t k = 0; k < entry.queries; ++k) {
        visit(entry.first + k, from, counts[k], entry.shift);
        from += counts[k];
      }
    }
  }

  // Writes the staged hits. Hits may be read only after this.
  void finish() {
    flush();
    std::copy_n(stage_.data(), size_ - flushed_, hits() + flushed_);
  }
  [[nodiscard]] std::int32_t* hits() const { return static_cast<std::int32_t*>(hits_.data()); }
  [[nodiscard]] std::size_t size() const { return size_; }
  // The position of the end of the log, in bytes.
  [[nodiscard]] std::size_t logged() const { return log_; }
  [[nodiscard]] Region release() { return std::move(hits_); }

 private:
  static constexpr std::size_t line_hits = cache_line / sizeof(std::int32_t);
  // A request always fits behind the hits that remain after a flush.
  static constexpr std::size_t staged_most = batch_hits + line_hits;
  // Up to this many hits are still in the cache when they are copied to their rows; more are written with streaming
  // stores.
  static constexpr std::size_t cached_hits = std::size_t{1} << 20;

  [[nodiscard]] std::byte* base() const { return static_cast<std::byte*>(hits_.data()); }
  [[nodiscard]] std::int32_t* staged() { return stage_.data() + (size_ - flushed_); }
  // Writes whole cache lines to the log and keeps the rest staged, so that writes stay aligned.
  void flush() {
    const std::size_t count = size_ - flushed_;
    const std::size_t whole = count / line_hits * line_hits;
    if (flushed_ < cached_hits) std::copy_n(stage_.data(), whole, hits() + flushed_);
    else kernels().stream(hits() + flushed_, stage_.data(), whole * sizeof(std::int32_t));
    std::memmove(stage_.data(), stage_.data() + whole, (count - whole) * sizeof(std::int32_t));
    flushed_ += whole;
    ensure_growth((flushed_ - whole) * sizeof(std::int32_t), flushed_ * sizeof(std::int32_t));
  }

  // Writes an entry and returns the address of its counts. Ensures that there is room for its hits, which are staged.
  std::uint32_t* enter(const LogEntry& entry) {
    const std::size_t bytes = sizeof(LogEntry) + entry.queries * sizeof(std::uint32_t);
    if ((size_ + batch_hits) * sizeof(std::int32_t) + bytes > log_) throw std::bad_alloc();
    std::memcpy(base() + log_ - sizeof(LogEntry), &entry, sizeof(LogEntry));
    log_ -= bytes;
    return reinterpret_cast<std::uint32_t*>(base() + log_);
  }

  // Moves the hits of a query with a larger id to the end of the log; returns their number. They never overwrite hits
  // that are still to be read.
  std::uint32_t keep_upper(Slot query, std::int32_t* from, std::uint32_t n, const Shift& shift) {
    const std::int32_t limit = queries_.ids[query] - (is_upper_image(bodies_.box, shift) ? 1 : 0);
    std::int32_t* const to = staged();
    std::uint32_t kept = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      to[kept] = from[k];
      kept += bodies_.ids[static_cast<std::size_t>(from[k])] > limit ? 1 : 0;
    }
    return kept;
  }

  const Bodies<T, D>& queries_;
  const Bodies<T, D>& bodies_;
  Keep keep_;
  Region hits_;
  std::size_t size_ = 0;
  std::size_t flushed_ = 0;  // hits after these are still staged
  Buffer<std::int32_t> stage_{staged_most + overshoot};
  std::size_t log_ = 0;
};

}  // namespace detail

}  // namespace vicinal
