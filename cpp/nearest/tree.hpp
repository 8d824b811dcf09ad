// A tree over points for the search of the nearest ones, which needs no cutoff.
//
// Points lie along a Morton curve; the leaves are runs of them. Every node above has `arity` consecutive children, so
// the tree is a few arrays of boxes, and the bounds of all children of a node are computed at once.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "index/curve_order.hpp"

namespace vicinal {

template <class T, int D>
class NearestTree {
 public:
  static constexpr std::size_t arity = 16;  // a multiple of the lanes of every instruction set
  // Points of a leaf, at most (benchmarks/nearest.py).
  static constexpr std::size_t leaf_points = 40;

  // Nodes first … first+count-1 of one depth; those up to a multiple of `arity` are empty.
  struct Level {
    std::size_t first, count;
  };

  NearestTree(const BodyView<T, D>& points, const Box<T, D>& box) {
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

  // Points in the order of a curve, in groups of at most `leaf_points`.
  static void arrange(const BodyView<T, D>& points, const Box<T, D>& box, Bodies<T, D>& bodies) {
    // Spheres are searched by their centres.
    BodyView<T, D> centres = in_box(points, box);
    centres.shape = Shape::point;
    centres.extra = nullptr;
    centres.largest = {};
    bodies.reset(centres, box, NearFrame<D>{});
    Prefixes prefixes;
    // Few bits: then the keys can be sorted by counting.
    const int bits = std::min(morton_bits<D>, static_cast<int>(std::bit_width(32 * points.size)) / D);
    order_by_curve(bodies, leaf_points, prefixes, bits);
  }

  [[nodiscard]] const Bodies<T, D>& bodies() const { return bodies_; }
  [[nodiscard]] std::size_t depth() const { return levels_.size(); }
  [[nodiscard]] const Level& level(std::size_t k) const { return levels_[k]; }
  // The boxes of all nodes, and the smallest number of a point in each.
  [[nodiscard]] std::array<const T*, D> low(std::size_t node) const { return columns(low_, node); }
  [[nodiscard]] std::array<const T*, D> high(std::size_t node) const { return columns(high_, node); }
  [[nodiscard]] std::int32_t least_id(std::size_t node) const { return least_[node]; }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = bodies_.bytes() + least_.bytes();
    for (std::size_t a = 0; a < D; ++a) sum += low_[a].bytes() + high_[a].bytes();
    return sum;
  }

 private:
  static std::array<const T*, D> columns(const std::array<Buffer<T>, D>& of, std::size_t node) {
    std::array<const T*, D> x{};
    for (std::size_t a = 0; a < D; ++a) x[a] = of[a].data() + node;
    return x;
  }

  // Joins the boxes of the children of every node: of points for a leaf.
  void fill(std::size_t level) {
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

  Bodies<T, D> bodies_;        // the groups are the leaves
  std::vector<Level> levels_;  // leaves first
  std::array<Buffer<T>, D> low_, high_;
  Buffer<std::int32_t> least_;
};

}  // namespace vicinal
