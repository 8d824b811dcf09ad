// Sweep along all axes, for bodies that move a little at a time: sorted ends on each axis, and the set of pairs that
// overlap along all axes, updated when ends change their order.
//
// The cost of an update depends on the motion. Bodies with unchanged coordinates are compared and skipped; the ends of
// the others are sorted again. Every pair whose overlap changes along an axis is detected there and decided by the
// final extents of both bodies, so the order of these events does not matter.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/threads.hpp"
#include "index/cell_order.hpp"
#include "index/lay_grid.hpp"
#include "index/sweep/ends.hpp"
#include "index/sweep/find_overlaps.hpp"
#include "index/sweep/line.hpp"
#include "index/sweep/overlaps.hpp"
#include "index/sweep/sweep.hpp"

namespace vicinal::sweep {

template <class T, int D>
class AllAxes final : public Sweep<T, D> {
 public:
  using Sweep<T, D>::Sweep;

  void build(const BodyView<T, D>& points) override {
    const Bulk<D> bulk = this->survey(points);
    keep(points, 0);
    place_all(points, bulk);
    parallel_for(D, [&](std::size_t a, int) { ends_[a].sort(points.size, where(static_cast<int>(a))); });
    const auto cover = [&](std::size_t body) { return cover_of(body); };
    const auto axis = static_cast<std::size_t>(direction_.axis);
    OverlapFinder<T, D, decltype(cover)> finder(ends_[axis], axis, cover, bulk);
    auto pairs = finder.run();
    compared_ = finder.compared();
    for (auto& list : pairs)
      for (auto& [a, b] : list) {
        a = slot_of_[a];
        b = slot_of_[b];
      }
    overlaps_.fill(points.size, pairs);
    line_ready_ = false;
    ++rebuilds_;
    swaps_ = 0;
    strays_ = 0;
  }

  void update(const BodyView<T, D>& points) override {
    if (points.size != bodies_.size || points.shape != bodies_.raw.shape) {
      build(points);
      return;
    }
    const std::vector<std::uint32_t> moved = find_moved(points);
    swaps_ = 0;
    if (!moved.empty()) {
      line_ready_ = false;
      // A binary search for an end costs about as much as stepping over a few tens of ends.
      const bool settled = moved.size() < points.size / 32 ? move(points, moved) : settle(points);
      if (!settled) {
        build(points);
        return;
      }
    }
    follow(points, moved);
  }

  void insert(const BodyView<T, D>& points) override {
    const std::size_t old = bodies_.size;
    strays_ += points.size - old;
    // New bodies get the last slots regardless of their position; if there are many, all slots are sorted again.
    if (strays_ > points.size / 8) {
      build(points);
      return;
    }
    keep(points, old);
    parallel_for(D, [&](std::size_t a, int) { ends_[a].insert(old, points.size, where(static_cast<int>(a))); });
    slot_of_.resize(points.size);
    bodies_.resize(points.size);
    std::vector<std::uint32_t> added;
    for (std::size_t body = old; body < points.size; ++body) {
      slot_of_[body] = static_cast<Slot>(body);
      bodies_.ids[body] = static_cast<std::int32_t>(body);
      added.push_back(static_cast<std::uint32_t>(body));
    }
    follow(points, added);
    overlaps_.grow(points.size);
    line_ready_ = false;
    get_line_ready();
    for (const std::uint32_t body : added)
      for_each_overlap(cover_of(body), [&](std::uint32_t other) {
        if (other != body) overlaps_.insert(slot_of_[body], slot_of_[other]);
      });
  }

  void remove(std::span<const std::uint32_t> ids, const BodyView<T, D>& points) override {
    constexpr std::uint32_t gone = ~std::uint32_t{0};
    const std::size_t old = bodies_.size;
    std::vector<std::uint32_t> new_id(old, 0);
    for (const std::uint32_t id : ids) new_id[id] = gone;
    std::uint32_t next = 0;
    for (std::uint32_t& id : new_id)
      if (id != gone) id = next++;
    parallel_for(D, [&](std::size_t a, int) { ends_[a].remove(new_id, gone); });
    keep(points, 0);
    std::vector<Slot> new_slot(old, gone);
    Slot slots = 0;
    for (std::size_t slot = 0; slot < old; ++slot) {
      const std::uint32_t id = new_id[static_cast<std::size_t>(bodies_.ids[slot])];
      if (id == gone) continue;
      bodies_.move(slot, slots);
      bodies_.ids[slots] = static_cast<std::int32_t>(id);
      slot_of_[id] = slots;
      new_slot[slot] = slots++;
    }
    slot_of_.resize(points.size);
    follow(points, {});
    overlaps_.remove(new_slot, gone);
    line_ready_ = false;
  }

  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    const auto first = static_cast<Slot>(part * part_bodies);
    const auto last = static_cast<Slot>(std::min(queries.size, (part + 1) * part_bodies));
    std::vector<Range> ranges;
    if (mode == Mode::cross) {
      get_line_ready();
      std::vector<Slot> neighbors;
      for (Slot query = first; query < last; ++query) {
        neighbors.clear();
        const Cover<T, D> cover = cover_by([&](int column) { return queries.position(query, column); });
        for_each_overlap(cover, [&](std::uint32_t body) { neighbors.push_back(slot_of_[body]); });
        std::sort(neighbors.begin(), neighbors.end());
        ranges.clear();
        add_ranges(neighbors, ranges);
        if (!ranges.empty()) sink({query, query + 1, ranges});
      }
      return;
    }
    std::vector<Slot> neighbors;
    for (Slot query = first; query < last;) query = hand_out_some(query, last, mode, neighbors, ranges, sink);
  }

