// Loops inside a time step. A step is done whole or not at all, so unlike parallel_for they are not interruptible; the
// host is asked between steps.
#pragma once

#include <algorithm>
#include <cstddef>

#include "exec/threads.hpp"
#include "sph/part_ranges.hpp"

namespace vicinal::sph {

// A thread pays for being woken several times in a step from this many particles on.
inline constexpr std::size_t particles_per_thread = 1024;
inline constexpr std::size_t block_size = 512;

// Calls f(part, thread) for every part, in any order. f must not throw.
template <class F>
void each(std::size_t parts, std::size_t particles, F&& f) {
  const std::size_t threads =
      std::min({parts, particles / particles_per_thread, static_cast<std::size_t>(thread_count())});
  if (threads > 1) {
    PartRanges ranges(parts, threads);
    on_threads(threads, [&](std::size_t thread) {
      for (std::size_t part = 0; ranges.take(thread, part);) f(part, thread);
    });
    return;
  }
  for (std::size_t part = 0; part < parts; ++part) f(part, std::size_t{0});
}

// Parts of all cells are small enough to balance the load of threads where the fluid fills but a part of the cells.
inline std::size_t cells_of_part(std::size_t cells) { return std::max<std::size_t>(16, cells / 512); }

// Calls f(begin, end, thread) for parts of all cells.
template <class F>
void each_part(std::size_t cells, std::size_t particles, F&& f) {
  const std::size_t grain = cells_of_part(cells);
  each((cells + grain - 1) / grain, particles,
       [&](std::size_t part, std::size_t thread) { f(part * grain, std::min(cells, (part + 1) * grain), thread); });
}

// Calls f(begin, end, block) for every block of particles.
template <class F>
void each_block(std::size_t particles, F&& f) {
  each((particles + block_size - 1) / block_size, particles,
       [&](std::size_t b, std::size_t) { f(b * block_size, std::min(particles, (b + 1) * block_size), b); });
}

}  // namespace vicinal::sph
