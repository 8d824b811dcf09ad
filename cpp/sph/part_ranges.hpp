// Which thread does which part of a loop.
//
// Every thread begins with a range of its own. One that is done helps the others, from the ends of their ranges. So the
// load is balanced, and a thread does nearly the same parts in every loop over the same things: what they need is in
// its own cache. (With parts handed out in the order of requests, steps of fluids in two dimensions were no faster on
// two threads than on one.)
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/memory.hpp"

namespace vicinal::sph {

class PartRanges {
 public:
  // Fewer than 2³² parts.
  PartRanges(std::size_t parts, std::size_t threads) : ranges_(threads) {
    for (std::size_t t = 0; t < threads; ++t)
      ranges_[t].ends.store(packed(parts * t / threads, parts * (t + 1) / threads), std::memory_order_relaxed);
  }

  // The next part for a thread; false if none is left.
  bool take(std::size_t thread, std::size_t& part) {
    if (ranges_[thread].take(true, part)) return true;
    for (std::size_t k = 1; k < ranges_.size(); ++k)
      if (ranges_[(thread + k) % ranges_.size()].take(false, part)) return true;
    return false;
  }

 private:
  static std::uint64_t packed(std::uint64_t begin, std::uint64_t end) { return begin << 32 | end; }

  struct alignas(cache_line) Range {
    std::atomic<std::uint64_t> ends{0};

    bool take(bool first, std::size_t& part) {
      std::uint64_t now = ends.load(std::memory_order_relaxed);
      while (true) {
        const std::uint64_t begin = now >> 32, end = now & 0xffffffff;
        if (begin >= end) return false;
        part = first ? begin : end - 1;
        const std::uint64_t rest = first ? packed(begin + 1, end) : packed(begin, end - 1);
        if (ends.compare_exchange_weak(now, rest, std::memory_order_relaxed)) return true;
      }
    }
  };
  std::vector<Range> ranges_;
};

}  // namespace vicinal::sph
