// Sweep along one axis, for a single search: the candidates of a body are those that overlap it along that axis.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "index/images.hpp"
#include "index/sweep/line.hpp"
#include "index/sweep/sweep.hpp"

namespace vicinal::sweep {

template <class T, int D>
class OneAxis final : public Sweep<T, D> {
 public:
  using Sweep<T, D>::Sweep;

  void build(const BodyView<T, D>& points) override {
    this->survey(points);
    sort_along(direction_, extent_, bodies_);
    line_.build(
        points.size, [&](std::size_t slot) { return direction_.ruler(interval(bodies_, slot, direction_.axis).low); },
        [&](std::size_t slot) { return direction_.ruler(interval(bodies_, slot, direction_.axis).high); });
    list_shifts(points.reach(settings_.cutoff));
    if (settings_.box.periodic()) find_bounds();
  }

  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    const auto last = static_cast<Slot>(std::min(queries.size, (part + 1) * part_bodies));
    std::vector<Range> ranges;
    for (auto k = static_cast<Slot>(part * part_bodies); k < last;) {
      const Group group = group_from(queries, mode, k, last);
      ranges.clear();
      if (mode == Mode::half) {
        ranges.push_back({k, static_cast<Slot>(group.end), {}, Own::after});
      } else {
        cover(group.low, group.high, {}, ranges);
        if (mode == Mode::full) mark_own(k, ranges);
      }
      if (!ahead_.empty()) {
        const Interval all = interval(queries, k, group.last, direction_.axis);
        for (const Shift& shift : ahead_)
          if (mode != Mode::half || positive(shift)) see(all, shift, ranges);
      }
      if (!ranges.empty()) sink({k, group.last, ranges});
      if (!aside_.empty())
        for (Slot query = k; query < group.last; ++query) {
          ranges.clear();
          look_aside(queries, query, mode, ranges);
          if (!ranges.empty()) sink({query, query + 1, ranges});
        }
      k = group.last;
    }
  }

  [[nodiscard]] Details details() const override { return {{"axes", 1}, {"axis", direction_.axis}}; }
  [[nodiscard]] std::size_t bytes() const override { return line_.bytes(); }

 private:
  // Consecutive queries that share their candidates.
  struct Group {
    Slot last;
    std::uint64_t low, high;  // their common extent
    std::size_t end;          // the first place whose body starts beyond
  };
  static constexpr Slot most_together = 64;

  [[nodiscard]] Interval interval(const Bodies<T, D>& bodies, std::size_t slot, int axis) const {
    return extent_([&](int column) { return bodies.position(slot, column); }, axis);
  }
  [[nodiscard]] Interval interval(const Bodies<T, D>& bodies, Slot first, Slot last, int axis) const {
    Interval all = interval(bodies, first, axis);
    for (Slot slot = first + 1; slot < last; ++slot) {
      const Interval one = interval(bodies, slot, axis);
      all = {std::min(all.low, one.low), std::max(all.high, one.high)};
    }
    return all;
  }

  // As many queries as can be grouped such that the candidates increase by less than an eighth, apart from a few that
  // fit into the same vector at no cost.
  [[nodiscard]] Group group_from(const Bodies<T, D>& queries, Mode mode, Slot first, Slot last) const {
    struct QueryRange {
      std::uint64_t low, high;
      std::size_t begin, end;
    };
    const auto query_at = [&](Slot slot) {
      QueryRange q{};
      if (mode == Mode::cross) {
        const Interval i = interval(queries, slot, direction_.axis);
        q.low = direction_.ruler(i.low);
        q.high = direction_.ruler(i.high);
      } else {
        q.low = line_.low(slot);
        q.high = line_.high(slot);
      }
      q.begin = mode == Mode::half ? slot : line_.first_from(q.low);
      q.end = line_.after(q.high, mode == Mode::half ? slot : q.begin);
      return q;
    };
    QueryRange all = query_at(first);
    std::size_t alone = all.end - all.begin;
    Slot next = first + 1;
    for (; next < last && next - first < most_together; ++next) {
      const QueryRange q = query_at(next);
      const std::size_t count = next - first + 1;
      const std::size_t end = std::max(all.end, q.end);
      const std::size_t before = mode == Mode::half ? count * (count - 1) / 2 : 0;  // reported by the queries before
      const std::size_t together = (end - all.begin) * count - before;
      if (together > alone + q.end - q.begin + alone / 8 + 8 * count) break;
      alone += q.end - q.begin;
      all.high = std::max(all.high, q.high);
      all.end = end;
    }
    return {next, all.low, all.high, all.end};
  }

