// Blocks of rows whose forces are summed together. They are cut by the keys of bodies, not by numbers of rows: a body
// is in the same block however many ranks share the bodies, so the order in which its forces are added does not depend
// on the ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dem/arrays.hpp"

namespace vicinal::dem {

// Per block: the later blocks whose bodies the loop over it reads.
using BlockReads = std::vector<std::vector<Number>>;

// The place of a body in the order of rows: rows are sorted by key, then by id. A key is a number along a space-filling
// curve (Assembly::set_keys), or this number plus the id for bodies that were inserted since.
inline constexpr std::uint64_t inserted_key = std::uint64_t{1} << 63;

// Loops over bodies process this many rows at a time. The size does not depend on the number of threads.
inline constexpr std::size_t block_rows = 1024;

// The number of elements per block of forces. Blocks are larger if there are many bodies: fewer pairs then connect two
// blocks, while the data of one block still fits into the level-2 cache. At least eight blocks remain, so that threads
// can share the work.
inline std::size_t force_block_rows(std::size_t elements) {
  std::size_t size = block_rows;
  while (size < 4 * block_rows && elements / (2 * size) >= 8) size *= 2;
  return size;
}

// Which block a key belongs to.
struct KeyBlocks {
  std::vector<std::uint64_t> bounds;  // the first key of every block but the first, ascending
  std::int64_t first_id = 0;          // bodies inserted after the blocks were cut have ids from here on
  std::int64_t size = 1;              // of these, so many belong to a block

  [[nodiscard]] std::size_t of(std::uint64_t key) const {
    if (key < inserted_key)
      return static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), key) - bounds.begin());
    const std::int64_t place = static_cast<std::int64_t>(key - inserted_key) - first_id;
    return bounds.size() + 1 + static_cast<std::size_t>(std::max<std::int64_t>(place, 0) / size);
  }
  // The first row of every block that has rows, and the number of rows. `keys` are ascending.
  [[nodiscard]] std::vector<std::size_t> offsets(std::span<const std::uint64_t> keys) const {
    std::vector<std::size_t> offsets;
    std::size_t last = 0;
    for (std::size_t row = 0; row < keys.size(); ++row) {
      const std::size_t block = row > 0 && keys[row] == keys[row - 1] ? last : of(keys[row]);
      if (row == 0 || block != last) offsets.push_back(row);
      last = block;
    }
    offsets.push_back(keys.size());
    return offsets;
  }
};

}  // namespace vicinal::dem
