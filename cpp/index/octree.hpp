// The octree of Koch 2020 (a quadtree in the plane): space is divided only where bodies are dense.
//
// A leaf that holds more than `capacity` bodies is split, unless its parts would be shorter than the reach; so
// neighbours are in the same leaf or in one that touches it (the proof is in octree_grid.hpp). Bodies are sorted by the
// key of their finest cell, hence every leaf is a run of slots. Between steps the tree is kept: bodies that left their
// leaf move, leaves split or (not specified in the paper) merge, and the lists of touching leaves are updated.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/threads.hpp"
#include "index/cell_order.hpp"
#include "index/octree_adjacency.hpp"
#include "index/octree_grid.hpp"
#include "index/octree_leaves.hpp"
#include "index/parts.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class Octree final : public Structure<T, D> {
 public:
  static constexpr bool takes_tilted_cells = true;
  explicit Octree(const StructureSettings<T, D>& settings)
      : settings_(settings), capacity_(static_cast<std::size_t>(settings.option("capacity"))),
        depth_(std::min(static_cast<int>(settings.option("depth")), OctreeGrid<D>::deepest)),
        sampled_(settings.option("sampled") != 0) {
    domain_.given = settings.option("domain") != 0;
    for (std::size_t a = 0; a < D; ++a) {
      const std::string axis = std::to_string(a);
      domain_.low[a] = settings.option("low" + axis);
      domain_.high[a] = settings.option("high" + axis);
    }
  }

  void build(const BodyView<T, D>& points) override {
    reach_ = points.reach(settings_.cutoff);
    low_ = points.low;
    high_ = points.high;
    grid_ = lay_octree(points, settings_.box, reach_, depth_, domain_);
    bodies_.reset(points, settings_.box, near_frame(points, settings_.box, reach_.largest()));
    order_by_key(grid_.keys(), CellKeys{*this, bodies_}, bodies_);
    leaves_.build(grid_, capacity_, {bodies_.group_key.data(), bodies_.groups},
                  {bodies_.group_begin.data(), bodies_.groups + 1});
    drop_groups();  // leaves replace them
    if (!sampled_) adjacency_.build(grid_, leaves_);
    moved_ = 0;
  }

  // The tree is kept as long as it fits the bodies; bodies are then sorted into its leaves instead of by their full
  // keys.
  void update(const BodyView<T, D>& points) override {
    if (!suits(points)) {
      build(points);
      return;
    }
    Buffer<std::int32_t> ids(bodies_.size);
    std::copy_n(bodies_.ids.data(), bodies_.size, ids.data());
    bodies_.reset(points, settings_.box, near_frame(points, settings_.box, reach_.largest()));
    order_by_key(leaves_.size(), LeafKeys{*this, bodies_}, bodies_);
    std::vector<std::uint32_t> begin(leaves_.size() + 1, static_cast<std::uint32_t>(bodies_.size));
    std::size_t leaf = 0;
    for (std::size_t g = 0; g < bodies_.groups; ++g)
      for (; leaf <= bodies_.group_key[g]; ++leaf) begin[leaf] = bodies_.group_begin[g];
    drop_groups();
    // If bodies were added or removed their numbers have changed, so moves are not counted.
    moved_ = points.size == ids.size() ? points.size - count_stays(ids.span(), begin) : 0;
    restructure(std::move(begin));
  }

  void insert(const BodyView<T, D>& points) override { update(points); }
  void remove(std::span<const std::uint32_t>, const BodyView<T, D>& points) override { update(points); }

  void arrange(const BodyView<T, D>& points, Bodies<T, D>& queries) const override {
    queries.reset(points, settings_.box, bodies_.frame);
    order_by_key(leaves_.size(), LeafKeys{*this, queries}, queries);
  }
  [[nodiscard]] const Bodies<T, D>& bodies() const override { return bodies_; }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const override { return part_count(queries); }

  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    Scratch scratch;
    if (mode == Mode::cross) {
      const auto [first, last] = groups_of_part(queries, part);
      for (std::size_t g = first; g < last; ++g)
        hand_out(static_cast<std::uint32_t>(queries.group_key[g]), queries.group_begin[g], queries.group_begin[g + 1],
                 mode, scratch, sink);
      return;
    }
    const auto begin = leaves_.begin();
    const auto at = [&](std::size_t slot) { return std::lower_bound(begin.begin(), begin.end() - 1, slot); };
    const auto last = static_cast<std::size_t>(at((part + 1) * part_bodies) - begin.begin());
    for (auto leaf = static_cast<std::size_t>(at(part * part_bodies) - begin.begin()); leaf < last; ++leaf)
      if (begin[leaf] < begin[leaf + 1])
        hand_out(static_cast<std::uint32_t>(leaf), begin[leaf], begin[leaf + 1], mode, scratch, sink);
  }

  [[nodiscard]] Details details() const override {
    return {{"leaves", static_cast<double>(leaves_.size())},   {"depth", leaves_.levels()},
            {"relations", static_cast<double>(relations())},   {"splits", static_cast<double>(leaves_.splits())},
            {"merges", static_cast<double>(leaves_.merges())}, {"moved", static_cast<double>(moved_)}};
  }
  [[nodiscard]] std::size_t bytes() const override { return leaves_.bytes() + adjacency_.bytes(); }

 private:
  // The tree is built again when the bounds of the bodies have moved by this share of the root.
  static constexpr double drift = 1.0 / 16;

  struct CellKeys {
    const Octree& tree;
    const Bodies<T, D>& bodies;
    template <class F>
    void for_each(std::size_t begin, std::size_t end, F&& f) const {
      for (std::size_t p = begin; p < end; ++p) f(p, tree.key_of(bodies, p));
    }
  };
  struct LeafKeys {
    const Octree& tree;
    const Bodies<T, D>& bodies;
    template <class F>
    void for_each(std::size_t begin, std::size_t end, F&& f) const {
      for (std::size_t p = begin; p < end; ++p) f(p, std::uint64_t{tree.leaves_.find(tree.key_of(bodies, p))});
    }
  };
  // Scratch of one thread.
  struct Scratch {
    SampledAdjacency<D> sampled;
    std::vector<LeafRun> runs;
    std::vector<Range> ranges;
  };
  [[nodiscard]] std::uint64_t key_of(const Bodies<T, D>& bodies, std::size_t point) const {
    return grid_.key(bodies.place_of(point));
  }

  void neighbors(std::uint32_t leaf, Scratch& scratch) const {
    if (sampled_) scratch.sampled.neighbors(grid_, leaves_, leaf, scratch.runs);
    else adjacency_.neighbors(leaf, scratch.runs);
  }
  [[nodiscard]] std::size_t relations() const {
    if (!sampled_) return adjacency_.relations();
    Scratch scratch;
    std::size_t sum = 0;
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      neighbors(static_cast<std::uint32_t>(leaf), scratch);
      for (const LeafRun& run : scratch.runs) sum += run.count;
    }
    return sum;
  }

  // The block of a leaf's bodies, or of queries in it.
  void hand_out(std::uint32_t leaf, Slot first_query, Slot last_query, Mode mode, Scratch& scratch,
                BlockSink& sink) const {
    neighbors(leaf, scratch);
    const auto begin = leaves_.begin();
    std::vector<Range>& ranges = scratch.ranges;
    ranges.clear();
    std::size_t own = 0;
    for (const LeafRun& run : scratch.runs) {
      std::uint32_t first = run.first;
      const std::uint32_t last = run.first + run.count;
      // Each pair once: a leaf is paired with the leaves after it, and with itself through one of two opposite images.
      if (mode == Mode::half) first = std::max(first, forward(run.shift) ? leaf : leaf + 1);
      if (first >= last || begin[first] == begin[last]) continue;
      const bool mine = mode != Mode::cross && run.shift == Shift{} && first <= leaf && leaf < last;
      if (!ranges.empty() && ranges.back().end == begin[first] && ranges.back().shift == run.shift)
        ranges.back().end = begin[last];
      else ranges.push_back({begin[first], begin[last], run.shift});
      if (!mine) continue;
      ranges.back().own = mode == Mode::half ? Own::after : Own::except;
      own = ranges.size() - 1;
    }
    if (own > 0) std::swap(ranges[0], ranges[own]);
    if (!ranges.empty()) sink({first_query, last_query, ranges});
  }
  // No shift, or the one of two opposite shifts that counts.
  static bool forward(const Shift& shift) {
    if (shift.x != 0) return shift.x > 0;
    return shift.y != 0 ? shift.y > 0 : shift.z >= 0;
  }

  // Whether the tree still fits the bodies: no leaf is shorter than the reach, and the root covers the bodies. An empty
  // tree has no root.
  [[nodiscard]] bool suits(const BodyView<T, D>& points) const {
    if (points.size == 0 || bodies_.size == 0) return false;
    const Reach<D> reach = points.reach(settings_.cutoff);
    for (std::size_t a = 0; a < D; ++a) {
      if (reach.axis[a] > reach_.axis[a] || reach.axis[a] < reach_.axis[a] / 2) return false;
      if (domain_.given || grid_.periodic[a]) continue;
      const double edge = grid_.line[a].inverse > 0 ? static_cast<double>(grid_.cells[a]) / grid_.line[a].inverse : 0;
      const double most = std::max(edge * drift, reach_.axis[a]);
      if (!(std::abs(static_cast<double>(points.low[a]) - static_cast<double>(low_[a])) <= most)) return false;
      if (!(std::abs(static_cast<double>(points.high[a]) - static_cast<double>(high_[a])) <= most)) return false;
    }
    return points.size / 2 <= bodies_.size && bodies_.size / 2 <= points.size;
  }

  // The number of bodies that are in the same leaf as before, when the order of slots was `ids`: leaf by leaf, because
  // looking up the leaf of every body would miss the cache each time.
  [[nodiscard]] std::size_t count_stays(std::span<std::int32_t> ids, std::span<const std::uint32_t> begin) const {
    const auto before = leaves_.begin();
    std::atomic<std::size_t> stays{0};
    parallel_ranges(leaves_.size(), part_bodies, [&](std::size_t first, std::size_t last, std::size_t) {
      std::size_t count = 0;
      for (std::size_t leaf = first; leaf < last; ++leaf) {
        const auto old = ids.subspan(before[leaf], before[leaf + 1] - before[leaf]);
        // The new ids are in ascending order; the old ones are, too, except right after a build.
        if (!std::is_sorted(old.begin(), old.end())) std::sort(old.begin(), old.end());
        auto next = old.begin();
        for (std::size_t slot = begin[leaf]; slot < begin[leaf + 1]; ++slot) {
          while (next != old.end() && *next < bodies_.ids[slot]) ++next;
          count += next != old.end() && *next == bodies_.ids[slot] ? 1 : 0;
        }
      }
      stays += count;
    });
    return stays;
  }

  // Splits and merges leaves according to their bodies, which are slots begin[leaf] … begin[leaf + 1] - 1.
  void restructure(std::vector<std::uint32_t> begin) {
    if (!leaves_.outgrown(begin)) {
      leaves_.set_begin(std::move(begin));
      return;
    }
    std::vector<std::uint32_t> origins;
    const std::size_t before = leaves_.size();
    leaves_ =
        leaves_.changed(begin, [&](std::size_t first, std::size_t last) { return sort_by_key(first, last); }, origins);
    if (!sampled_) adjacency_.change(grid_, leaves_, origins, before);
  }
  void drop_groups() {
    bodies_.groups = 0;
    bodies_.group_key.release();
    bodies_.group_begin.release();
  }
  // The keys of the bodies of a leaf that is about to split.
  std::vector<std::uint64_t> sort_by_key(std::size_t first, std::size_t last) {
    std::vector<std::pair<std::uint64_t, std::int32_t>> order;
    for (std::size_t slot = first; slot < last; ++slot) {
      const std::int32_t id = bodies_.ids[slot];
      order.emplace_back(key_of(bodies_, static_cast<std::size_t>(id)), id);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::uint64_t> keys;
    for (const auto& [key, id] : order) {
      bodies_.place(static_cast<std::size_t>(id), first + keys.size());
      keys.push_back(key);
    }
    return keys;
  }

  StructureSettings<T, D> settings_;
  std::size_t capacity_;
  int depth_;
  bool sampled_;
  OctreeDomain<D> domain_;
  Reach<D> reach_;                   // of the bodies for which the grid was laid out
  std::array<T, D> low_{}, high_{};  // their bounds
  OctreeGrid<D> grid_;
  OctreeLeaves<D> leaves_;
  StoredAdjacency<D> adjacency_;
  Bodies<T, D> bodies_;
  std::size_t moved_ = 0;
};

}  // namespace vicinal
