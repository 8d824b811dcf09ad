// The tree: finds the leaf of a key, splits leaves that are too full, and merges leaves that are almost empty.
//
// Leaves are numbered in the order of their keys, and their bodies are runs of slots in the same order. Inner nodes are
// a table of numbers: 2^D entries for each, a leaf or the block of entries of the next level.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "index/octree_grid.hpp"

namespace vicinal {

template <int D>
class OctreeLeaves {
 public:
  static constexpr std::uint32_t made = ~std::uint32_t{0};  // the origin of a new leaf

  // Splits the root until no leaf has more than `capacity` bodies, or is a single cell. Distinct keys in ascending
  // order; the bodies of the k-th are slots begin[k] … begin[k + 1] - 1.
  void build(const OctreeGrid<D>& grid, std::size_t capacity, std::span<const std::uint64_t> keys,
             std::span<const std::uint32_t> begin) {
    *this = OctreeLeaves();
    grid_ = &grid;
    capacity_ = capacity;
    root_ = divide(0, grid.depth, keys, begin);
    finish(begin[keys.size()]);
  }

  // The same bodies after some have moved from leaf to leaf: leaf k has slots begin[k] … begin[k + 1] - 1. Splits
  // leaves that are too full, merges siblings that together hold no more than half a leaf's capacity. So a merged leaf
  // must double its bodies before it splits, and the parts of a split leaf must lose half of theirs before they merge:
  // the tree does not oscillate.
  //
  // keys_of(first, last) sorts the bodies of a run of slots by key and returns the keys.
  // origins[k] is set to the previous number of the new leaf k, or to `made`.
  template <class KeysOf>
  OctreeLeaves changed(std::span<const std::uint32_t> begin, KeysOf&& keys_of,
                       std::vector<std::uint32_t>& origins) const {
    OctreeLeaves next;
    next.grid_ = grid_;
    next.capacity_ = capacity_;
    next.origins_ = &origins;
    origins.clear();
    next.root_ = next.adopt(*this, root_, grid_->depth, begin, keys_of);
    next.origins_ = nullptr;
    next.finish(begin[size()]);
    return next;
  }
  // Whether `changed` would change anything.
  [[nodiscard]] bool outgrown(std::span<const std::uint32_t> begin) const {
    for (std::size_t k = 0; k < size(); ++k)
      if (begin[k + 1] - begin[k] > capacity_ && side_[k] > 0) return true;
    for (std::size_t b = 0; b < children_.size(); b += octants) {
      std::size_t sum = 0;
      const bool leaves = std::all_of(children_.begin() + static_cast<std::ptrdiff_t>(b),
                                      children_.begin() + static_cast<std::ptrdiff_t>(b + octants), [&](Entry entry) {
                                        if (is_leaf(entry)) sum += begin[leaf_of(entry) + 1] - begin[leaf_of(entry)];
                                        return is_leaf(entry) || entry == nothing;
                                      });
      if (leaves && sum <= capacity_ / 2) return true;
    }
    return false;
  }

  [[nodiscard]] std::size_t size() const { return side_.size(); }
  [[nodiscard]] std::uint64_t key(std::size_t leaf) const { return key_[leaf]; }
  [[nodiscard]] int side(std::size_t leaf) const { return side_[leaf]; }
  [[nodiscard]] CellBlock<D> block(std::size_t leaf) const { return grid_->block(key_[leaf], side_[leaf]); }
  [[nodiscard]] bool contains(std::size_t leaf, std::uint64_t key) const {
    return (key ^ key_[leaf]) >> (D * side_[leaf]) == 0;
  }
  // First slots of the leaves, and the number of bodies.
  [[nodiscard]] std::span<const std::uint32_t> begin() const { return begin_; }
  // Bodies have moved, but no leaf has to change.
  void set_begin(std::vector<std::uint32_t> begin) {
    begin_ = std::move(begin);
    splits_ = merges_ = 0;
  }

  // The leaf that holds a key.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
    Entry entry = root_;
    for (int side = grid_->depth - 1; !is_leaf(entry); --side) entry = children_[entry + octant(key, side)];
    return leaf_of(entry);
  }