  [[nodiscard]] Details details() const override {
    return {{"axes", D},
            {"axis", direction_.axis},
            {"swaps", static_cast<double>(swaps_)},
            {"rebuilds", static_cast<double>(rebuilds_)},
            {"compared", static_cast<double>(compared_)},
            {"overlaps", static_cast<double>(overlaps_.pairs())}};
  }
  [[nodiscard]] std::size_t bytes() const override {
    std::size_t sum = data_.bytes() + extra_.bytes() + overlaps_.bytes() + line_.bytes();
    for (const Ends<T>& ends : ends_) sum += ends.bytes();
    return sum + (slot_of_.size() + order_.size()) * sizeof(std::uint32_t);
  }

 private:
  // A body overlaps few others, so a block of one query would cost more than its candidates. A few consecutive bodies
  // are near each other: they form a block as long as they do not have many neighbours.
  static constexpr Slot most_together = 8;
  static constexpr std::size_t most_neighbors = 64;

  // Returns the first query after the block.
  Slot hand_out_some(Slot first, Slot end, Mode mode, std::vector<Slot>& neighbors, std::vector<Range>& ranges,
                     BlockSink sink) const {
    neighbors.clear();
    Slot last = first;
    do {
      for (const Slot slot : overlaps_.of(last))
        if (mode == Mode::full || slot > last) neighbors.push_back(slot);
      ++last;
    } while (last < end && last - first < most_together &&
             neighbors.size() + overlaps_.of(last).size() <= most_neighbors);
    std::sort(neighbors.begin(), neighbors.end());
    ranges.clear();
    const auto own = std::lower_bound(neighbors.begin(), neighbors.end(), first);
    if (own != neighbors.end() && *own < last)
      ranges.push_back({first, last, {}, mode == Mode::half ? Own::after : Own::except});
    add_ranges({neighbors.begin(), own}, ranges);
    add_ranges({std::lower_bound(own, neighbors.end(), last), neighbors.end()}, ranges);
    if (!ranges.empty()) sink({first, last, ranges});
    return last;
  }
  // Slots in ascending order; consecutive slots form one range.
  static void add_ranges(std::span<const Slot> slots, std::vector<Range>& ranges) {
    const std::size_t given = ranges.size();
    for (const Slot slot : slots) {
      if (ranges.size() > given && slot <= ranges.back().end) ranges.back().end = std::max(ranges.back().end, slot + 1);
      else ranges.push_back({slot, slot + 1});
    }
  }

  // Keeps a copy of the bodies from `first` on.
  void keep(const BodyView<T, D>& points, std::size_t first) {
    const auto copy = [&](Buffer<T>& to, const T* from, std::size_t each) {
      to.resize(points.size * each);
      std::copy(from + first * each, from + points.size * each, to.data() + first * each);
    };
    copy(data_, points.data, D);
    if (points.shape != Shape::point) copy(extra_, points.extra, points.extras());
    shape_ = points.shape;
  }
  void keep_one(const BodyView<T, D>& points, std::size_t body) {
    std::copy_n(points.data + body * D, D, data_.data() + body * D);
    const std::size_t each = points.extras();
    if (each > 0) std::copy_n(points.extra + body * each, each, extra_.data() + body * each);
  }
  [[nodiscard]] T kept(std::size_t body, int column) const {
    if (column < D) return data_[body * D + static_cast<std::size_t>(column)];
    return shape_ == Shape::sphere ? extra_[body] : extra_[body * D + static_cast<std::size_t>(column - D)];
  }

