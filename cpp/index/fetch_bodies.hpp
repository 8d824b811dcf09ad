// Fetches bodies into a cache before the exact test reads them.
#pragma once

#include <algorithm>
#include <cstddef>

#include "exec/memory.hpp"
#include "exec/prefetch.hpp"
#include "index/block.hpp"
#include "index/bodies.hpp"

namespace vicinal {

// The columns and numbers of bodies begin … end-1, which are not empty. Of long runs only the beginning: the processor
// fetches the rest itself.
template <class T, int D>
void fetch_bodies(const Bodies<T, D>& bodies, Slot begin, Slot end) {
  constexpr std::size_t most_lines = 4;
  const auto fetch = [&](const auto* column) {
    const auto* const first = reinterpret_cast<const char*>(column + begin);
    const auto* const last = reinterpret_cast<const char*>(column + end) - 1;
    const char* const stop = std::min(last, first + (most_lines - 1) * cache_line);
    for (const char* line = first; line < stop; line += cache_line) prefetch_to_read(line);
    prefetch_to_read(stop);
  };
  for (std::size_t c = 0; c < bodies.columns(); ++c) {
    if (bodies.banded) fetch(bodies.near[c].data());
    else fetch(bodies.exact[c].data());
  }
  fetch(bodies.ids.data());
}

}  // namespace vicinal
