#include "nearest/tree.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "exec/threads.hpp"
#include "index/curve_order.hpp"

namespace vicinal {

template <class T, int D>
NearestTree<T, D>::NearestTree(const BodyView<T, D>& points, const Box<T, D>& box) {
  arrange(points, box, bodies_);
  std::size_t count = bodies_.groups;
  std::size_t total = 0;
  while (count > 0) {
    levels_.push_back({total, count});
    total += (count + arity - 1) / arity * arity;
    if (count <= arity) break;
    count = (count + arity - 1) / arity;
  }
  for (std::size_t a = 0; a < D; ++a) {
    low_[a].reset(total);
    high_[a].reset(total);
  }
  least_.reset(total);
  for (std::size_t level = 0; level < levels_.size(); ++level) fill(level);
}

template <class T, int D>
void NearestTree<T, D>::arrange(const BodyView<T, D>& points, const Box<T, D>& box, Bodies<T, D>& bodies) {
  // Spheres are searched by their centres.
  BodyView<T, D> centres = in_box(points, box);
  centres.shape = Shape::point;
  centres.extra = nullptr;
  centres.largest = {};
  bodies.reset(centres, box, NearFrame<D>{});
  if (centres.size == 1) {  // a single query needs no order
    bodies.place(0, 0);
    bodies.groups = 1;
    bodies.group_begin.reset(2);
    bodies.group_begin[0] = 0;
    bodies.group_begin[1] = 1;
    return;
  }
  Prefixes prefixes;
  // Few bits: cells hold a few points on average, much less than a leaf, and counting them takes little time.
  const int bits = std::clamp(static_cast<int>(std::bit_width(points.size)) / D, 1, morton_bits<D>);
  order_by_curve(bodies, leaf_points, prefixes, bits);
}

template <class T, int D>
std::size_t NearestTree<T, D>::bytes() const {
  std::size_t sum = bodies_.bytes() + least_.bytes();
  for (std::size_t a = 0; a < D; ++a) sum += low_[a].bytes() + high_[a].bytes();
  return sum;
}

template <class T, int D>
void NearestTree<T, D>::fill(std::size_t level) {
  // Not a structured binding: clang 14 cannot capture one.
  const std::size_t first = levels_[level].first;
  const std::size_t count = levels_[level].count;
  const std::size_t padded = (count + arity - 1) / arity * arity;
  parallel_ranges(padded, std::size_t{1} << 12, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t node = begin; node < end; ++node) {
      std::size_t from = 0;
      std::size_t to = 0;
      if (node < count && level == 0) {
        from = bodies_.group_begin[node];
        to = bodies_.group_begin[node + 1];
      } else if (node < count) {
        from = levels_[level - 1].first + node * arity;
        to = std::min(from + arity, levels_[level - 1].first + levels_[level - 1].count);
      }
      for (std::size_t a = 0; a < D; ++a) {
        const T* const low = level == 0 ? bodies_.exact[a].data() : low_[a].data();
        const T* const high = level == 0 ? bodies_.exact[a].data() : high_[a].data();
        T least = std::numeric_limits<T>::infinity();
        T most = -std::numeric_limits<T>::infinity();
        for (std::size_t k = from; k < to; ++k) {
          least = std::min(least, low[k]);
          most = std::max(most, high[k]);
        }
        low_[a][first + node] = least;
        high_[a][first + node] = most;
      }
      const std::int32_t* const ids = level == 0 ? bodies_.ids.data() : least_.data();
      std::int32_t least = std::numeric_limits<std::int32_t>::max();
      for (std::size_t k = from; k < to; ++k) least = std::min(least, ids[k]);
      least_[first + node] = least;
    }
  });
}

template class NearestTree<float, 2>;
template class NearestTree<float, 3>;
template class NearestTree<double, 2>;
template class NearestTree<double, 3>;

}  // namespace vicinal
