// The bulk: the region that holds most bodies. A few distant bodies (strays) must not determine the size of cells or
// the precision of coordinates.
#pragma once

#include <array>
#include <cstddef>

#include "geometry/box.hpp"
#include "index/body_view.hpp"

namespace vicinal {

// The bounds of the positions of most bodies, after wrapping. Structures may clamp positions to them: clamping is
// monotone, so it adds candidates and loses none.
template <int D>
struct Bulk {
  std::array<double, D> low{}, high{};
  std::array<double, D> length{};  // the length of the bulk, estimated for evenly spread bodies
  bool cut = false;                // whether some bodies are outside
  std::size_t outside = 0;         // how many
};

// Bodies outside the bulk cost more than others, so there must be few of them.
inline std::size_t most_strays(std::size_t bodies) { return 16 + bodies / 65536; }

// Returns the whole extent of the bodies, unless it is far longer than its middle part along some axis and at most
// `most` bodies are outside. `reach` is the largest distance of a pair.
template <class T, int D>
Bulk<D> find_bulk(const BodyView<T, D>& bodies, const Box<T, D>& box, double reach, std::size_t most);

// A view whose bounds are those of the bulk, for laying out a grid or a curve.
template <class T, int D>
BodyView<T, D> within(const Bulk<D>& bulk, const BodyView<T, D>& bodies, const Box<T, D>& box) {
  BodyView<T, D> view = bodies;
  if (!bulk.cut) return view;
  for (std::size_t a = 0; a < D; ++a) {
    if (box.edge[a] > 0) continue;
    view.low[a] = static_cast<T>(bulk.low[a]);
    view.high[a] = static_cast<T>(bulk.high[a]);
  }
  return view;
}

}  // namespace vicinal