  void cover(std::uint64_t low, std::uint64_t high, const Shift& shift, std::vector<Range>& ranges) const {
    const std::size_t given = ranges.size();
    line_.covering(low, high, [&](std::size_t begin, std::size_t end) {
      if (ranges.size() > given && ranges.back().end == begin) ranges.back().end = static_cast<Slot>(end);
      else ranges.push_back({static_cast<Slot>(begin), static_cast<Slot>(end), shift});
    });
  }
  // Bodies that overlap an interval moved by an image.
  void see(const Interval& i, const Shift& shift, std::vector<Range>& ranges) const {
    const double off = offset(shift, direction_.axis);
    cover(direction_.ruler(i.low - off), direction_.ruler(i.high - off), shift, ranges);
  }
  // The queries overlap themselves, so one range holds all of them.
  static void mark_own(Slot query, std::vector<Range>& ranges) {
    for (Range& range : ranges)
      if (query < range.end) {
        range.own = Own::except;
        std::swap(range, ranges.front());
        return;
      }
  }

  // Images across other borders: few bodies are near a border, so they are tested one by one.
  void look_aside(const Bodies<T, D>& queries, Slot query, Mode mode, std::vector<Range>& ranges) const {
    std::array<Interval, D> i;
    for (int axis = 0; axis < D; ++axis) i[static_cast<std::size_t>(axis)] = interval(queries, query, axis);
    for (const Shift& shift : aside_) {
      if (mode == Mode::half && !positive(shift)) continue;
      bool meets = true;
      for (int axis = 0; axis < D; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const double off = offset(shift, axis);
        meets = meets && i[a].low - off <= bounds_[a].high && bounds_[a].low <= i[a].high - off;
      }
      if (meets) see(i[static_cast<std::size_t>(direction_.axis)], shift, ranges);
    }
  }
  [[nodiscard]] double offset(const Shift& shift, int axis) const {
    const auto a = static_cast<std::size_t>(axis);
    return static_cast<double>(shift[a]) * static_cast<double>(settings_.box.edge[a]);
  }
  // Of two opposite images exactly one is.
  static bool positive(const Shift& shift) { return std::tuple(shift.z, shift.y, shift.x) > std::tuple(0, 0, 0); }

  // Images along the direction, and others.
  void list_shifts(const Reach<D>& reach) {
    ahead_.clear();
    aside_.clear();
    for (const Shift& shift : images_within(reach, settings_.box)) {
      if (shift == Shift{}) continue;
      Shift along{};
      const std::int16_t step = shift[static_cast<std::size_t>(direction_.axis)];
      (direction_.axis == 0 ? along.x : direction_.axis == 1 ? along.y : along.z) = step;
      (shift == along ? ahead_ : aside_).push_back(shift);
    }
  }

  void find_bounds() {
    constexpr double far = std::numeric_limits<double>::infinity();
    bounds_.fill({far, -far});
    for (std::size_t slot = 0; slot < bodies_.size; ++slot)
      for (int axis = 0; axis < D; ++axis) {
        const Interval one = interval(bodies_, slot, axis);
        Interval& all = bounds_[static_cast<std::size_t>(axis)];
        all = {std::min(all.low, one.low), std::max(all.high, one.high)};
      }
  }

  using Sweep<T, D>::bodies_;
  using Sweep<T, D>::direction_;
  using Sweep<T, D>::extent_;
  using Sweep<T, D>::settings_;
  Line line_;
  std::vector<Shift> ahead_, aside_;  // images along the axis of the sweep, and all others
  std::array<Interval, D> bounds_{};  // of all bodies, in a periodic box
};

}  // namespace vicinal::sweep
