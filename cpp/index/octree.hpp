// The octree of paper A (a quadtree in the plane): space is cut where bodies are many, and only there.
//
// A leaf that holds more than `capacity` bodies is split, unless its parts would be shorter than the reach; so partners
// are in the same leaf or in one that touches it (the proof is in octree_grid.hpp). Bodies are sorted by the key of
// their finest cell, hence every leaf is a run of slots. Between steps the tree is kept: bodies that left their leaf
// move, leaves split or, what the paper left open, merge, and the lists of leaves that touch follow.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "exec/threads.hpp"
#include "index/cell_order.hpp"
#include "index/index.hpp"
#include "index/octree_adjacency.hpp"
#include "index/octree_grid.hpp"
#include "index/octree_leaves.hpp"
#include "index/parts.hpp"

namespace vicinal {

template <class T, int D>
class Octree {
 public:
  explicit Octree(const Settings<T, D>& settings)
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

  void build(const Points<T, D>& points) {
    reach_ = points.reach(settings_.cutoff);
    low_ = points.low;
    high_ = points.high;
    grid_ = lay_octree(points, settings_.box, reach_, depth_, domain_);
    bodies_.reset(points, settings_.box, near_frame(points, settings_.box, reach_.largest()));
    order_by_key(grid_.keys(), CellKeys{*this, bodies_}, bodies_);
    leaves_.build(grid_, capacity_, {bodies_.group_key.data(), bodies_.groups},
                  {bodies_.group_begin.data(), bodies_.groups + 1});
    // Leaves take the place of groups.
    bodies_.groups = 0;
    bodies_.group_key.release();
    bodies_.group_begin.release();
    if (!sampled_) adjacency_.build(grid_, leaves_);
    moved_ = 0;
  }

  void update(const Points<T, D>& points) {
    const auto stay = static_cast<std::int32_t>(std::min(points.size, bodies_.size));
    refill(points, [stay](std::int32_t id) { return id < stay ? id : gone; }, static_cast<std::size_t>(stay));
  }
  void insert(const Points<T, D>& points) { update(points); }
  void remove(std::span<const std::uint32_t> ids, const Points<T, D>& points) {
    std::vector<std::int32_t> number(bodies_.size, 0);
    for (const std::uint32_t id : ids) number[id] = gone;
    std::int32_t next = 0;
    for (std::int32_t& x : number)
      if (x != gone) x = next++;
    refill(points, [&](std::int32_t id) { return number[static_cast<std::size_t>(id)]; }, points.size);
  }

  void arrange(const Points<T, D>& points, Bodies<T, D>& queries) const {
    queries.reset(points, settings_.box, bodies_.frame);
    order_by_key(leaves_.size(), LeafKeys{*this, queries}, queries);
  }
  [[nodiscard]] const Bodies<T, D>& bodies() const { return bodies_; }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const { return part_count(queries); }

  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const {
    Look look;
    if (mode == Mode::cross) {
      const auto [first, last] = groups_of_part(queries, part);
      for (std::size_t g = first; g < last; ++g)
        hand_out(static_cast<std::uint32_t>(queries.group_key[g]), queries.group_begin[g], queries.group_begin[g + 1],
                 mode, look, sink);
      return;
    }
    const auto begin = leaves_.begin();
    const auto at = [&](std::size_t slot) { return std::lower_bound(begin.begin(), begin.end() - 1, slot); };
    const auto last = static_cast<std::size_t>(at((part + 1) * part_bodies) - begin.begin());
    for (auto leaf = static_cast<std::size_t>(at(part * part_bodies) - begin.begin()); leaf < last; ++leaf)
      if (begin[leaf] < begin[leaf + 1])
        hand_out(static_cast<std::uint32_t>(leaf), begin[leaf], begin[leaf + 1], mode, look, sink);
  }

  [[nodiscard]] Details details() const {
    return {{"leaves", static_cast<double>(leaves_.size())},   {"depth", leaves_.levels()},
            {"relations", static_cast<double>(relations())},   {"splits", static_cast<double>(leaves_.splits())},
            {"merges", static_cast<double>(leaves_.merges())}, {"moved", static_cast<double>(moved_)}};
  }
  [[nodiscard]] std::size_t bytes() const { return leaves_.bytes() + adjacency_.bytes(); }

