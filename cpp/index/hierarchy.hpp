// A bounding volume hierarchy over leaves that lie along a Morton curve (Kureck 2016, sections 3.1.3 to 3.1.7).
//
// Leaves are runs of bodies; a leaf consists of twigs, smaller runs with a box each. The inner nodes are numbered as by
// Karras (2012): leaf k is the first or the last leaf that node k covers, its children are `split` and `split + 1`, and
// all nodes can be computed independently of each other. Below a leaf there is no tree: testing a few contiguous boxes
// is faster than a descent.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "exec/memory.hpp"
#include "exec/prefetch.hpp"
#include "exec/threads.hpp"
#include "index/curve_order.hpp"

namespace vicinal {

// Lower corner, then the negated upper corner: two boxes overlap if no entry of one exceeds that of the other after
// `inside_out`. This takes one comparison of vectors instead of six of numbers; unused entries are 0.
template <class V, int D>
struct TurnedBox {
  static constexpr std::size_t entries = (2 * D * sizeof(V) + 15) / 16 * 16 / sizeof(V);
  alignas(16) std::array<V, entries> x{};

  static TurnedBox nothing() {
    TurnedBox box;
    for (std::size_t k = 0; k < 2 * D; ++k) box.x[k] = std::numeric_limits<V>::infinity();
    return box;
  }
  [[nodiscard]] V low(std::size_t axis) const { return x[axis]; }
  [[nodiscard]] V high(std::size_t axis) const { return -x[D + axis]; }
  void set(std::size_t axis, V low, V high) {
    x[axis] = low;
    x[D + axis] = -high;
  }
  void join(const TurnedBox& other) {
    for (std::size_t k = 0; k < entries; ++k) x[k] = std::min(x[k], other.x[k]);
  }
  // The limits that entries of another box must not exceed.
  [[nodiscard]] TurnedBox inside_out() const {
    TurnedBox turned;
    for (std::size_t a = 0; a < D; ++a) {
      turned.x[a] = -x[D + a];
      turned.x[D + a] = -x[a];
    }
    return turned;
  }
  [[nodiscard]] bool within(const TurnedBox& limits) const {
#ifdef __GNUC__
    // Written with vectors of 16 bytes, which every processor has, since compilers do not vectorise such a short loop.
    using Vector [[gnu::vector_size(16)]] = V;
    using Words [[gnu::vector_size(16)]] = long long;
    Words beyond{};
    for (std::size_t k = 0; k < entries; k += 16 / sizeof(V)) {
      Vector mine;
      Vector most;
      std::memcpy(&mine, x.data() + k, 16);
      std::memcpy(&most, limits.x.data() + k, 16);
      beyond |= reinterpret_cast<Words>(mine > most);
    }
    return (beyond[0] | beyond[1]) == 0;
#else
    int beyond = 0;
    for (std::size_t k = 0; k < entries; ++k) beyond |= x[k] > limits.x[k] ? 1 : 0;
    return beyond == 0;
#endif
  }
};

template <class V, int D>
class Hierarchy {
 public:
  using Box = TurnedBox<V, D>;

