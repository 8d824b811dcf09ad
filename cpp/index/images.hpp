// The images of a periodic box in which bodies can have neighbours.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "geometry/box.hpp"
#include "index/structure.hpp"

namespace vicinal {

// Sorted by z, then y, then x: the box itself is in the middle, and the images before it are the opposites of those
// after.
template <class T, int D>
std::vector<Shift> images_within(const Reach<D>& reach, const Box<T, D>& box) {
  // Wrapped coordinates differ by less than an edge, so an image s edges away is at least |s| - 1 edges off.
  std::array<int, 3> most{};
  for (std::size_t a = 0; a < D; ++a) {
    const T edge = box.edge[a];
    if (!(edge > 0)) continue;
    const double edges = std::floor(periodic_reach(reach.axis[a], edge) / static_cast<double>(edge)) + 1;
    if (!(edges <= std::numeric_limits<std::int16_t>::max()))
      throw std::invalid_argument("cutoff must reach at most 32767 edges of the box; use a smaller one");
    most[a] = static_cast<int>(edges);
  }
  std::vector<Shift> images;
  for (int z = -most[2]; z <= most[2]; ++z)
    for (int y = -most[1]; y <= most[1]; ++y)
      for (int x = -most[0]; x <= most[0]; ++x)
        images.push_back({static_cast<std::int16_t>(x), static_cast<std::int16_t>(y), static_cast<std::int16_t>(z)});
  return images;
}

}  // namespace vicinal
