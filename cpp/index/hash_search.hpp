// The blocks of a hierarchical hash grid.
//
// In half mode a bin looks only at bins after it. Levels are in ascending order of size, so small bodies search for
// large ones and never the reverse (Schornbaum 2009), and two bins of a level are compared once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "index/hash_bins.hpp"
#include "index/hash_level.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class HashSearch {
 public:
  // The extents of bodies: their positions and sizes, safely rounded.
  struct Extent {
    std::array<double, D> low, high;
  };
  using Bin = typename HashBins<T, D>::Bin;

  HashSearch(const HashBins<T, D>& bins, const Bodies<T, D>& queries, Mode mode, BlockSink sink)
      : bins_(bins), queries_(queries), shape_(bins.bodies().raw.shape), mode_(mode), sink_(sink) {
    set_slop();
  }

  // Queries of another set.
  void group(Slot first, Slot last) {
    const Extent extent = extent_of(first, last);
    if (last - first > 1 && spread(extent, extent_of(first, first + 1)))
      for (Slot k = first; k < last; ++k) look_around(k, k + 1, extent_of(k, k + 1));
    else look_around(first, last, extent);
  }

  // The bodies of a bin.
  void bin(std::uint32_t index) {
    const Bin& bin = bins_[index];
    if (bin.count == 0) return;
    own_ = index;
    const std::size_t l = bins_.levels().level_at(index);
    const Extent extent = extent_of(bin.begin, bin.begin + bin.count);
    if (bin.count > 1 && folded(extent, bins_.levels()[l])) {
      // The bin holds bodies of distant cells, so each body gets its own block.
      for (Slot k = bin.begin; k < bin.begin + bin.count; ++k) block(k, k + 1, l, extent_of(k, k + 1));
    } else {
      block(bin.begin, bin.begin + bin.count, l, extent);
    }
  }

  // ---- The steps of a block, for structures that look up other bins --------------------------------------------

  void set_own(std::uint32_t bin) { own_ = bin; }
  // A block of queries of the own bin, from `first` on.
  void start(Slot first) {
    ranges_.clear();
    own_range_ = 0;
    const Bin& bin = bins_[own_];
    if (mode_ == Mode::half) ranges_.push_back({first, bin.begin + bin.count, {}, Own::after});
  }
  void finish(Slot first, Slot last) {
    if (mode_ == Mode::full) std::swap(ranges_[0], ranges_[own_range_]);
    sink_({first, last, ranges_});
  }

  // A block without the own bin.
  void restart() { ranges_.clear(); }
  void finish_other(Slot query) {
    if (!ranges_.empty()) sink_({query, query + 1, ranges_});
  }
  std::array<std::vector<BinRun>, 3>& runs() { return runs_; }

  // Adds all bins of a level that bodies within the extent can reach.
  void look(const Extent& extent, const HashLevel<D>& level) {
    if (level.bodies == 0) return;
    for (std::size_t a = 0; a < D; ++a) {
      runs_[a].clear();
      level.axis[a].runs(extent.low[a] - level.below[a], extent.high[a] + level.above[a], runs_[a]);
    }
    if (D == 2) runs_[2].assign(1, {0, 0, 0});
    propose(level);
  }

  // All bins of a level in `runs`.
  void propose(const HashLevel<D>& level) {
    const std::uint32_t width = level.axis[0].mask + 1;
    const std::uint32_t depth = level.axis[1].mask + 1;
    for (const BinRun& z : runs_[2])
      for (std::uint32_t bz = z.first; bz <= z.last; ++bz)
        for (const BinRun& y : runs_[1])
          for (std::uint32_t by = y.first; by <= y.last; ++by) {
            const std::uint32_t row = level.first + (bz * depth + by) * width;
            if (mode_ == Mode::half && row + width <= own_) continue;
            for (const BinRun& x : runs_[0]) add(row + x.first, row + x.last, {x.shift, y.shift, z.shift});
          }
  }

  [[nodiscard]] Extent extent_of(Slot first, Slot last) const {
    const bool near = queries_.banded && !(queries_.frame.cut && any_outside(first, last));
    Extent e =
        near ? extent_of([&](std::size_t c, Slot k) { return queries_.near[c][k]; }, first, last)
        : queries_.banded
            ? extent_of([&](std::size_t c, Slot k) { return queries_.position(k, static_cast<int>(c)); }, first, last)
            : extent_of([&](std::size_t c, Slot k) { return queries_.exact[c][k]; }, first, last);
    for (std::size_t a = 0; a < D; ++a) {
      if (near) {
        e.low[a] = e.low[a] / queries_.frame.scale + queries_.frame.centre[a];
        e.high[a] = e.high[a] / queries_.frame.scale + queries_.frame.centre[a];
      }
      e.low[a] -= slop_[a] + std::abs(e.low[a]) * 0x1p-50;
      e.high[a] += slop_[a] + std::abs(e.high[a]) * 0x1p-50;
    }
    return e;
  }

 private:
  void set_slop() {
    constexpr double eps = std::numeric_limits<T>::epsilon();
    const Reach<D>& reach = bins_.levels().reach();
    const Bodies<T, D>& bodies = bins_.bodies();
    for (std::size_t a = 0; a < D; ++a) {
      // See periodic_reach: differences across a border round relative to the edge.
      const T edge = bodies.box.edge[a];
      slop_[a] =
          edge > 0 ? periodic_reach(reach.axis[a], edge) - reach.axis[a] + 4 * eps * static_cast<double>(edge) : 0;
      if (bodies.banded) slop_[a] += 8 * 0x1p-24 * bodies.frame.largest / bodies.frame.scale;
    }
  }
  [[nodiscard]] bool any_outside(Slot first, Slot last) const {
    for (Slot k = first; k < last; ++k)
      if (queries_.is_outside(k)) return true;
    return false;
  }

  // `value(column, slot)`: one of the numbers of a body.
  template <class Value>
  [[nodiscard]] Extent extent_of(Value&& value, Slot first, Slot last) const {
    Extent e;
    constexpr double more = 1 + 32 * static_cast<double>(std::numeric_limits<T>::epsilon());
    for (std::size_t a = 0; a < D; ++a) {
      double low = std::numeric_limits<double>::infinity();
      double high = -low;
      for (Slot k = first; k < last; ++k) {
        const auto x = static_cast<double>(value(a, k));
        double down = x;
        double up = x;
        if (shape_ == Shape::sphere) {
          const double r = static_cast<double>(value(std::size_t{D}, k)) * more;
          down = x - r;
          up = x + r;
        } else if (shape_ == Shape::box) {
          up = static_cast<double>(value(D + a, k));
        }
        low = std::min(low, down);
        high = std::max(high, up);
      }
      e.low[a] = low;
      e.high[a] = high;
    }
    return e;
  }

  void look_around(Slot first, Slot last, const Extent& extent) {
    ranges_.clear();
    for (const HashLevel<D>& level : bins_.levels()) look(extent, level);
    if (!ranges_.empty()) sink_({first, last, ranges_});
  }
  // Whether queries are so far apart that all bins between them would hold more bodies than those around each; `one` of
  // them has a size, too.
  [[nodiscard]] bool spread(const Extent& all, const Extent& one) const {
    for (const HashLevel<D>& level : bins_.levels()) {
      if (level.bodies == 0) continue;
      for (std::size_t a = 0; a < D; ++a)
        if (((all.high[a] - all.low[a]) - (one.high[a] - one.low[a])) * level.axis[a].inverse > 2) return true;
      return false;
    }
    return false;
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
    for (std::size_t k = mode_ == Mode::half ? l : 0; k < bins_.levels().size(); ++k) look(extent, bins_.levels()[k]);
    finish(first, last);
  }
  // Bins first … last through one image; in half mode only those after the own one.
  void add(std::uint32_t first, std::uint32_t last, const Shift& shift) {
    const bool image = shift != Shift{};
    if (mode_ == Mode::half && first <= own_) {
      // Only one of two opposite images of the own bin: both contain the same pairs.
      const std::int16_t sign = shift.x != 0 ? shift.x : shift.y != 0 ? shift.y : shift.z;
      if (last < own_) return;
      first = image && sign > 0 ? own_ : own_ + 1;
      if (first > last) return;
    }
    if (bins_.compact()) {
      const Bin& end = bins_[last];
      append({bins_[first].begin, end.begin + end.count, shift}, first <= own_ && own_ <= last && !image);
      return;
    }
    // Most bins are still contiguous.
    Range run{bins_[first].begin, bins_[first].begin, shift};
    std::uint32_t from = first;
    for (std::uint32_t k = first; k <= last; ++k) {
      const Bin& bin = bins_[k];
      if (bin.begin != run.end) {
        if (bin.count == 0) continue;
        append(run, from <= own_ && own_ < k && !image);
        run.begin = bin.begin;
        from = k;
      }
      run.end = bin.begin + bin.count;
    }
    append(run, from <= own_ && own_ <= last && !image);
  }
  void append(const Range& range, bool holds_own) {
    if (range.begin == range.end) return;
    if (!ranges_.empty() && ranges_.back().end == range.begin && ranges_.back().shift == range.shift)
      ranges_.back().end = range.end;
    else ranges_.push_back(range);
    if (!holds_own || mode_ != Mode::full) return;
    own_range_ = ranges_.size() - 1;
    ranges_.back().own = Own::except;
  }

  const HashBins<T, D>& bins_;
  const Bodies<T, D>& queries_;
  Shape shape_;
  Mode mode_;
  BlockSink sink_;
  std::array<double, D> slop_{};
  std::vector<Range> ranges_;
  std::array<std::vector<BinRun>, 3> runs_;  // of bins to look up, along each axis
  std::uint32_t own_ = HashBins<T, D>::nowhere;
  std::size_t own_range_ = 0;
};

}  // namespace vicinal
