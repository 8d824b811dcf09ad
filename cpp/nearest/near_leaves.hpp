// The leaves of the tree that may hold points within a radius of a run of queries.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "nearest/tree.hpp"
#include "pairs/nearest_kernels.hpp"

namespace vicinal {

template <class T, int D>
class NearLeaves {
 public:
  // `most`: points of the leaves of one search.
  NearLeaves(const NearestTree<T, D>& tree, const NearestKernel<T>& kernel, std::size_t most)
      : tree_(tree), kernel_(kernel), most_(most) {
    if (tree.depth() == 0) return;
    const auto& top = tree.level(tree.depth() - 1);
    for (std::size_t a = 0; a < D; ++a) {
      all_.low[a] = *std::min_element(tree.low(top.first)[a], tree.low(top.first)[a] + top.count);
      all_.high[a] = *std::max_element(tree.high(top.first)[a], tree.high(top.first)[a] + top.count);
    }
  }

  // Finds the points of an image that may lie within the radius, as runs of slots. False if they and those `already`
  // found are too many.
  bool find(const QueryBounds<T>& bounds, const std::array<T, D>& step, T radius2, std::size_t already) {
    spans_.clear();
    // Most images of a large box are far away from a run.
    if (tree_.depth() == 0 || beyond(bounds, step, radius2)) return true;
    // Level by level, without a branch per node. Most leaves have more than a few points.
    const std::size_t most_nodes = most_ / 8;
    for (auto& nodes : nodes_)
      if (nodes.size() == 0) nodes.reset((most_nodes + 1) * touched_boxes);
    nodes_[0][0] = 0;
    std::size_t count = 1;
    for (std::size_t level = tree_.depth(); level-- > 0;) {
      const std::size_t first = tree_.level(level).first;
      count = kernel_.children(tree_.low(first).data(), tree_.high(first).data(), nodes_[0].data(), count, bounds.low,
                               bounds.high, step.data(), radius2, nodes_[1].data());
      if (count > most_nodes) return false;
      std::swap(nodes_[0], nodes_[1]);
    }
    return join(count, already) <= most_;
  }
  [[nodiscard]] std::span<const Span> spans() const { return spans_; }

 private:
  static_assert(NearestTree<T, D>::arity == touched_boxes);

  // Whether all points of an image are farther away than the radius; computed as the bounds of boxes are.
  [[nodiscard]] bool beyond(const QueryBounds<T>& bounds, const std::array<T, D>& step, T radius2) const {
    T sum = 0;
    for (std::size_t a = 0; a < D; ++a) {
      const T above = (all_.low[a] - bounds.high[a]) + step[a];
      const T below = (bounds.low[a] - all_.high[a]) - step[a];
      const T d = std::max({above, below, T{0}});
      sum = sum + d * d;
    }
    return sum > radius2;
  }
  // Joins leaves that follow one another; returns the number of points.
  std::size_t join(std::size_t count, std::size_t already) {
    const auto& group_begin = tree_.bodies().group_begin;
    spans_.resize(count + 1);
    std::size_t total = already;
    std::size_t n = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const auto leaf = static_cast<std::size_t>(nodes_[0][k]);
      const std::uint32_t begin = group_begin[leaf];
      const std::uint32_t end = group_begin[leaf + 1];
      total += end - begin;
      const bool follows = n > 0 && spans_[n - 1].end == begin;
      spans_[n].begin = begin;
      n += follows ? 0 : 1;
      spans_[n - 1].end = end;
    }
    spans_.resize(n);
    return total;
  }

  const NearestTree<T, D>& tree_;
  const NearestKernel<T>& kernel_;
  const std::size_t most_;
  QueryBounds<T> all_{};                       // of all points
  std::array<Buffer<std::int32_t>, 2> nodes_;  // of one level of the tree, and of the next
  std::vector<Span> spans_;
};

}  // namespace vicinal
