// Writes pairs once, from any number of threads, into columns whose length is not known beforehand.
//
// The columns are reserved generously (untouched pages cost nothing). A thread takes slabs of them in turn, collects
// entries in a buffer that stays in the first cache, and copies them out by whole cache lines. At the end only the last
// slab of each thread has a gap, which is filled from the end of the columns.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include "exec/available_memory.hpp"
#include "exec/stream.hpp"
#include "pairs/columns.hpp"
#include "pairs/kernels.hpp"
#include "pairs/owners.hpp"
#include "pairs/test.hpp"

namespace vicinal {

// Entries a thread takes at a time: of a large result a huge page of each index column, so that no two threads wait for
// the same page to be cleared; of a small one little, so that every thread gets a share.
inline constexpr std::size_t large_slab = huge_page / sizeof(std::int32_t);
inline constexpr std::size_t small_slab = std::size_t{1} << 13;

struct Gap {
  std::size_t begin, end;
};

// Hands out slabs of `entries` each, which take `bytes` per entry in all columns together, as long as there is memory.
class ColumnSlabs {
 public:
  ColumnSlabs(std::size_t count, std::size_t entries, std::size_t bytes)
      : capacity_(count * entries), entries_(entries), bytes_(bytes) {}
  Gap take() {
    const std::size_t begin = next_.fetch_add(entries_, std::memory_order_relaxed), end = begin + entries_;
    if (end > capacity_) throw std::bad_alloc();
    ensure_growth(begin * bytes_, end * bytes_);
    return {begin, end};
  }
  [[nodiscard]] std::size_t taken() const { return std::min(capacity_, next_.load()); }

 private:
  std::size_t capacity_;
  std::size_t entries_;
  std::size_t bytes_;
  std::atomic<std::size_t> next_{0};
};

template <class T, int D>
class PairWriter final : public HitSink {
 public:
  PairWriter(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, const Want& want, const Columns<T>& columns,
             ColumnSlabs& slabs)
      : queries_(queries), bodies_(bodies), slots_(want.slots()), columns_(columns), slabs_(slabs),
        staged_store_(want, (slots_ ? described_most : staged_most) + overshoot, nullptr),
        staged_(staged_store_.columns()), stream_(kernels().stream) {
    // Hits are staged by number if no other column is wanted, otherwise by slot in buffers of their own.
    if (!direct()) body_slots_.reset(batch_hits + overshoot);
    if (slots_) query_slots_.reset(batch_hits + overshoot);
  }
  PairWriter(const PairWriter&) = delete;
  PairWriter& operator=(const PairWriter&) = delete;

  [[nodiscard]] HitRoom room(std::size_t most) override {
    if (slots_) return {body_slots_.data(), nullptr};
    if (staged_count_ + most > staged_most) flush();
    return {direct() ? staged_.j + staged_count_ : body_slots_.data(),
            staged_.i != nullptr ? staged_.i + staged_count_ : nullptr};
  }
  void take(Slot first, std::span<const std::uint32_t> counts, const Shift& shift) override {
    std::size_t sum = 0;
    if (slots_) {
      sum = write_owners(first, counts, query_slots_.data());
      describe(sum, shift);
    } else {
      for (const std::uint32_t count : counts) sum += count;
      staged_count_ += sum;
    }
    total_ += sum;
  }

  // Must be called by the thread that has written, before another one reads.
  void settle() const {
    if (written_ > cached_bytes) finish_streams();
  }
  // Writes the staged hits; returns the unused end of the last slab.
  Gap finish() {
    flush();
    write(staged_count_);
    settle();
    staged_count_ = 0;
    return slab_;
  }
  [[nodiscard]] std::size_t total() const { return total_; }

 private:
  // A request always fits behind the hits that a flush leaves.
  static constexpr std::size_t staged_most = batch_hits + cache_line;
  // Entries with all columns, so few that they stay in the first cache.
  static constexpr std::size_t described_most = 256;
  // After this many bytes, which the second cache holds, entries are written past the caches.
  static constexpr std::size_t cached_bytes = std::size_t{1} << 20;
  // Entries per cache line of 4-byte columns; every column's entries are a multiple of 4 bytes.
  static constexpr std::size_t line_entries = cache_line / sizeof(std::int32_t);

