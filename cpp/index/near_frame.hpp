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
#include <cstddef>
#include <limits>

#include "geometry/box.hpp"
#include "index/body_view.hpp"

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

// The frame of bodies whose pairs have this reach.
template <class T, int D>
NearFrame<D> near_frame(const BodyView<T, D>& bodies, const Box<T, D>& box, double reach);

}  // namespace vicinal
