// Parallel loops inside a time step. Unlike parallel_for they cannot be interrupted, since a step must be complete;
// interrupts are checked between steps.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/blocks.hpp"
#include "exec/threads.hpp"

namespace vicinal::dem {

// The least number of rows per thread for which waking the thread several times per step pays off.
inline constexpr std::size_t rows_per_thread = 4 * block_rows;

// Calls f(part) for every part, in any order, on at most `most_threads` threads. f must not throw.
template <class F>
void each(std::size_t parts, std::size_t most_threads, F&& f) {
  const std::size_t threads = std::min({parts, most_threads, static_cast<std::size_t>(thread_count())});
  if (threads > 1) {
    std::atomic<std::size_t> next{0};
    on_threads(threads, [&](std::size_t) {
      for (std::size_t part; (part = next.fetch_add(1, std::memory_order_relaxed)) < parts;) f(part);
    });
    return;
  }
  for (std::size_t part = 0; part < parts; ++part) f(part);
}

// Calls f(begin, end, block) for every block of rows.
template <class F>
void each_block(std::size_t rows, std::size_t size, F&& f) {
  each((rows + size - 1) / size, rows / rows_per_thread,
       [&](std::size_t b) { f(b * size, std::min(rows, (b + 1) * size), b); });
}

// Two loops over blocks on several threads: first f(block), then `then(block)` as soon as the first loop has finished
// all blocks that read this one. Every thread has the same consecutive blocks in every step, whose data stay in its
// cache; a thread that has none left takes those of others, from the end. A thread begins with the blocks that read
// blocks of other threads, which wait for them, and does the second loop of its own blocks afterwards.
class BlockQueue {
 public:
  BlockQueue(const BlockReads& reads, std::size_t threads)
      : reads_(reads), order_(reads.size()), shares_(threads), waits_(reads.size()), taken_(reads.size()) {
    for (std::size_t t = 0; t <= threads; ++t) bounds_.push_back(reads.size() * t / threads);
    for (std::size_t t = 0; t < threads; ++t) {
      const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(bounds_[t]),
                 end = order_.begin() + static_cast<std::ptrdiff_t>(bounds_[t + 1]);
      std::iota(begin, end, static_cast<Number>(bounds_[t]));
      const auto reads_others = [&](Number block) {
        return std::any_of(reads[block].begin(), reads[block].end(),
                           [&](Number later) { return later >= bounds_[t + 1]; });
      };
      const auto urgent = std::stable_partition(begin, end, reads_others);
      shares_[t].left = {bounds_[t], bounds_[t + 1]};
      shares_[t].urgent = static_cast<std::size_t>(urgent - begin);
    }
    for (auto& wait : waits_) wait.store(1, std::memory_order_relaxed);
    for (const auto& later : reads)
      for (const Number block : later) waits_[block].fetch_add(1, std::memory_order_relaxed);
  }

  template <class F, class Then>
  void work(std::size_t thread, F&& f, Then&& then) {
    constexpr std::size_t patience =
        4096;  // rounds without work; a thread that yields to other programs comes back late
    std::size_t block = 0, first = bounds_[thread], begun = 0, idle = 0;
    const auto finish = [&](std::size_t begin, std::size_t end) {
      if (!ready(begin, end, block)) return false;
      then(block);
      finished_.fetch_add(1, std::memory_order_relaxed);
      return true;
    };
    while (finished_.load(std::memory_order_relaxed) < waits_.size()) {
      while (first < bounds_[thread + 1] && taken_[first].load(std::memory_order_relaxed)) ++first;
      if (begun >= shares_[thread].urgent && finish(first, bounds_[thread + 1])) continue;
      if (next(thread, block)) {
        ++begun;
        f(block);
        for (const Number later : reads_[block]) waits_[later].fetch_sub(1, std::memory_order_acq_rel);
        waits_[block].fetch_sub(1, std::memory_order_acq_rel);
        idle = 0;
      } else if (!finish(0, waits_.size()) && ++idle > patience) {
        std::this_thread::yield();
      }
    }
  }

 private:
  // Takes a block of the first loop: the first of the thread's own, or the last of another.
  bool next(std::size_t thread, std::size_t& block) {
    for (std::size_t k = 0; k < shares_.size(); ++k) {
      ThreadShare& share = shares_[(thread + k) % shares_.size()];
      const std::lock_guard lock(share.access);
      if (share.left.first == share.left.second) continue;
      block = order_[k == 0 ? share.left.first++ : --share.left.second];
      return true;
    }
    return false;
  }
  // Takes a block of the second loop.
  bool ready(std::size_t begin, std::size_t end, std::size_t& block) {
    for (block = begin; block < end; ++block)
      if (waits_[block].load(std::memory_order_acquire) == 0 && !taken_[block].load(std::memory_order_relaxed) &&
          !taken_[block].exchange(true, std::memory_order_relaxed))
        return true;
    return false;
  }

  struct alignas(64) ThreadShare {
    std::mutex access;
    std::pair<std::size_t, std::size_t> left;  // places in the order of blocks, from the first up to the second
    std::size_t urgent = 0;                    // how many blocks, at the beginning, read blocks of other threads
  };
  const BlockReads& reads_;
  std::vector<Number> order_;        // of the blocks of each thread in the first loop
  std::vector<std::size_t> bounds_;  // of the blocks of each thread
  std::vector<ThreadShare> shares_;
  std::vector<std::atomic<Number>> waits_;  // per block: how many blocks that read it are not finished, and itself
  std::vector<std::atomic<bool>> taken_;    // per block: whether the second loop has it
  std::atomic<std::size_t> finished_{0};
};

// Calls f(block) for every block, and then(block) as soon as f has returned for it and for all blocks that read it.
template <class F, class Then>
void each_block_then(const BlockReads& reads, std::size_t rows, F&& f, Then&& then) {
  const std::size_t threads =
      std::min({reads.size(), rows / rows_per_thread, static_cast<std::size_t>(thread_count())});
  if (threads > 1) {
    BlockQueue queue(reads, threads);
    on_threads(threads, [&](std::size_t thread) { queue.work(thread, f, then); });
    return;
  }
  for (std::size_t block = 0; block < reads.size(); ++block) {
    f(block);
    then(block);
  }
}

}  // namespace vicinal::dem