  [[nodiscard]] bool direct() const { return !slots_ && staged_.j != nullptr; }

  // Stages n hits of one image.
  void describe(std::size_t n, const Shift& shift) {
    for (std::size_t done = 0; done < n;) {
      const std::size_t count = std::min(n - done, described_most - staged_count_);
      describe_hits(queries_, bodies_, query_slots_.data() + done,
                    std::span<const std::int32_t>(body_slots_.data() + done, count), shift, staged_, staged_count_);
      done += count;
      staged_count_ += count;
      if (staged_count_ == described_most) flush();
    }
  }

  // Moves whole lines to the columns and keeps the rest, so that writing stays aligned.
  void flush() {
    const std::size_t whole = staged_count_ / line_entries * line_entries;
    write(whole);
    const std::size_t rest = staged_count_ - whole;
    Columns<T>::template for_each<D>(staged_, staged_, [&](void* column, void*, std::size_t bytes) {
      auto* const base = static_cast<std::byte*>(column);
      if (base != nullptr) std::memmove(base, base + whole * bytes, rest * bytes);
    });
    staged_count_ = rest;
  }

  void write(std::size_t n) {
    std::size_t from = 0;
    while (from < n) {
      if (slab_.begin == slab_.end) slab_ = slabs_.take();
      const std::size_t count = std::min(n - from, slab_.end - slab_.begin);
      Columns<T>::template for_each<D>(columns_, staged_, [&](void* to, void* source, std::size_t bytes) {
        if (to == nullptr) return;
        auto* const target = static_cast<std::byte*>(to) + slab_.begin * bytes;
        const auto* const start = static_cast<const std::byte*>(source) + from * bytes;
        if (count % line_entries == 0 && written_ > cached_bytes) stream_(target, start, count * bytes);
        else std::memcpy(target, start, count * bytes);
      });
      slab_.begin += count;
      from += count;
    }
    Columns<T>::template for_each<D>(columns_, columns_, [&](void* column, void*, std::size_t bytes) {
      written_ += column != nullptr ? n * bytes : 0;
    });
  }

  const Bodies<T, D>& queries_;
  const Bodies<T, D>& bodies_;
  bool slots_;
  Columns<T> columns_;
  ColumnSlabs& slabs_;
  ColumnStore<T, D> staged_store_;
  Columns<T> staged_;
  void (*stream_)(void*, const void*, std::size_t);
  Buffer<std::int32_t> query_slots_, body_slots_;
  std::size_t staged_count_ = 0;
  std::size_t total_ = 0;
  std::size_t written_ = 0;  // bytes
  Gap slab_{0, 0};
};

// Fills the gaps in [0, end) with entries from the end, so that entries become contiguous; returns their number.
template <class T, int D>
std::size_t close_gaps(const Columns<T>& columns, std::vector<Gap> gaps, std::size_t end) {
  std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.begin < b.begin; });
  std::erase_if(gaps, [](const Gap& gap) { return gap.begin == gap.end; });
  std::size_t first = 0;
  while (first < gaps.size()) {
    Gap& last = gaps.back();
    if (last.end == end) {
      end = last.begin;
      gaps.pop_back();
      continue;
    }
    Gap& hole = gaps[first];
    const std::size_t count = std::min(hole.end - hole.begin, end - last.end);
    Columns<T>::template for_each<D>(columns, columns, [&](void* column, void*, std::size_t bytes) {
      auto* const base = static_cast<std::byte*>(column);
      if (base != nullptr) std::memcpy(base + hole.begin * bytes, base + (end - count) * bytes, count * bytes);
    });
    hole.begin += count;
    end -= count;
    if (hole.begin == hole.end) ++first;
  }
  return end;
}

}  // namespace vicinal
