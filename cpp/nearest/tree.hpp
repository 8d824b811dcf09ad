// A tree over points for the search of the nearest ones, which needs no cutoff.
//
// Points lie along a Morton curve; the leaves are runs of them. Every node above has `arity` consecutive children, so
// the tree is a few arrays of boxes, and the bounds of all children of a node are computed at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/memory.hpp"
#include "index/bodies.hpp"

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

  NearestTree(const BodyView<T, D>& points, const Box<T, D>& box);

  // Points in the order of a curve, in groups of at most `leaf_points`.
  static void arrange(const BodyView<T, D>& points, const Box<T, D>& box, Bodies<T, D>& bodies);

  [[nodiscard]] const Bodies<T, D>& bodies() const { return bodies_; }
  [[nodiscard]] std::size_t depth() const { return levels_.size(); }
  [[nodiscard]] const Level& level(std::size_t k) const { return levels_[k]; }
  // The boxes of all nodes, and the smallest number of a point in each.
  [[nodiscard]] std::array<const T*, D> low(std::size_t node) const { return columns(low_, node); }
  [[nodiscard]] std::array<const T*, D> high(std::size_t node) const { return columns(high_, node); }
  [[nodiscard]] std::int32_t least_id(std::size_t node) const { return least_[node]; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  static std::array<const T*, D> columns(const std::array<Buffer<T>, D>& of, std::size_t node) {
    std::array<const T*, D> x{};
    for (std::size_t a = 0; a < D; ++a) x[a] = of[a].data() + node;
    return x;
  }

  // Joins the boxes of the children of every node: of points for a leaf.
  void fill(std::size_t level);

  Bodies<T, D> bodies_;        // the groups are the leaves
  std::vector<Level> levels_;  // leaves first
  std::array<Buffer<T>, D> low_, high_;
  Buffer<std::int32_t> least_;
};

}  // namespace vicinal
