// The hierarchical hash grid (Schornbaum 2009): grids of growing cells for bodies of growing size, each folded onto
// bins.
//
// After a build the bodies of all bins follow each other in the order of the bins, so rows of bins are single ranges,
// as in linked cells. An update moves only the bodies that changed bin: a bin closes its gap, which leaves holes at its
// end, and a body enters at the end of its new bin if there is a hole, or the bin moves to the end of the slots with
// room to spare. When holes are too many everything is laid out anew.
//
// In half mode a bin looks only at bins after it. Levels are in ascending order of size, so small bodies look for large
// ones and never the other way round (Schornbaum's (2009) order), and two bins of a level are compared once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/threads.hpp"
#include "geometry/grid.hpp"
#include "index/cell_order.hpp"
#include "index/hash_bins.hpp"
#include "index/lay_grid.hpp"
#include "index/parts.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class HashGrid final : public Structure<T, D>, HashBins<T, D> {
 public:
  explicit HashGrid(const Settings<T, D>& settings)
      : HashBins<T, D>(settings), incremental_(settings.option("incremental") > 0) {}

  void build(const BodyView<T, D>& points) override {
    lay_out(points);
    // Cells wider than the bodies are meant to hold a few of them. Where bodies crowd they hold many: once more, finer.
    for (int again = 0; again < 2 && crowded(); ++again) lay_out(points);
  }

  void update(const BodyView<T, D>& points) override {
    if (!incremental_ || points.size != bodies_.size || !fits(points)) {
      build(points);
      return;
    }
    bodies_.raw = points;
    bodies_.forget_exact();
    if (!move_bodies(!points.same_sizes)) {
      build(points);
      return;
    }
    tidy();
  }

  void insert(const BodyView<T, D>& points) override {
    const std::size_t old = bodies_.size;
    // To enter takes ten times as long as to be laid out: with many new bodies all are laid out anew.
    if (points.size > old + old / 16 || built_bodies_ <= few() || !fits(points) || too_full(points.size)) {
      build(points);
      return;
    }
    bodies_.raw = points;
    bodies_.forget_exact();
    std::vector<Mover> movers(points.size - old);
    for (std::size_t k = old; k < points.size; ++k) {
      const std::uint32_t to = bin_of(k);
      if (to == nowhere) {
        build(points);
        return;
      }
      movers[k - old] = {static_cast<std::uint32_t>(k), to};
    }
    bodies_.size = points.size;
    enter(movers);
    tidy();
  }

  void remove(std::span<const std::uint32_t> ids, const BodyView<T, D>& points) override {
    const std::size_t old = bodies_.size;
    Buffer<std::int32_t> number(old);  // anew, or -1
    std::fill_n(number.data(), old, 0);
    for (const std::uint32_t id : ids) number[id] = -1;
    std::int32_t next = 0;
    for (std::size_t k = 0; k < old; ++k)
      if (number[k] >= 0) number[k] = next++;
    bodies_.size = points.size;
    bodies_.raw = points;
    bodies_.forget_exact();
    parallel_for(pieces(), [&](std::size_t piece, int) {
      for_each_bin(piece, [&](std::uint32_t, Bin& bin) {
        renumber(bin, [&](std::int32_t id) { return number[static_cast<std::size_t>(id)]; });
      });
    });
    compact_ = false;
    tidy();
  }

  void arrange(const BodyView<T, D>& points, Bodies<T, D>& queries) const override {
    queries.reset(points, settings_.box, bodies_.frame);
    // Any grid does that keeps near queries together: about one in each cell.
    Reach<D> spacing;
    for (std::size_t a = 0; a < D; ++a) {
      const double edge = settings_.box.edge[a] > 0
                              ? static_cast<double>(settings_.box.edge[a])
                              : static_cast<double>(points.high[a]) - static_cast<double>(points.low[a]);
      const double cell = edge / std::ceil(std::pow(static_cast<double>(points.size), 1.0 / D));
      spacing.axis[a] = cell > 1e-300 && std::isfinite(cell) ? cell : 1;  // its inverse must be finite too
    }
    Grid grid;
    if (points.size > 0) grid = lay_grid(points, settings_.box, spacing, 1, 0);
    grid.finish(spacing);
    order_by_cell(grid, queries);
  }

  [[nodiscard]] const Bodies<T, D>& bodies() const override { return bodies_; }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const override {
    return &queries == &bodies_ ? pieces() : part_count(queries);
  }

  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    Search search{*this, queries, mode, sink};
    if (mode == Mode::cross) {
      const auto [first, last] = groups_of_part(queries, part);
      for (std::size_t g = first; g < last; ++g) search.group(queries.group_begin[g], queries.group_begin[g + 1]);
      return;
    }
    const std::size_t last = std::min(occupied_.size(), (part + 1) * piece_bins);
    for (std::size_t k = part * piece_bins; k < last; ++k) search.bin(occupied_[k]);
  }

  [[nodiscard]] Details details() const override {
    const auto occupied = std::count_if(occupied_.begin(), occupied_.end(), [&](auto b) { return bins_[b].count > 0; });
    Details d{{"levels", static_cast<double>(levels_.size())}, {"cells", static_cast<double>(bin_count_)},
              {"occupied", static_cast<double>(occupied)},     {"rebuilds", static_cast<double>(rebuilds_)},
              {"moved", static_cast<double>(moved_)},          {"slots", static_cast<double>(bodies_.slots)}};
    for (std::size_t l = 0; l < levels_.size(); ++l)
      d["cell_" + std::to_string(l)] = levels_[l].axis[0].inverse > 0 ? 1 / levels_[l].axis[0].inverse : 0;
    return d;
  }
  [[nodiscard]] std::size_t bytes() const override {
    return bins_.bytes() + slot_bins_.bytes() + occupied_.capacity() * sizeof(std::uint32_t) + listed_.size() / 8;
  }

  // The keys for order_by_key: the bin of each body.
  template <class F>
  void for_each(std::size_t begin, std::size_t end, F&& f) const {
    for (std::size_t p = begin; p < end; ++p) f(p, std::uint64_t{bin_of(p)});
  }

 private:
  using Bins = HashBins<T, D>;
  using Bins::bin_count_;
  using Bins::bin_of;
  using Bins::bins_;
  using Bins::bodies_;
  using Bins::built_bodies_;
  using Bins::compact_;
  using Bins::enter;
  using Bins::few;
  using Bins::fixed_;
  using Bins::for_each_bin;
  using Bins::lay_levels;
  using Bins::level_at;
  using Bins::levels_;
  using Bins::list_bins;
  using Bins::listed_;
  using Bins::move_bodies;
  using Bins::moved_;
  using Bins::nowhere;
  using Bins::occupied_;
  using Bins::piece_bins;
  using Bins::pieces;
  using Bins::reach_;
  using Bins::renumber;
  using Bins::settings_;
  using Bins::share;
  using Bins::slot_bins_;
  using Bins::spread_;
  using Bins::wide_bodies;
  using Bins::with_room;
  using typename Bins::Bin;
  using typename Bins::Mover;

  // What bodies occupy: their positions and sizes, safely rounded.
  struct Extent {
    std::array<double, D> low, high;
  };

  [[nodiscard]] bool too_full(std::size_t n) const {
    return fixed_ == 0 && static_cast<double>(n) > 2 * share() * static_cast<double>(bin_count_) &&
           n > 2 * built_bodies_;
  }
  [[nodiscard]] bool too_empty() const { return bodies_.size > few() && bodies_.size < built_bodies_ / 8; }

  void lay_out(const BodyView<T, D>& points) {
    ++rebuilds_;
    reach_ = points.reach(settings_.cutoff);
    if (points.shape != Shape::point)
      for (double& axis : reach_.axis) axis = with_room(axis);
    lay_levels(points);
    moved_ = 0;
    // Bodies that drift a little should not leave the frame.
    BodyView<T, D> roomy = points;
    for (std::size_t a = 0; a < D; ++a) {
      const double margin = (static_cast<double>(points.high[a]) - static_cast<double>(points.low[a])) / 16;
      if (!std::isfinite(margin)) continue;
      roomy.low[a] -= static_cast<T>(margin);
      roomy.high[a] += static_cast<T>(margin);
    }
    bodies_.reset(points, settings_.box, near_frame(roomy, settings_.box, reach_.largest()));
    order_by_key(bin_count_, *this, bodies_);
    list_bins();
    set_slop();
  }

  // Whether wide cells hold far more bodies than they should, seen by a body; sets `spread_` for the next try.
  bool crowded() {
    double worst = 0;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      if (!levels_[l].wide) continue;
      double bodies = 0;
      double squares = 0;
      const std::uint32_t end = l + 1 < levels_.size() ? levels_[l + 1].first : static_cast<std::uint32_t>(bin_count_);
      for (const std::uint32_t index : occupied_) {
        if (index < levels_[l].first || index >= end) continue;
        const double count = bins_[index].count;
        bodies += count;
        squares += count * count;
      }
      if (bodies > 0) worst = std::max(worst, squares / bodies);
    }
    if (worst <= 4 * wide_bodies || built_bodies_ <= few()) return false;
    spread_ *= std::pow(wide_bodies / worst, 1.0 / D);
    return true;
  }

  // Whether bodies can be kept in the levels and the frame there are.
  [[nodiscard]] bool fits(const BodyView<T, D>& points) const {
    if (bodies_.size == 0) return false;
    const Reach<D> now = points.reach(settings_.cutoff);
    for (std::size_t a = 0; a < D; ++a) {
      if (now.axis[a] > reach_.axis[a]) return false;
      if (!bodies_.banded || settings_.box.edge[a] > 0) continue;
      const auto inside = [&](T x) {
        const double scaled = (static_cast<double>(x) - bodies_.frame.centre[a]) * bodies_.frame.scale;
        return scaled >= bodies_.frame.low[a] && scaled <= bodies_.frame.high[a];
      };
      if (!inside(points.low[a]) || !inside(points.high[a])) return false;
    }
    return true;
  }

  // Lays everything out anew when there are too many holes, or far fewer bodies than there were.
  void tidy() {
    if (bodies_.slots > bodies_.size + bodies_.size / 2 + 1024 || too_empty()) build(bodies_.raw);
  }

  // ---- Searching ----------------------------------------------------------------------------------------------------

  void set_slop() {
    constexpr double eps = std::numeric_limits<T>::epsilon();
    for (std::size_t a = 0; a < D; ++a) {
      // See periodic_reach: differences across a border round relative to the edge.
      const T edge = settings_.box.edge[a];
      slop_[a] =
          edge > 0 ? periodic_reach(reach_.axis[a], edge) - reach_.axis[a] + 4 * eps * static_cast<double>(edge) : 0;
      if (bodies_.banded) slop_[a] += 8 * 0x1p-24 * bodies_.frame.largest / bodies_.frame.scale;
    }
  }

  template <class Column>
  [[nodiscard]] Extent extent_of(const Column& column, Slot first, Slot last) const {
    Extent e;
    constexpr double more = 1 + 32 * static_cast<double>(std::numeric_limits<T>::epsilon());
    for (std::size_t a = 0; a < D; ++a) {
      double low = std::numeric_limits<double>::infinity();
      double high = -low;
      for (Slot k = first; k < last; ++k) {
        const auto x = static_cast<double>(column[a][k]);
        double down = x;
        double up = x;
        if (bodies_.raw.shape == Shape::sphere) {
          const double r = static_cast<double>(column[D][k]) * more;
          down = x - r;
          up = x + r;
        } else if (bodies_.raw.shape == Shape::box) {
          up = static_cast<double>(column[D + a][k]);
        }
        low = std::min(low, down);
        high = std::max(high, up);
      }
      e.low[a] = low;
      e.high[a] = high;
    }
    return e;
  }
  [[nodiscard]] Extent extent_of(const Bodies<T, D>& queries, Slot first, Slot last) const {
    const bool near = queries.banded;
    Extent e = near ? extent_of(queries.near, first, last) : extent_of(queries.exact, first, last);
    for (std::size_t a = 0; a < D; ++a) {
      if (near) {
        e.low[a] = e.low[a] / queries.frame.scale + queries.frame.centre[a];
        e.high[a] = e.high[a] / queries.frame.scale + queries.frame.centre[a];
      }
      e.low[a] -= slop_[a] + std::abs(e.low[a]) * 0x1p-50;
      e.high[a] += slop_[a] + std::abs(e.high[a]) * 0x1p-50;
    }
    return e;
  }

  // The blocks of one part.
  struct Search {
    const HashGrid& grid;
    const Bodies<T, D>& queries;
    Mode mode;
    BlockSink sink;
    std::vector<Range> ranges{};
    std::array<std::vector<BinRun>, 3> runs{};
    std::uint32_t own = nowhere;
    std::size_t own_range = 0;

    // Queries of another set.
    void group(Slot first, Slot last) {
      ranges.clear();
      const Extent extent = grid.extent_of(queries, first, last);
      for (const HashLevel<D>& level : grid.levels_) look(extent, level);
      if (!ranges.empty()) sink({first, last, ranges});
    }

    void bin(std::uint32_t index) {
      const Bin& bin = grid.bins_[index];
      if (bin.count == 0) return;
      own = index;
      const std::size_t l = grid.level_at(index);
      const Extent extent = grid.extent_of(queries, bin.begin, bin.begin + bin.count);
      if (grid.fixed_ > 0) {
        as_published(bin, l);
      } else if (bin.count > 1 && folded(extent, grid.levels_[l])) {
        // Bodies from far apart share the bin: each looks around itself.
        for (Slot k = 0; k < bin.count; ++k)
          block(bin.begin + k, bin.begin + k + 1, l, grid.extent_of(queries, bin.begin + k, bin.begin + k + 1));
      } else {
        block(bin.begin, bin.begin + bin.count, l, extent);
      }
    }

    [[nodiscard]] bool folded(const Extent& extent, const HashLevel<D>& level) const {
      for (std::size_t a = 0; a < D; ++a) {
        const HashAxis& axis = level.axis[a];
        if ((extent.high[a] - extent.low[a] - level.below[a] - level.above[a]) * axis.inverse > 2) return true;
      }
      return false;
    }

    void block(Slot first, Slot last, std::size_t l, const Extent& extent) {
      start(first);
      for (std::size_t k = mode == Mode::half ? l : 0; k < grid.levels_.size(); ++k) look(extent, grid.levels_[k]);
      finish(first, last);
    }
    void start(Slot first) {
      ranges.clear();
      own_range = 0;
      const Bin& bin = grid.bins_[own];
      if (mode == Mode::half) ranges.push_back({first, bin.begin + bin.count, {}, Own::after});
    }
    void finish(Slot first, Slot last) {
      if (mode == Mode::full) std::swap(ranges[0], ranges[own_range]);
      sink({first, last, ranges});
    }

    // All bins of a level that bodies within the extent can reach.
    void look(const Extent& extent, const HashLevel<D>& level) {
      if (level.bodies == 0) return;
      for (std::size_t a = 0; a < D; ++a) {
        runs[a].clear();
        level.axis[a].runs(extent.low[a] - level.below[a], extent.high[a] + level.above[a], runs[a]);
      }
      if (D == 2) runs[2].assign(1, {0, 0, 0});
      propose(level);
    }

    void propose(const HashLevel<D>& level) {
      const std::uint32_t width = level.axis[0].mask + 1;
      const std::uint32_t depth = level.axis[1].mask + 1;
      for (const BinRun& z : runs[2])
        for (std::uint32_t bz = z.first; bz <= z.last; ++bz)
          for (const BinRun& y : runs[1])
            for (std::uint32_t by = y.first; by <= y.last; ++by) {
              const std::uint32_t row = level.first + (bz * depth + by) * width;
              if (mode == Mode::half && row + width <= own) continue;
              for (const BinRun& x : runs[0]) add(row + x.first, row + x.last, {x.shift, y.shift, z.shift});
            }
    }

    // Bins first … last through one image; in half mode only those after the own one.
    void add(std::uint32_t first, std::uint32_t last, const Shift& shift) {
      const bool image = shift != Shift{};
      if (mode == Mode::half && first <= own) {
        // Of the own bin's images every other one: the opposite ones are the same pairs.
        const std::int16_t sign = shift.x != 0 ? shift.x : shift.y != 0 ? shift.y : shift.z;
        if (last < own) return;
        first = image && sign > 0 ? own : own + 1;
        if (first > last) return;
      }
      if (grid.compact_) {
        const Bin& end = grid.bins_[last];
        append({grid.bins_[first].begin, end.begin + end.count, shift}, first <= own && own <= last && !image);
        return;
      }
      // Most bins still follow each other without a gap.
      Range run{grid.bins_[first].begin, grid.bins_[first].begin, shift};
      std::uint32_t from = first;
      for (std::uint32_t k = first; k <= last; ++k) {
        const Bin& bin = grid.bins_[k];
        if (bin.begin != run.end) {
          if (bin.count == 0) continue;
          append(run, from <= own && own < k && !image);
          run.begin = bin.begin;
          from = k;
        }
        run.end = bin.begin + bin.count;
      }
      append(run, from <= own && own <= last && !image);
    }
    void append(const Range& range, bool holds_own) {
      if (range.begin == range.end) return;
      if (!ranges.empty() && ranges.back().end == range.begin && ranges.back().shift == range.shift)
        ranges.back().end = range.end;
      else ranges.push_back(range);
      if (!holds_own || mode != Mode::full) return;
      own_range = ranges.size() - 1;
      ranges.back().own = Own::except;
    }

    // As Koch 2020 has it, to reproduce its numbers of candidates: a bin with the 3^d around it, and every body with
    // the 3^d around its cell in each grid of larger cells (in full mode, of all other grids by extent).
    void as_published(const Bin& bin, std::size_t l) {
      const HashLevel<D>& level = grid.levels_[l];
      start(bin.begin);
      std::uint32_t rest = own - level.first;
      for (std::size_t a = 0; a < 3; ++a) {
        const HashAxis& axis = level.axis[a];
        runs[a].clear();
        const auto at = static_cast<std::int64_t>(rest & axis.mask);
        if (a < D) axis.add(at - 1, at + 1, 0, runs[a]);
        else runs[a].push_back({0, 0, 0});
        rest /= axis.mask + 1;
      }
      propose(level);
      finish(bin.begin, bin.begin + bin.count);
      for (std::size_t k = mode == Mode::half ? l + 1 : 0; k < grid.levels_.size(); ++k) {
        const HashLevel<D>& other = grid.levels_[k];
        if (k == l || other.bodies == 0) continue;
        for (Slot slot = bin.begin; slot < bin.begin + bin.count; ++slot) {
          ranges.clear();
          if (k < l) {
            look(grid.extent_of(queries, slot, slot + 1), other);
          } else {
            for (std::size_t a = 0; a < D; ++a) {
              runs[a].clear();
              const auto cell = other.axis[a].cell(static_cast<double>(queries.position(slot, static_cast<int>(a))));
              other.axis[a].add(cell - 1, cell + 1, 0, runs[a]);
            }
            if (D == 2) runs[2].assign(1, {0, 0, 0});
            propose(other);
          }
          if (!ranges.empty()) sink({slot, slot + 1, ranges});
        }
      }
    }
  };

  bool incremental_;
  std::array<double, D> slop_{};
  std::size_t rebuilds_ = 0;
};

}  // namespace vicinal