  // Leaves that overlap a block of cells of the grid, in ascending order: f(leaf, its block).
  template <class F>
  void overlapping(const CellBlock<D>& block, F&& f) const {
    visit(root_, {}, grid_->depth, block, f);
  }
  // The same of one node only: the one that holds a cell of the block and is not smaller than 2^side cells.
  template <class F>
  void overlapping_near(const std::array<std::int64_t, D>& cell, int side, const CellBlock<D>& block, F&& f) const {
    std::uint64_t key = 0;
    for (std::size_t a = 0; a < D; ++a) key |= detail::spread<D>(static_cast<std::uint64_t>(cell[a])) << a;
    Entry entry = root_;
    int at = grid_->depth;
    for (; !is_leaf(entry) && at > side; --at) entry = children_[entry + octant(key, at - 1)];
    std::array<std::int64_t, D> low = cell;
    for (std::int64_t& x : low) x = x >> at << at;
    visit(entry, low, at, block, f);
  }

  // Levels below the root, of the deepest leaf.
  [[nodiscard]] int levels() const {
    return side_.empty() ? 0 : grid_->depth - *std::min_element(side_.begin(), side_.end());
  }
  // Nodes split and merged by the last build or change.
  [[nodiscard]] std::size_t splits() const { return splits_; }
  [[nodiscard]] std::size_t merges() const { return merges_; }
  [[nodiscard]] std::size_t bytes() const {
    return key_.size() * sizeof(key_[0]) + side_.size() * sizeof(side_[0]) + begin_.size() * sizeof(begin_[0]) +
           children_.size() * sizeof(Entry);
  }

 private:
  static constexpr std::size_t octants = std::size_t{1} << D;
  // A leaf's number with the highest bit set, the first entry of an inner node, or `nothing` outside the grid.
  using Entry = std::uint32_t;
  static constexpr Entry leaf_bit = Entry{1} << 31;
  static constexpr Entry nothing = ~Entry{0};
  static bool is_leaf(Entry entry) { return (entry & leaf_bit) != 0 && entry != nothing; }
  static std::uint32_t leaf_of(Entry entry) { return entry & ~leaf_bit; }

  // Which child of a node of 2^(side + 1) cells a key is in.
  static std::size_t octant(std::uint64_t key, int side) {
    return static_cast<std::size_t>(key >> (D * side)) & (octants - 1);
  }
  static std::uint64_t child_key(std::uint64_t key, std::size_t octant, int side) {
    return key | static_cast<std::uint64_t>(octant) << (D * side);
  }
  [[nodiscard]] bool exists(std::uint64_t key) const {
    for (std::size_t a = 0; a < D; ++a)
      if (static_cast<std::int64_t>(detail::gather<D>(key >> a)) >= grid_->cells[a]) return false;
    return true;
  }

  Entry add_leaf(std::uint64_t key, int side, std::uint32_t begin, std::uint32_t origin) {
    const auto leaf = static_cast<Entry>(side_.size());
    if (leaf >= leaf_bit - 1) throw std::length_error("more than 2^31 leaves");
    key_.push_back(key);
    side_.push_back(static_cast<std::uint8_t>(side));
    begin_.push_back(begin);
    if (origins_ != nullptr) origins_->push_back(origin);
    return leaf | leaf_bit;
  }
  Entry add_node() {
    const std::size_t entry = children_.size();
    if (entry >= leaf_bit - octants) throw std::length_error("more than 2^31 nodes");
    children_.resize(entry + octants, nothing);
    return static_cast<Entry>(entry);
  }
  void drop_leaves(std::size_t from) {
    key_.resize(from);
    side_.resize(from);
    begin_.resize(from);
    origins_->resize(from);
  }
  void finish(std::uint32_t bodies) {
    begin_.push_back(bodies);
    key_.shrink_to_fit();
    side_.shrink_to_fit();
    begin_.shrink_to_fit();
    children_.shrink_to_fit();
  }

