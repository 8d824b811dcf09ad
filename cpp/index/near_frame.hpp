// Coordinates close enough to each other for float32: (x - centre) * scale, with the reach scaled to [0.5, 1).
//
// A pair of doubles is tested in float32 first and again in double only if it lies in the band (pairs/test.hpp), which
// halves the bytes and doubles the lanes. Too many pairs lie in the band if coordinates are far larger than the reach.
// If that is because of a few strays the frame is *cut*: it covers the bulk of the bodies, and the coordinates of
// bodies outside are clamped to its border. Clamping is monotone and brings no two bodies farther apart, so structures
// may use clamped coordinates to propose candidates; the exact test compares bodies at the border in double only
// (Bodies::outside).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "geometry/box.hpp"
#include "index/body_view.hpp"
#include "index/bulk.hpp"

namespace vicinal {

template <int D>
struct NearFrame {
  // If coordinates are larger than this the frame is not used, since too many pairs would lie in the band.
  static constexpr double most = 4096;
  std::array<double, D> centre{};
  std::array<double, D> low{}, high{};  // scaled, 4 reaches outside the bodies; coordinates are clamped to them
  double scale = 1;
  double largest = std::numeric_limits<double>::infinity();  // bounds every scaled coordinate, images included
  bool cut = false;                                          // some bodies are outside

  [[nodiscard]] bool useful() const { return largest <= most; }
  [[nodiscard]] float operator()(double x, int axis) const {
    const auto a = static_cast<std::size_t>(axis);
    return static_cast<float>(std::min(std::max((x - centre[a]) * scale, low[a]), high[a]));
  }
  // Whether a coordinate in the frame may have been clamped.
  [[nodiscard]] bool at_border(float x, std::size_t axis) const {
    return x <= static_cast<float>(low[axis]) || x >= static_cast<float>(high[axis]);
  }
};

namespace detail {

// The coordinates that wrapped bodies can have.
template <class T, int D>
Bulk<D> space_of(const BodyView<T, D>& bodies, const Box<T, D>& box) {
  Bulk<D> space;
  for (std::size_t a = 0; a < D; ++a) {
    if (!box.tilted) {
      const bool periodic = box.edge[a] > 0;
      space.low[a] = periodic ? 0 : static_cast<double>(bodies.low[a]);
      space.high[a] = static_cast<double>(periodic ? box.edge[a] : bodies.high[a]);
      continue;
    }
    for (std::size_t k = 0; k < D; ++k) {
      const bool periodic = box.edge[k] > 0;
      const double normal = box.lattice.normal[k][a];
      const double one = periodic ? 0 : normal * static_cast<double>(bodies.low[k]);
      const double other =
          periodic ? static_cast<double>(box.lattice.vector[k][a]) : normal * static_cast<double>(bodies.high[k]);
      space.low[a] += std::min(one, other);
      space.high[a] += std::max(one, other);
    }
  }
  return space;
}

template <class T, int D>
NearFrame<D> frame_over(const Bulk<D>& space, const Box<T, D>& box, double reach) {
  NearFrame<D> frame;
  frame.scale = std::exp2(-std::floor(std::log2(reach)) - 1);
  double largest = 0;
  for (std::size_t a = 0; a < D; ++a) {
    const double length = space.high[a] - space.low[a];
    if (!(length < 1e290)) return frame;
    frame.centre[a] = space.low[a] + length / 2;
    const double half = length / 2 * frame.scale + 4;
    frame.low[a] = -half;
    frame.high[a] = half;
    // An image is moved by s edges, s * edge <= reach + edge. (In a tilted cell: by at most the reach and the extent of
    // the cell, if it has a neighbour.)
    largest = std::max(largest, box.tilted || box.edge[a] > 0 ? 3 * half : half);
  }
  frame.largest = largest;
  frame.cut = space.cut;
  return frame;
}

}  // namespace detail

template <class T, int D>
NearFrame<D> near_frame(const BodyView<T, D>& bodies, const Box<T, D>& box, double reach) {
  // Squares must be far from underflow and overflow: the band covers relative rounding only.
  if (!(reach > 1e-140 && reach < 1e140) || bodies.size == 0) return {};
  const NearFrame<D> frame = detail::frame_over(detail::space_of(bodies, box), box, reach);
  // The bulk is known in lattice coordinates only.
  if (frame.useful() || !std::is_same_v<T, double> || bodies.shape == Shape::box || box.tilted) return frame;
  const Bulk<D> bulk = find_bulk(bodies, box, reach, most_strays(bodies.size));
  return bulk.cut ? detail::frame_over(bulk, box, reach) : frame;
}

}  // namespace vicinal
