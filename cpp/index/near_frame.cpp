#include "index/near_frame.hpp"

#include <cmath>
#include <type_traits>

#include "index/bulk.hpp"

namespace vicinal {

namespace {

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

}  // namespace

template <class T, int D>
NearFrame<D> near_frame(const BodyView<T, D>& bodies, const Box<T, D>& box, double reach) {
  // Squares must be far from underflow and overflow: the band covers relative rounding only.
  if (!(reach > 1e-140 && reach < 1e140) || bodies.size == 0) return {};
  const NearFrame<D> frame = frame_over(space_of(bodies, box), box, reach);
  // The bulk is known in lattice coordinates only.
  if (frame.useful() || !std::is_same_v<T, double> || bodies.shape == Shape::box || box.tilted) return frame;
  const Bulk<D> bulk = find_bulk(bodies, box, reach, most_strays(bodies.size));
  return bulk.cut ? frame_over(bulk, box, reach) : frame;
}

template NearFrame<2> near_frame(const BodyView<float, 2>&, const Box<float, 2>&, double);
template NearFrame<3> near_frame(const BodyView<float, 3>&, const Box<float, 3>&, double);
template NearFrame<2> near_frame(const BodyView<double, 2>&, const Box<double, 2>&, double);
template NearFrame<3> near_frame(const BodyView<double, 3>&, const Box<double, 3>&, double);

}  // namespace vicinal
