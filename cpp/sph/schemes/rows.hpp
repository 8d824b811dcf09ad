// The neighbours of a step as rows that every sweep of a solver reads again: the place of each neighbour, and the
// gradient of the kernel towards it. Sweeps look for nothing and evaluate no kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinal::sph {

// As many neighbours as there are lanes. The last block of a row ends with neighbours that have no gradient.
template <class T, int D>
struct alignas(64) RowBlock {
  static constexpr std::size_t width = 64 / sizeof(T);
  T slope[D][width];           // V ∇W
  std::uint32_t place[width];  // four times the slot of the neighbour: where its numbers begin
};

// Where the rows of some cells go.
template <class T, int D>
struct RowSink {
  RowBlock<T, D>* blocks;
  std::size_t used, capacity;
  std::uint32_t* counts;  // one per fluid particle: blocks of its row
};

}  // namespace vicinal::sph
