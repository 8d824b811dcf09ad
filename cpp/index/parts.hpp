// Cuts ordered bodies into pieces of work, at the borders of groups.
#pragma once

#include <algorithm>
#include <cstddef>

#include "index/bodies.hpp"

namespace vicinal {

// Small enough to balance threads and to respond to Ctrl-C, large enough that pairs dominate the cost of a piece.
inline constexpr std::size_t part_bodies = 2048;

template <class T, int D>
std::size_t part_count(const Bodies<T, D>& bodies) {
  return (bodies.size + part_bodies - 1) / part_bodies;
}

struct GroupRange {
  std::size_t first, last;
};

template <class T, int D>
GroupRange groups_of_part(const Bodies<T, D>& bodies, std::size_t part) {
  const auto* const begin = bodies.group_begin.data();
  const auto* const end = begin + bodies.groups;
  const auto at = [&](std::size_t body) {
    return static_cast<std::size_t>(std::lower_bound(begin, end, body) - begin);
  };
  return {at(part * part_bodies), at((part + 1) * part_bodies)};
}

}  // namespace vicinal
