// Parallel loops inside a time step. Unlike parallel_for they cannot be interrupted, since a step must be complete;
// interrupts are checked between steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "dem/blocks.hpp"
#include "exec/threads.hpp"

namespace vicinal::dem {

// The least number of rows per thread for which waking the thread several times per step pays off.
inline constexpr std::size_t rows_per_thread = 4 * block_rows;

// Calls f(part) for every part, in any order, on at most `most_threads` threads. f must not throw.
template <class F>
void each(std::size_t parts, [[maybe_unused]] std::size_t most_threads, F&& f) {
#ifdef _OPENMP
  const auto threads = static_cast<int>(std::min({parts, most_threads, static_cast<std::size_t>(thread_count())}));
  if (threads > 1) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (std::size_t part = 0; part < parts; ++part) f(part);
    return;
  }
#endif
  for (std::size_t part = 0; part < parts; ++part) f(part);
}

// Calls f(begin, end, block) for every block of rows.
template <class F>
void each_block(std::size_t rows, std::size_t size, F&& f) {
  each((rows + size - 1) / size, rows / rows_per_thread,
       [&](std::size_t b) { f(b * size, std::min(rows, (b + 1) * size), b); });
}

// Calls f(block) for every block of rows. `offsets`: the first row of every block, and the number of rows. then(block)
// follows for every block as soon as f has returned for it and for all blocks before it.
template <class F, class Then>
void each_block_then(std::span<const std::size_t> offsets, F&& f, Then&& then) {
  std::mutex access;  // of the two below
  std::vector<std::uint8_t> done(offsets.size() - 1, 0);
  std::size_t next = 0;  // the first block for which `then` was not called yet
  each(done.size(), offsets.back() / rows_per_thread, [&](std::size_t block) {
    f(block);
    std::unique_lock lock(access);
    done[block] = 1;
    while (next < done.size() && done[next] != 0) {
      const std::size_t complete = next++;
      lock.unlock();
      then(complete);
      lock.lock();
    }
  });
}

}  // namespace vicinal::dem
