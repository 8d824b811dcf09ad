// Finds keys in an ascending list in about one step: keys with the same leading bits are found by a table.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "exec/memory.hpp"

namespace vicinal {

class KeyTable {
 public:
  // The keys must stay where they are. The table has at most two entries for each of them.
  void reset(const std::uint64_t* keys, std::size_t count) {
    keys_ = keys;
    count_ = count;
    if (count == 0) return;
    shift_ = std::max(0, static_cast<int>(std::bit_width(keys[count - 1])) - static_cast<int>(std::bit_width(count)));
    const std::size_t parts = static_cast<std::size_t>(keys[count - 1] >> shift_) + 1;
    starts_.reset(parts + 1);
    std::size_t part = 0;
    for (std::size_t k = 0; k < count; ++k)
      for (const auto mine = static_cast<std::size_t>(keys[k] >> shift_); part <= mine; ++part)
        starts_[part] = static_cast<std::uint32_t>(k);
    starts_[parts] = static_cast<std::uint32_t>(count);
  }
  // The place of the first key that is not below this one.
  [[nodiscard]] std::size_t first_from(std::uint64_t key) const {
    if (count_ == 0 || key > keys_[count_ - 1]) return count_;
    const auto part = static_cast<std::size_t>(key >> shift_);
    const std::uint64_t* const end = keys_ + starts_[part + 1];
    return static_cast<std::size_t>(std::lower_bound(keys_ + starts_[part], end, key) - keys_);
  }
  [[nodiscard]] std::size_t bytes() const { return starts_.bytes(); }

 private:
  const std::uint64_t* keys_ = nullptr;
  std::size_t count_ = 0;
  int shift_ = 0;
  Buffer<std::uint32_t> starts_;
};

}  // namespace vicinal
