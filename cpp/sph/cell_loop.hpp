// A loop over the cells that have queries.
#pragma once

#include "sph/loops.hpp"

namespace vicinal::sph {
namespace {

// Calls f(cell, first query, end) for the cells from `begin` to `end` that are neither empty nor idle.
template <class T, int D, class F>
[[gnu::always_inline]] inline void for_cells(const CellShape<T, D>& shape, const CellRecords<T, D>& cells,
                                             std::size_t begin, std::size_t end, F&& f) {
  const std::uint32_t* const offsets = cells.offsets;
  if (offsets[begin] == offsets[end]) return;
  for (std::size_t number = begin; number < end; ++number) {
    if (offsets[number] == offsets[number + 1] || (cells.idle != nullptr && cells.idle[number] != 0)) continue;
    std::int32_t cell[D];
    std::size_t rest = number;
    for (std::size_t a = 0; a < D; ++a) {
      const auto count = static_cast<std::size_t>(shape.count[a]);
      cell[a] = static_cast<std::int32_t>(rest % count);
      rest /= count;
    }
    f(cell, std::size_t{offsets[number]}, std::size_t{offsets[number + 1]});
  }
}

}  // namespace
}  // namespace vicinal::sph