 private:
  static constexpr std::int32_t gone = -1;
  // Sorting those that moved costs more than sorting all anew when they are more than one in so many.
  static constexpr std::size_t few = 4;
  // The tree is made anew when the bounds of the bodies have moved by this share of the root.
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
      for (std::size_t p = begin; p < end; ++p)
        f(p, static_cast<std::uint64_t>(tree.leaves_.find(tree.key_of(bodies, p))));
    }
  };
  // Scratch of one thread.
  struct Look {
    SampledAdjacency<D> sampled;
    std::vector<LeafRun> runs;
    std::vector<Range> ranges;
  };
  struct Mover {
    std::uint32_t leaf;  // where to
    std::int32_t id;
  };

  [[nodiscard]] std::uint64_t key_of(const Bodies<T, D>& bodies, std::size_t point) const {
    return grid_.key([&](int a) { return static_cast<double>(bodies.value(point, a)); });
  }

  void neighbors(std::uint32_t leaf, Look& look) const {
    if (sampled_) look.sampled.neighbors(grid_, leaves_, leaf, look.runs);
    else adjacency_.neighbors(leaf, look.runs);
  }
  [[nodiscard]] std::size_t relations() const {
    if (!sampled_) return adjacency_.relations();
    Look look;
    std::size_t sum = 0;
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      neighbors(static_cast<std::uint32_t>(leaf), look);
      for (const LeafRun& run : look.runs) sum += run.count;
    }
    return sum;
  }

  // The block of a leaf's bodies, or of queries in it.
  void hand_out(std::uint32_t leaf, Slot first_query, Slot last_query, Mode mode, Look& look, BlockSink& sink) const {
    neighbors(leaf, look);
    const auto begin = leaves_.begin();
    std::vector<Range>& ranges = look.ranges;
    ranges.clear();
    std::size_t own = 0;
    for (const LeafRun& run : look.runs) {
      std::uint32_t first = run.first;
      const std::uint32_t last = run.first + run.count;
      // Each pair once: leaves see those after them, and themselves through one of two opposite images.
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

  // The tree still suits the bodies: no leaf is shorter than the reach, and the root is where they are.
  [[nodiscard]] bool suits(const Points<T, D>& points) const {
    const Reach<D> reach = points.reach(settings_.cutoff);
    for (std::size_t a = 0; a < D; ++a) {
      if (reach.axis[a] > reach_.axis[a] || reach.axis[a] < reach_.axis[a] / 2) return false;
      if (settings_.box.edge[a] > 0 || domain_.given) continue;
      const double edge = grid_.line[a].inverse > 0 ? static_cast<double>(grid_.cells[a]) / grid_.line[a].inverse : 0;
      const double most = std::max(edge * drift, reach_.axis[a]);
      if (!(std::abs(static_cast<double>(points.low[a]) - static_cast<double>(low_[a])) <= most)) return false;
      if (!(std::abs(static_cast<double>(points.high[a]) - static_cast<double>(high_[a])) <= most)) return false;
    }
    return points.size > 0 && points.size / 2 <= bodies_.size && bodies_.size / 2 <= points.size;
  }

  // Bodies have moved, come or gone: new_id(old id) is the number of one that stays, those from `first_new` on are new.
  template <class NewId>
  void refill(const Points<T, D>& points, NewId&& new_id, std::size_t first_new) {
    if (!suits(points)) {
      build(points);
      return;
    }
    // Keys are those of the new positions, so that `bodies_` must know these; slots and ids are still the old ones.
    Bodies<T, D> now;
    now.raw = points;
    now.box = settings_.box;
    const auto before = leaves_.begin();
    const std::size_t n = leaves_.size();
    Buffer<std::int32_t> staying(bodies_.size);  // at the beginning of each leaf's old slots
    std::vector<std::uint32_t> counts(n + 1, 0);
    constexpr std::size_t grain = 4096;
    std::vector<std::vector<Mover>> pieces((n + grain - 1) / grain);
    parallel_ranges(n, grain, [&](std::size_t first, std::size_t last, std::size_t piece) {
      for (std::size_t leaf = first; leaf < last; ++leaf)
        for (std::size_t slot = before[leaf]; slot < before[leaf + 1]; ++slot) {
          const std::int32_t id = new_id(bodies_.ids[slot]);
          if (id == gone) continue;
          const std::uint64_t key = key_of(now, static_cast<std::size_t>(id));
          if (leaves_.contains(leaf, key)) staying[before[leaf] + counts[leaf]++] = id;
          else pieces[piece].push_back({leaves_.find(key), id});
        }
    });
    std::vector<Mover> movers;
    for (std::vector<Mover>& piece : pieces) {
      movers.insert(movers.end(), piece.begin(), piece.end());
      piece = {};
    }
    const std::size_t moved = movers.size();
    for (std::size_t p = first_new; p < points.size; ++p)
      movers.push_back({leaves_.find(key_of(now, p)), static_cast<std::int32_t>(p)});
    if (movers.size() > points.size / few) {
      build(points);
      moved_ = moved;
      return;
    }
    std::sort(movers.begin(), movers.end(),
              [](const Mover& a, const Mover& b) { return std::pair(a.leaf, a.id) < std::pair(b.leaf, b.id); });
    Buffer<std::int32_t> ids(points.size);
    std::vector<std::uint32_t> begin(n + 1);
    std::uint32_t slot = 0;
    auto mover = movers.begin();
    for (std::size_t leaf = 0; leaf < n; ++leaf) {
      begin[leaf] = slot;
      std::copy_n(staying.data() + before[leaf], counts[leaf], ids.data() + slot);
      slot += counts[leaf];
      for (; mover != movers.end() && mover->leaf == leaf; ++mover) ids[slot++] = mover->id;
    }
    begin[n] = slot;
    restructure(now, std::move(begin), ids);
    moved_ = moved;
    bodies_.reset(points, settings_.box, near_frame(points, settings_.box, reach_.largest()));
    parallel_ranges(points.size, 1 << 14, [&](std::size_t first, std::size_t last, std::size_t) {
      for (std::size_t s = first; s < last; ++s) bodies_.place(static_cast<std::size_t>(ids[s]), s);
    });
  }

  // Splits and merges as the bodies of the leaves demand. `ids` is in the order of slots.
  void restructure(const Bodies<T, D>& now, std::vector<std::uint32_t> begin, Buffer<std::int32_t>& ids) {
    if (!leaves_.outgrown(begin)) {
      leaves_.set_begin(std::move(begin));
      leaves_.rest();
      return;
    }
    const auto sort_keys = [&](std::size_t first, std::size_t last) {
      std::vector<std::pair<std::uint64_t, std::int32_t>> order;
      for (std::size_t s = first; s < last; ++s)
        order.emplace_back(key_of(now, static_cast<std::size_t>(ids[s])), ids[s]);
      std::sort(order.begin(), order.end());
      std::vector<std::uint64_t> keys(order.size());
      for (std::size_t k = 0; k < order.size(); ++k) {
        keys[k] = order[k].first;
        ids[first + k] = order[k].second;
      }
      return keys;
    };
    std::vector<std::uint32_t> origins;
    const std::size_t leaves_before = leaves_.size();
    leaves_ = leaves_.changed(begin, sort_keys, origins);
    if (!sampled_) adjacency_.change(grid_, leaves_, origins, leaves_before);
  }

  Settings<T, D> settings_;
  std::size_t capacity_;
  int depth_;
  bool sampled_;
  OctreeDomain<D> domain_;
  Reach<D> reach_;                   // of the bodies the grid was laid for
  std::array<T, D> low_{}, high_{};  // their bounds
  OctreeGrid<D> grid_;
  OctreeLeaves<D> leaves_;
  StoredAdjacency<D> adjacency_;
  Bodies<T, D> bodies_;
  std::size_t moved_ = 0;
};

}  // namespace vicinal
