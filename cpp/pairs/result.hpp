// The result of a search: columns, the number of entries, and the number of candidates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pairs/columns.hpp"

namespace vicinal {

struct Tally {
  std::uint64_t candidates = 0;
  std::uint64_t pairs = 0;
};

template <class T, int D>
struct PairResult {
  ColumnStore<T, D> store;
  std::size_t size = 0;
  Tally tally;
};

}  // namespace vicinal