  static T rounded(double x) {
    constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
    return static_cast<T>(std::min(std::max(x, -most), most));
  }
  template <class Value>
  [[nodiscard]] Cover<T, D> cover_by(Value&& value) const {
    Cover<T, D> cover;
    for (int axis = 0; axis < D; ++axis) {
      const Interval i = extent_(value, axis);
      cover.low[static_cast<std::size_t>(axis)] = rounded(i.low);
      cover.high[static_cast<std::size_t>(axis)] = rounded(i.high);
    }
    return cover;
  }
  [[nodiscard]] Cover<T, D> cover_of(std::size_t body) const {
    return cover_by([&](int column) { return kept(body, column); });
  }
  // The coordinate of an end along an axis.
  [[nodiscard]] auto where(int axis) const {
    return [this, axis](Tag tag) {
      const Interval i = extent_([&](int column) { return kept(tag.body(), column); }, axis);
      return rounded(tag.upper() ? i.high : i.low);
    };
  }

  // Bodies that differ from those last seen.
  [[nodiscard]] std::vector<std::uint32_t> find_moved(const BodyView<T, D>& points) const {
    constexpr std::size_t grain = 4096;
    const std::size_t each = points.same_sizes ? 0 : points.extras();
    std::vector<std::vector<std::uint32_t>> moves((points.size + grain - 1) / grain);
    const auto same = [&](std::size_t begin, std::size_t end) {
      const std::size_t count = end - begin;
      return std::memcmp(points.data + begin * D, data_.data() + begin * D, count * D * sizeof(T)) == 0 &&
             (each == 0 ||
              std::memcmp(points.extra + begin * each, extra_.data() + begin * each, count * each * sizeof(T)) == 0);
    };
    parallel_ranges(points.size, grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
      if (same(begin, end)) return;
      for (std::size_t body = begin; body < end; ++body)
        if (!same(body, body + 1)) moves[piece].push_back(static_cast<std::uint32_t>(body));
    });
    std::vector<std::uint32_t> moved;
    for (const auto& piece : moves) moved.insert(moved.end(), piece.begin(), piece.end());
    return moved;
  }

  // For few moved bodies: looks up and moves each of their ends. Returns false if that takes too long.
  bool move(const BodyView<T, D>& points, std::span<const std::uint32_t> moved) {
    std::vector<Cover<T, D>> before;
    before.reserve(moved.size());
    for (const std::uint32_t body : moved) {
      before.push_back(cover_of(body));
      keep_one(points, body);
    }
    for (int axis = 0; axis < D; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      for (std::size_t k = 0; k < moved.size(); ++k)
        for (const bool upper : {false, true}) {
          const Tag tag(moved[k], upper);
          const T from = upper ? before[k].high[a] : before[k].low[a];
          const T to = where(axis)(tag);
          if (from == to) continue;
          swaps_ += ends_[a].move(from, {to, tag}, crossed(axis));
          if (swaps_ > most_swaps()) return false;
        }
    }
    return true;
  }
  // For many moved bodies: sorts all ends by insertion. Returns false if that takes too long.
  bool settle(const BodyView<T, D>& points) {
    keep(points, 0);
    for (int axis = 0; axis < D; ++axis) {
      swaps_ += ends_[static_cast<std::size_t>(axis)].settle(where(axis), most_swaps() - swaps_, crossed(axis));
      if (swaps_ > most_swaps()) return false;
    }
    return true;
  }
  // A rebuild takes about as long as this many exchanges of ends.
  [[nodiscard]] std::size_t most_swaps() const { return 64 * bodies_.size + 4096; }

  // The overlap of two bodies along `axis` begins or ends. If it begins, all axes are tested; most such bodies are far
  // apart along another axis.
  [[nodiscard]] auto crossed(int axis) {
    return [this, axis](std::uint32_t a, std::uint32_t b, bool overlap) {
      if (!overlap) {
        overlaps_.erase(slot_of_[a], slot_of_[b]);
        return;
      }
      for (int step = 1; step <= D; ++step)
        if (!overlap_along(a, b, (axis + step) % D)) return;
      overlaps_.insert(slot_of_[a], slot_of_[b]);
    };
  }
  [[nodiscard]] bool overlap_along(std::size_t a, std::size_t b, int axis) const {
    const Interval i = extent_([&](int column) { return kept(a, column); }, axis);
    const Interval j = extent_([&](int column) { return kept(b, column); }, axis);
    return rounded(i.low) <= rounded(j.high) && rounded(j.low) <= rounded(i.high);
  }

  // Puts all bodies into slots, sorted by cells of a few bodies each, so that neighbours in space are close in memory.
  void place_all(const BodyView<T, D>& points, const Bulk<D>& bulk) {
    Grid grid;
    if (points.size > 0) {
      const double across = std::ceil(std::pow(static_cast<double>(points.size) / 4, 1.0 / D));
      Reach<D> cell;
      for (std::size_t a = 0; a < D; ++a)
        cell.axis[a] = bulk.length[a] > 1e-100 ? bulk.length[a] / std::min(across, 1000.0) : 1;
      grid = lay_grid(within(bulk, points, settings_.box), settings_.box, cell, 1, 0);
    }
    grid.finish(points.reach(settings_.cutoff));
    order_by_cell(grid, bodies_);
    slot_of_.resize(points.size);
    for (std::size_t slot = 0; slot < points.size; ++slot)
      slot_of_[static_cast<std::size_t>(bodies_.ids[slot])] = static_cast<Slot>(slot);
  }

  // Updates the coordinates and keeps the slots.
  void follow(const BodyView<T, D>& points, std::span<const std::uint32_t> moved) {
    const NearFrame<D> next = near_frame(points, settings_.box, points.reach(settings_.cutoff).largest());
    const bool was_banded = bodies_.banded;
    const bool fits = was_banded && fits_frame(points, next);
    bodies_.reset(points, settings_.box, fits ? bodies_.frame : next);
    const bool refill = bodies_.banded != was_banded || (was_banded && !fits);
    if (refill || moved.size() > points.size / 4) {
      parallel_ranges(points.size, 1 << 14, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t slot = begin; slot < end; ++slot)
          bodies_.place(static_cast<std::size_t>(bodies_.ids[slot]), slot);
      });
      return;
    }
    for (const std::uint32_t body : moved) bodies_.place(body, slot_of_[body]);
  }
  // The frame is kept if the scale of the reach is unchanged and no body is near the border to which distant queries
  // are clamped, four reaches outside the original bounds.
  [[nodiscard]] bool fits_frame(const BodyView<T, D>& points, const NearFrame<D>& next) const {
    const NearFrame<D>& frame = bodies_.frame;
    if (!next.useful() || next.scale != frame.scale) return false;
    for (std::size_t a = 0; a < D; ++a) {
      const double low = (static_cast<double>(points.low[a]) - frame.centre[a]) * frame.scale;
      const double high = (static_cast<double>(points.high[a]) - frame.centre[a]) * frame.scale;
      if (low < frame.low[a] + 2 || high > frame.high[a] - 2) return false;
    }
    return true;
  }

  // All bodies in ascending order of their lower ends, for queries that are not among them; made when first needed.
  void get_line_ready() const {
    const std::lock_guard lock(line_mutex_);
    if (line_ready_) return;
    const auto axis = static_cast<std::size_t>(direction_.axis);
    const Ends<T>& ends = ends_[axis];
    order_.clear();
    order_.reserve(ends.size() / 2);
    for (std::size_t k = 0; k < ends.size(); ++k)
      if (!ends[k].tag.upper()) order_.push_back(ends[k].tag.body());
    line_.build(
        order_.size(),
        [&](std::size_t k) { return direction_.ruler(static_cast<double>(cover_of(order_[k]).low[axis])); },
        [&](std::size_t k) { return direction_.ruler(static_cast<double>(cover_of(order_[k]).high[axis])); });
    line_ready_ = true;
  }
  // Calls f(body) for all bodies that overlap along every axis.
  template <class F>
  void for_each_overlap(const Cover<T, D>& cover, F&& f) const {
    const auto axis = static_cast<std::size_t>(direction_.axis);
    line_.covering(direction_.ruler(static_cast<double>(cover.low[axis])),
                   direction_.ruler(static_cast<double>(cover.high[axis])), [&](std::size_t begin, std::size_t end) {
                     for (std::size_t k = begin; k < end; ++k)
                       if (cover_of(order_[k]).overlaps(cover)) f(order_[k]);
                   });
  }

  using Sweep<T, D>::bodies_;
  using Sweep<T, D>::direction_;
  using Sweep<T, D>::extent_;
  using Sweep<T, D>::settings_;
  std::vector<Slot> slot_of_;  // by the user's number
  Buffer<T> data_, extra_;     // the bodies as last seen
  Shape shape_ = Shape::point;
  std::array<Ends<T>, D> ends_;
  OverlapRows overlaps_;
  mutable std::mutex line_mutex_;
  mutable bool line_ready_ = false;
  mutable Line line_;
  mutable std::vector<std::uint32_t> order_;  // the body at each place of line_
  std::size_t swaps_ = 0;                     // of the last update
  std::size_t rebuilds_ = 0;                  // so far
  std::size_t compared_ = 0;                  // pairs, in the last of them
  std::size_t strays_ = 0;                    // inserted since the last of them
};

}  // namespace vicinal::sweep
