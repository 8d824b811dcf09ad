// The queries of hits, one by one, from the number of hits of each query.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "index/structure.hpp"
#include "pairs/kernels.hpp"

namespace vicinal {

// Writes the slot of the query of every hit, and up to `overshoot` entries more; returns the number of hits.
inline std::size_t write_owners(Slot first, std::span<const std::uint32_t> counts, std::int32_t* to) {
  // Too many at once cost less than a branch that depends on their number.
  constexpr std::size_t together = 16;
  static_assert(together <= overshoot);
  std::size_t sum = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    std::size_t filled = 0;
    do std::fill_n(to + sum + filled, together, static_cast<std::int32_t>(first + k));
    while ((filled += together) < counts[k]);
    sum += counts[k];
  }
  return sum;
}

}  // namespace vicinal