  // The tree over leaves and twigs, both as first slots with the number of slots last; box_of(slot) is a body's box.
  template <class BoxOf>
  void build(const Prefixes& prefixes, std::span<const std::uint32_t> leaves, std::span<const std::uint32_t> twigs,
             const BoxOf& box_of) {
    leaves_ = leaves.size() - 1;
    first_twig_.reset(leaves_ + 1);
    std::size_t twig = 0;
    for (std::size_t leaf = 0; leaf <= leaves_; ++leaf) {
      while (twigs[twig] < leaves[leaf]) ++twig;
      first_twig_[leaf] = static_cast<std::uint32_t>(twig);
    }
    twigs_.reset(twigs.size() - 1);
    const std::size_t inner = leaves_ > 1 ? leaves_ - 1 : 0;
    nodes_.reset(inner);
    leaf_parent_.reset(leaves_);
    node_parent_.reset(inner);
    parallel_ranges(inner, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t node = begin; node < end; ++node) connect(prefixes, leaves, node);
    });
    refit(twigs, box_of);
  }

  // Computes new boxes after bodies have moved, bottom-up: the thread that finishes the second child of a node
  // continues with the node.
  template <class BoxOf>
  void refit(std::span<const std::uint32_t> twigs, const BoxOf& box_of) {
    root_ = Box::nothing();
    height_ = 0;
    if (leaves_ == 0) return;
    std::vector<std::atomic<std::uint8_t>> visited(nodes_.size());
    parallel_ranges(leaves_, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t leaf = begin; leaf < end; ++leaf) {
        Box box = Box::nothing();
        for (std::size_t t = first_twig_[leaf]; t < first_twig_[leaf + 1]; ++t) {
          Box part = Box::nothing();
          for (std::size_t slot = twigs[t]; slot < twigs[t + 1]; ++slot) part.join(box_of(slot));
          twigs_[t] = part;
          box.join(part);
        }
        climb(leaf, box, visited);
      }
    });
  }

  [[nodiscard]] std::size_t leaves() const { return leaves_; }
  [[nodiscard]] std::size_t height() const { return height_; }
  [[nodiscard]] const Box& root() const { return root_; }
  [[nodiscard]] Box leaf_box(std::size_t leaf) const {
    Box box = twigs_[first_twig_[leaf]];
    for (std::size_t t = first_twig_[leaf] + 1; t < first_twig_[leaf + 1]; ++t) box.join(twigs_[t]);
    return box;
  }

  // Calls visit(twig, whether its box meets `query`) for the twigs of leaves that meet `query` and come at or after
  // leaf `from`, in ascending order.
  template <class OnTwig>
  void traverse(const Box& query, std::size_t from, OnTwig&& visit) const {
    if (from >= leaves_) return;
    const Box limits = query.inside_out();
    Stack stack;
    std::size_t depth = enter(limits, stack);
    while (depth > 0) {
      const std::uint32_t entry = stack[--depth];
      if ((entry & is_leaf) == 0) {
        depth = open(nodes_[entry], limits, from, stack, depth);
        continue;
      }
      const std::uint32_t leaf = entry ^ is_leaf;
      for (std::size_t t = first_twig_[leaf]; t < first_twig_[leaf + 1]; ++t) visit(t, twigs_[t].within(limits));
    }
  }
  // Calls visit(q, leaf) for all leaves that meet query q, in ascending order. Nodes are probably not in a cache:
  // queries take turns, and a node is fetched while the others have theirs.
  static constexpr std::size_t together = 8;
  template <class OnLeaf>
  void find_leaves(std::span<const Box> queries, OnLeaf&& visit) const {
    struct Descent {
      Box limits;
      std::size_t query, depth;
      Stack stack;
    };
    std::array<Descent, together> descents;
    std::size_t active = 0;
    for (std::size_t q = 0; q < queries.size(); ++q) {
      Descent& made = descents[active];
      made.limits = queries[q].inside_out();
      made.query = q;
      made.depth = enter(made.limits, made.stack);
      active += made.depth;
    }
    while (active > 0)
      for (std::size_t d = 0; d < active;) {
        Descent& descent = descents[d];
        const std::uint32_t entry = descent.stack[--descent.depth];
        if ((entry & is_leaf) != 0) visit(descent.query, entry ^ is_leaf);
        else descent.depth = open(nodes_[entry], descent.limits, 0, descent.stack, descent.depth);
        if (descent.depth == 0) {
          descent = descents[--active];
          continue;
        }
        // A leaf has no node; then another one is fetched in vain.
        const Node* const next = nodes_.data() + (descent.stack[descent.depth - 1] & ~is_leaf);
        prefetch_to_read(next);
        prefetch_to_read(&next->first);
        ++d;
      }
  }

  void release() { *this = Hierarchy(); }
  [[nodiscard]] std::size_t bytes() const {
    return nodes_.bytes() + twigs_.bytes() + first_twig_.bytes() + leaf_parent_.bytes() + node_parent_.bytes();
  }

 private:
  static constexpr std::size_t grain = std::size_t{1} << 12;
  static constexpr std::uint32_t is_leaf = std::uint32_t{1} << 31;

  struct Node {
    Box left, right;            // of the children
    std::uint32_t first, last;  // leaves; `last` is the right-most one of Kureck 2016
    std::uint32_t split;        // the last leaf of the left child
    std::uint16_t left_height, right_height;
  };

  // Each level of the tree fixes at least one more of the 96 bits of a key and leaves at most one entry on the stack.
  using Stack = std::array<std::uint32_t, 128>;

  // What a query visits first; returns the number of entries.
  std::size_t enter(const Box& limits, Stack& stack) const {
    stack[0] = leaves_ == 1 ? is_leaf : 0;
    return leaves_ > 0 && root_.within(limits) ? 1 : 0;
  }
  // Puts the children of a node that meet the query and have leaves at or after `from` on the stack; returns its new
  // depth. Entries are always written but counted only if needed, since branches on the path of a query would be
  // mispredicted.
  static std::size_t open(const Node& node, const Box& limits, std::size_t from, Stack& stack, std::size_t depth) {
    stack[depth] = (node.split + 1) | (node.split + 1 == node.last ? is_leaf : 0);
    depth += static_cast<std::size_t>(node.last >= from) & static_cast<std::size_t>(node.right.within(limits));
    stack[depth] = node.split | (node.split == node.first ? is_leaf : 0);
    return depth + (static_cast<std::size_t>(node.split >= from) & static_cast<std::size_t>(node.left.within(limits)));
  }

  // Computes the leaves that an inner node covers and its split from the keys alone.
  void connect(const Prefixes& prefixes, std::span<const std::uint32_t> leaves, std::size_t node) {
    const auto n = static_cast<std::int64_t>(leaves_);
    const auto here = static_cast<std::int64_t>(node);
    const auto shared = [&](std::int64_t other) {
      if (other < 0 || other >= n) return -1;
      return prefixes.shared(leaves[node], leaves[static_cast<std::size_t>(other)]);
    };
    // The node extends to the side where the neighbour shares more; the other neighbour belongs to its sibling.
    const std::int64_t side = shared(here + 1) > shared(here - 1) ? 1 : -1;
    // The last leaf on that side that shares more than `bits`.
    const auto farthest = [&](int bits) {
      std::int64_t step = 1;
      while (shared(here + side * step) > bits) step *= 2;
      std::int64_t within = step / 2;
      for (step /= 4; step > 0; step /= 2)
        if (shared(here + side * (within + step)) > bits) within += step;
      return within;
    };
    const std::int64_t end = here + side * farthest(shared(here - side));
    const std::int64_t half = here + side * farthest(shared(end));
    Node& made = nodes_[node];
    made.first = static_cast<std::uint32_t>(std::min(here, end));
    made.last = static_cast<std::uint32_t>(std::max(here, end));
    made.split = static_cast<std::uint32_t>(side > 0 ? half : half - 1);
    const auto adopt = [&](std::uint32_t child, std::uint32_t outer) {
      (child == outer ? leaf_parent_ : node_parent_)[child] = static_cast<std::uint32_t>(node);
    };
    adopt(made.split, made.first);
    adopt(made.split + 1, made.last);
  }

  // Passes the box of a leaf up to all nodes whose children are complete.
  void climb(std::size_t leaf, Box box, std::vector<std::atomic<std::uint8_t>>& visited) {
    std::uint16_t height = 0;
    if (nodes_.size() > 0) {
      std::size_t child = leaf;
      for (std::size_t up = leaf_parent_[leaf];; up = node_parent_[up]) {
        Node& node = nodes_[up];
        const bool left = child == node.split;
        (left ? node.left : node.right) = box;
        (left ? node.left_height : node.right_height) = height;
        const bool first = visited[up].fetch_add(1, std::memory_order_acq_rel) == 0;
        if (first) return;
        box = node.left;
        box.join(node.right);
        height = static_cast<std::uint16_t>(std::max(node.left_height, node.right_height) + 1);
        if (up == 0) break;
        child = up;
      }
    }
    root_ = box;
    height_ = height;
  }

  std::size_t leaves_ = 0;
  std::size_t height_ = 0;
  Box root_ = Box::nothing();
  Buffer<Node> nodes_;
  Buffer<Box> twigs_;
  Buffer<std::uint32_t> first_twig_;  // by leaf, and the number of twigs last
  Buffer<std::uint32_t> leaf_parent_, node_parent_;
};

}  // namespace vicinal