  // The node of 2^side cells at `key`, with all the keys in it.
  Entry divide(std::uint64_t key, int side, std::span<const std::uint64_t> keys, std::span<const std::uint32_t> begin) {
    if (begin[keys.size()] - begin[0] <= capacity_ || side == 0) return add_leaf(key, side, begin[0], made);
    ++splits_;
    const Entry node = add_node();
    std::size_t first = 0;
    for (std::size_t o = 0; o < octants; ++o) {
      const std::uint64_t child = child_key(key, o, side - 1);
      if (!exists(child)) continue;
      const std::uint64_t above = child + (std::uint64_t{1} << (D * (side - 1)));
      const auto rest = keys.subspan(first);
      const auto count = static_cast<std::size_t>(std::lower_bound(rest.begin(), rest.end(), above) - rest.begin());
      const Entry entry = divide(child, side - 1, rest.first(count), begin.subspan(first, count + 1));
      children_[node + o] = entry;
      first += count;
    }
    return node;
  }

  // Copies a node of the previous tree, with the splits and merges that its bodies require.
  template <class KeysOf>
  Entry adopt(const OctreeLeaves& old, Entry entry, int side, std::span<const std::uint32_t> begin, KeysOf&& keys_of) {
    if (is_leaf(entry)) {
      const std::uint32_t leaf = leaf_of(entry);
      const std::uint32_t first = begin[leaf];
      const std::uint32_t last = begin[leaf + 1];
      if (last - first <= capacity_ || side == 0) return add_leaf(old.key_[leaf], side, first, leaf);
      const std::vector<std::uint64_t> keys = keys_of(first, last);
      std::vector<std::uint32_t> each(keys.size() + 1);
      for (std::size_t k = 0; k < each.size(); ++k) each[k] = first + static_cast<std::uint32_t>(k);
      return divide(old.key_[leaf], side, keys, each);
    }
    const std::size_t first_leaf = side_.size();
    const Entry node = add_node();
    std::size_t leaves = 0;
    std::uint32_t last_old = 0;
    for (std::size_t o = 0; o < octants; ++o) {
      const Entry child = old.children_[entry + o];
      if (child == nothing) continue;
      const Entry adopted = adopt(old, child, side - 1, begin, keys_of);
      children_[node + o] = adopted;
      leaves += is_leaf(adopted) ? 1 : 0;
      last_old = old.last_leaf(child);
    }
    const std::uint32_t bodies = begin[last_old + 1] - begin_[first_leaf];
    // All children are leaves exactly when no entries follow the node's own, and there is one leaf for each.
    if (children_.size() > node + octants || side_.size() - first_leaf != leaves || bodies > capacity_ / 2) return node;
    ++merges_;
    children_.resize(node);
    const std::uint64_t key = key_[first_leaf];
    const std::uint32_t slot = begin_[first_leaf];
    drop_leaves(first_leaf);
    return add_leaf(key, side, slot, made);
  }
  [[nodiscard]] std::uint32_t last_leaf(Entry entry) const {
    while (!is_leaf(entry)) {
      std::size_t o = octants - 1;
      while (children_[entry + o] == nothing) --o;
      entry = children_[entry + o];
    }
    return leaf_of(entry);
  }

  // A node that overlaps `block` and starts at cell `low`.
  template <class F>
  void visit(Entry entry, const std::array<std::int64_t, D>& low, int side, const CellBlock<D>& block, F& f) const {
    if (is_leaf(entry)) {
      CellBlock<D> own{low, {}};
      for (std::size_t a = 0; a < D; ++a)
        own.high[a] = std::min(low[a] + (std::int64_t{1} << side), grid_->cells[a]) - 1;
      f(leaf_of(entry), own);
      return;
    }
    const std::int64_t half = std::int64_t{1} << (side - 1);
    for (std::size_t o = 0; o < octants; ++o) {
      const Entry child = children_[entry + o];
      bool overlaps = child != nothing;
      std::array<std::int64_t, D> at = low;
      for (std::size_t a = 0; a < D; ++a) {
        const bool upper = (o >> a & 1) != 0;
        at[a] += upper ? half : 0;
        overlaps = overlaps && (upper ? block.high[a] >= at[a] : block.low[a] < at[a] + half);
      }
      if (overlaps) visit(child, at, side - 1, block, f);
    }
  }

  const OctreeGrid<D>* grid_ = nullptr;
  std::size_t capacity_ = 1;
  Entry root_ = nothing;
  std::vector<Entry> children_;
  std::vector<std::uint64_t> key_;  // the first key of the leaf
  std::vector<std::uint8_t> side_;  // log2 of its cells per axis
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t>* origins_ = nullptr;
  std::size_t splits_ = 0, merges_ = 0;
};

}  // namespace vicinal
