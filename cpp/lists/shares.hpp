// Sums over half rows on several threads.
//
// A pair contributes to both of its bodies, so if threads divided the rows they would write to the same bodies. Here
// threads divide the bodies instead: each thread reads all rows that can contain its bodies and adds to its bodies
// only. Rows are sorted, so the entries that belong to a thread are contiguous in each row. Every sum is formed in the
// order of the entries, so its bits do not depend on the number of threads, and no memory is needed besides the result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "exec/threads.hpp"

namespace vicinal {

// The bodies of a thread.
struct BodyShare {
  std::size_t begin = 0, end = 0;

  [[nodiscard]] bool has(std::int32_t body) const {
    const auto b = static_cast<std::size_t>(body);
    return b >= begin && b < end;
  }
  // The part of an ascending row whose bodies are in the share.
  [[nodiscard]] std::pair<std::size_t, std::size_t> piece(std::span<const std::int32_t> row) const {
    std::size_t first = 0;
    std::size_t last = row.size();
    while (first < last && static_cast<std::size_t>(row[first]) < begin) ++first;
    while (last > first && static_cast<std::size_t>(row[last - 1]) >= end) --last;
    return {first, last};
  }
};

// Calls f(share) for one share of the bodies per thread. Shares begin at multiples of `unit`.
template <class F>
void for_each_share(std::size_t bodies, std::size_t unit, F&& f) {
  const std::size_t units = (bodies + unit - 1) / unit;
  const std::size_t shares = std::min(static_cast<std::size_t>(thread_count()), units);
  parallel_for(shares, [&](std::size_t share, int) {
    f(BodyShare{units * share / shares * unit, std::min(bodies, units * (share + 1) / shares * unit)});
  });
}

}  // namespace vicinal
