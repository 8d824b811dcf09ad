// The hierarchical hash grid (paper B): grids of growing cells for bodies of growing size, each folded onto bins.
//
// After a build the bodies of all bins follow each other in the order of the bins, so rows of bins are single ranges,
// as in linked cells. An update moves only the bodies that changed bin: a bin closes its gap, which leaves holes at its
// end, and a body enters at the end of its new bin if there is a hole, or the bin moves to the end of the slots with
// room to spare. When holes are too many everything is laid out anew.
//
// In half mode a bin looks only at bins after it. Levels are in ascending order of size, so small bodies look for large
// ones and never the other way round (paper B's order), and two bins of a level are compared once.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "geometry/grid.hpp"
#include "index/cell_order.hpp"
#include "index/hash_level.hpp"
#include "index/index.hpp"
#include "index/lay_grid.hpp"
#include "index/parts.hpp"
#include "index/size_levels.hpp"

namespace vicinal {

template <class T, int D>
class HashGrid {
 public:
  explicit HashGrid(const Settings<T, D>& settings)
      : settings_(settings), fixed_(static_cast<std::uint32_t>(settings.option("max_cells"))),
        incremental_(settings.option("incremental") > 0) {}

  void build(const Points<T, D>& points) {
    lay_out(points);
    // Cells wider than the bodies are meant to hold a few of them. Where bodies crowd they hold many: once more, finer.
    for (int again = 0; again < 2 && crowded(); ++again) lay_out(points);
  }

  void update(const Points<T, D>& points) {
    if (!incremental_ || points.size != bodies_.size || !fits(points)) {
      build(points);
      return;
    }
    bodies_.raw = points;
    bodies_.forget_exact();
    if (points.same_sizes) move_bodies();
    else if (!move_any()) {
      build(points);
      return;
    }
    tidy();
  }

  void insert(const Points<T, D>& points) {
    const std::size_t old = bodies_.size;
    // Many new bodies are laid out with the others in less time than they take to enter one by one.
    if (points.size > old + old / 2 || built_bodies_ <= few() || !fits(points) || too_full(points.size)) {
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

  void remove(std::span<const std::uint32_t> ids, const Points<T, D>& points) {
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

  void arrange(const Points<T, D>& points, Bodies<T, D>& queries) const {
    queries.reset(points, settings_.box, bodies_.frame);
    // Any grid does that keeps near queries together: about one in each cell.
    Reach<D> spacing;
    for (std::size_t a = 0; a < D; ++a) {
      const double edge = settings_.box.edge[a] > 0 ? static_cast<double>(settings_.box.edge[a])
                                                    : static_cast<double>(points.high[a] - points.low[a]);
      const double cell = edge / std::ceil(std::pow(static_cast<double>(points.size), 1.0 / D));
      spacing.axis[a] = cell > 1e-300 && std::isfinite(cell) ? cell : 1;  // its inverse must be finite too
    }
    Grid grid;
    if (points.size > 0) grid = lay_grid(points, settings_.box, spacing, 1, 0);
    grid.finish(spacing);
    order_by_cell(grid, queries);
  }

  [[nodiscard]] const Bodies<T, D>& bodies() const { return bodies_; }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const {
    return &queries == &bodies_ ? pieces() : part_count(queries);
  }

  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const {
    Search search{*this, queries, mode, sink};
    if (mode == Mode::cross) {
      const auto [first, last] = groups_of_part(queries, part);
      for (std::size_t g = first; g < last; ++g) search.group(queries.group_begin[g], queries.group_begin[g + 1]);
      return;
    }
    const std::size_t last = std::min(occupied_.size(), (part + 1) * piece_bins);
    for (std::size_t k = part * piece_bins; k < last; ++k) search.bin(occupied_[k]);
  }

  [[nodiscard]] Details details() const {
    const auto occupied = std::count_if(occupied_.begin(), occupied_.end(), [&](auto b) { return bins_[b].count > 0; });
    Details d{{"levels", static_cast<double>(levels_.size())}, {"cells", static_cast<double>(bin_count_)},
              {"occupied", static_cast<double>(occupied)},     {"rebuilds", static_cast<double>(rebuilds_)},
              {"moved", static_cast<double>(moved_)},          {"slots", static_cast<double>(bodies_.slots)}};
    for (std::size_t l = 0; l < levels_.size(); ++l)
      d["cell_" + std::to_string(l)] = levels_[l].axis[0].inverse > 0 ? 1 / levels_[l].axis[0].inverse : 0;
    return d;
  }
  [[nodiscard]] std::size_t bytes() const {
    return bins_.bytes() + slot_bins_.bytes() + occupied_.capacity() * sizeof(std::uint32_t) + listed_.size() / 8;
  }

  // The keys for order_by_key: the bin of each body.
  template <class F>
  void for_each(std::size_t begin, std::size_t end, F&& f) const {
    for (std::size_t p = begin; p < end; ++p) f(p, std::uint64_t{bin_of(p)});
  }

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  static constexpr std::size_t piece_bins = 1024;
  static constexpr std::size_t piece_slots = 1 << 14;

  // The bodies of slots begin … begin + count - 1.
  struct Bin {
    Slot begin;
    std::uint32_t count;
  };
  struct Mover {
    std::uint32_t id, bin;
  };
  struct Leaver {
    Slot slot;
    Mover mover;
  };
  // What bodies occupy: their positions and sizes, safely rounded.
  struct Extent {
    std::array<double, D> low, high;
  };

  [[nodiscard]] std::size_t few() const { return static_cast<std::size_t>(settings_.option("few")); }
  [[nodiscard]] double share() const { return settings_.option("fill"); }
  [[nodiscard]] bool too_full(std::size_t n) const {
    return fixed_ == 0 && static_cast<double>(n) > 2 * share() * static_cast<double>(bin_count_) &&
           n > 2 * built_bodies_;
  }
  [[nodiscard]] bool too_empty() const { return bodies_.size > few() && bodies_.size < built_bodies_ / 8; }

  void lay_out(const Points<T, D>& points) {
    ++rebuilds_;
    reach_ = points.reach(settings_.cutoff);
    lay_levels(points);
    // Bodies that drift a little should not leave the frame.
    Points<T, D> roomy = points;
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

  // ---- Levels -------------------------------------------------------------------------------------------------------

  // Radius or longest edge; points have none.
  [[nodiscard]] static double size_of(const Points<T, D>& points, std::size_t point) {
    if (points.shape == Shape::point) return 0;
    if (points.shape == Shape::sphere) return static_cast<double>(points.radius(point));
    double longest = 0;
    for (int a = 0; a < D; ++a) longest = std::max(longest, edge_of(points, point, a));
    return longest;
  }
  [[nodiscard]] static double edge_of(const Points<T, D>& points, std::size_t point, int axis) {
    return static_cast<double>(points.upper(point, axis)) - static_cast<double>(points.at(point, axis));
  }
  // The lengths of the space the bodies are in.
  [[nodiscard]] std::array<double, D> space(const Points<T, D>& points) const {
    std::array<double, D> lengths{};
    for (std::size_t a = 0; a < D; ++a) {
      const auto edge = static_cast<double>(settings_.box.edge[a]);
      lengths[a] = edge > 0 ? edge : static_cast<double>(points.high[a]) - static_cast<double>(points.low[a]);
    }
    return lengths;
  }

  void lay_levels(const Points<T, D>& points) {
    built_bodies_ = points.size;
    moved_ = 0;
    levels_.clear();
    bin_count_ = 0;
    for (const double limit : limits(points)) {
      HashLevel<D> level;
      level.limit = limit;
      levels_.push_back(level);
    }
    measure_levels(points);
    for (HashLevel<D>& level : levels_) {
      lay_axes(points, level);
      level.first = static_cast<std::uint32_t>(bin_count_);
      bin_count_ += level.bins();
    }
  }

  // The largest size of each level, ascending.
  [[nodiscard]] std::vector<double> limits(const Points<T, D>& points) const {
    const double largest = points.shape == Shape::point ? 0 : largest_of(points);
    if (points.shape == Shape::point || points.size <= few()) return {largest};
    if (const auto count = static_cast<std::size_t>(settings_.option("levels")); count > 0) {
      std::vector<double> given;
      for (std::size_t l = 0; l < count; ++l) given.push_back(settings_.option("level" + std::to_string(l)));
      if (given.back() < largest) given.push_back(largest);
      return given;
    }
    if (settings_.option("factor") > 0) return paper_limits(points);
    SizeHistogram classes;
    for (std::size_t k = 0; k < points.size; ++k) classes.add(size_of(points, k));
    const double reach = points.shape == Shape::sphere ? 2 : 1;
    double volume = 1;
    for (const double length : space(points)) volume *= std::max(length, reach * largest);
    return choose_levels(classes.sorted(), reach, volume, D);
  }
  [[nodiscard]] static double largest_of(const Points<T, D>& points) {
    double largest = 0;
    for (std::size_t k = 0; k < points.size; ++k) largest = std::max(largest, size_of(points, k));
    return largest;
  }
  // Paper B: cells c0 f^k, c0 that of the first body; sizes from cell / f up to the cell. Only grids with bodies.
  [[nodiscard]] std::vector<double> paper_limits(const Points<T, D>& points) const {
    const double factor = settings_.option("factor");
    const double first = size_of(points, 0);
    if (!(first > 0)) return {largest_of(points)};
    std::map<int, bool> grids;
    for (std::size_t k = 0; k < points.size; ++k) {
      const double ratio = size_of(points, k) / first / std::sqrt(factor);
      grids[ratio > 0 ? static_cast<int>(std::floor(std::log(ratio) / std::log(factor))) + 1 : -1000] = true;
    }
    std::vector<double> found;
    for (const auto& [k, used] : grids)
      found.push_back(std::min(first * std::sqrt(factor) * std::pow(factor, std::max(k, -1000)),
                               std::numeric_limits<double>::max()));
    found.back() = std::max(found.back(), largest_of(points));
    return found;
  }

  [[nodiscard]] std::size_t level_of(double size) const {
    std::size_t l = 0;
    while (l < levels_.size() && size > levels_[l].limit) ++l;
    return l;
  }

  // What is really in each level.
  void measure_levels(const Points<T, D>& points) {
    if (points.shape == Shape::point) {
      levels_[0].bodies = points.size;
      return;
    }
    for (std::size_t k = 0; k < points.size; ++k) {
      HashLevel<D>& level = levels_[level_of(size_of(points, k))];
      ++level.bodies;
      if (points.shape != Shape::box) continue;
      for (int a = 0; a < D; ++a) {
        double& most = level.edge_limit[static_cast<std::size_t>(a)];
        most = std::max(most, edge_of(points, k, a));
      }
    }
  }

  void lay_axes(const Points<T, D>& points, HashLevel<D>& level) {
    constexpr double more = 1 + 32 * static_cast<double>(std::numeric_limits<T>::epsilon());
    const double tiny = std::sqrt(3 * static_cast<double>(std::numeric_limits<T>::denorm_min()));
    const std::array<double, D> lengths = space(points);
    std::array<double, D> cell{};
    for (std::size_t a = 0; a < D; ++a) {
      if (points.shape == Shape::point) {
        cell[a] = level.below[a] = level.above[a] = reach_.axis[a];
      } else if (points.shape == Shape::sphere) {
        level.below[a] = level.above[a] = level.limit * more + tiny;
        cell[a] = 2 * level.below[a];
      } else {
        level.below[a] = level.edge_limit[a] * more;
        cell[a] = settings_.option("factor") > 0 ? level.limit * more : level.below[a];
      }
    }
    // Looking around a cell costs as much as testing a few bodies: where space is sparse, cells hold some.
    double volume = 1;
    for (const double length : lengths) volume *= length > 0 ? length : 1;
    const auto n = static_cast<double>(std::max<std::size_t>(level.bodies, 1));
    double spacing = std::pow(volume / n, 1.0 / D);
    if (!(spacing > 0 && std::isfinite(spacing))) spacing = 1;
    level.wide = false;
    for (double& c : cell) {
      const double wide = spacing * spread_;
      if (c > 0 && (fixed_ > 0 || settings_.option("factor") > 0 || c >= wide)) continue;
      c = std::max(c, wide);
      level.wide = true;
    }
    choose_bins(cell, lengths, level);
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

  // Powers of two: as many bins as the space has cells, but not more than bodies need.
  void choose_bins(const std::array<double, D>& cell, const std::array<double, D>& lengths, HashLevel<D>& level) {
    constexpr std::uint32_t most = 1U << 20U;
    const bool all_in_one = built_bodies_ <= few();
    std::array<std::uint32_t, D> bins{};
    for (std::size_t a = 0; a < D; ++a) {
      HashAxis& axis = level.axis[a];
      axis.inverse = std::min(1 / cell[a], 1e300);
      if (fixed_ > 0) {
        // There a body looks one cell around, so cell numbers must be exact: fewer of them, and cells a trifle larger.
        constexpr double far = 0x1p30;
        axis.lowest = -far;
        axis.highest = axis.lift = far;
        axis.inverse *= 1 - 1e-6;
      }
      double cells = lengths[a] * axis.inverse + 2;
      if (const auto edge = static_cast<double>(settings_.box.edge[a]); edge > 0) {
        axis.edge = edge;
        cells = std::clamp(std::floor(edge * axis.inverse), 1.0, 0x1p40);
        axis.inverse = cells / edge;
        axis.lowest = 0;
        axis.highest = cells - 1;
        axis.lift = 0;
      }
      const double wish = std::min(cells, static_cast<double>(most));
      bins[a] = all_in_one ? 1 : std::bit_ceil(static_cast<std::uint32_t>(std::max(wish, 1.0)));
      if (fixed_ > 0) bins[a] = fixed_;
      if (const auto given = static_cast<std::uint32_t>(settings_.option("dims" + std::to_string(a))); given > 0)
        bins[a] = std::max(std::min(bins[a], given), std::uint32_t{4});
    }
    if (fixed_ == 0 && !all_in_one) {
      const double room = std::max(static_cast<double>(level.bodies) / share(), 64.0);
      const auto product = [&] {
        double p = 1;
        for (const std::uint32_t b : bins) p *= b;
        return p;
      };
      while (product() > room) *std::max_element(bins.begin(), bins.end()) /= 2;
      // Initial dimensions were a wish: they grow with the number of bodies.
      while (settings_.option("dims0") > 0 && 2 * product() <= room) *std::min_element(bins.begin(), bins.end()) *= 2;
    }
    for (std::size_t a = 0; a < D; ++a) level.axis[a].mask = bins[a] - 1;
  }

  // Whether bodies can be kept in the levels and the frame there are.
  [[nodiscard]] bool fits(const Points<T, D>& points) const {
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

  [[nodiscard]] std::uint32_t bin_of(std::size_t point) const {
    const Points<T, D>& points = bodies_.raw;
    std::size_t l = 0;
    if (points.shape != Shape::point) {
      l = level_of(size_of(points, point));
      if (l == levels_.size()) return nowhere;
      if (points.shape == Shape::box)
        for (int a = 0; a < D; ++a)
          if (edge_of(points, point, a) > levels_[l].edge_limit[static_cast<std::size_t>(a)]) return nowhere;
    }
    return levels_[l].bin([&](int a) { return static_cast<double>(bodies_.value(point, a)); });
  }

  // ---- Bins ---------------------------------------------------------------------------------------------------------

  void list_bins() {
    bins_.reset(bin_count_);
    listed_.assign(bin_count_, false);
    occupied_.clear();
    occupied_.reserve(bodies_.groups);
    std::size_t index = 0;
    for (std::size_t g = 0; g < bodies_.groups; ++g) {
      const auto key = static_cast<std::size_t>(bodies_.group_key[g]);
      const Slot begin = bodies_.group_begin[g];
      for (; index < key; ++index) bins_[index] = {begin, 0};
      bins_[index++] = {begin, bodies_.group_begin[g + 1] - begin};
      occupied_.push_back(static_cast<std::uint32_t>(key));
      listed_[key] = true;
    }
    for (; index < bin_count_; ++index) bins_[index] = {static_cast<Slot>(bodies_.size), 0};
    bodies_.group_key.release();
    bodies_.group_begin.release();
    bodies_.groups = 0;
    slot_bins_.release();
    compact_ = true;
  }

  [[nodiscard]] std::size_t pieces() const { return (occupied_.size() + piece_bins - 1) / piece_bins; }
  template <class F>
  void for_each_bin(std::size_t piece, F&& f) {
    const std::size_t last = std::min(occupied_.size(), (piece + 1) * piece_bins);
    for (std::size_t k = piece * piece_bins; k < last; ++k) f(occupied_[k], bins_[occupied_[k]]);
  }

  // What moving a body along one axis needs of level, box and frame, side by side: members behind pointers would be
  // read again after every store.
  struct Track {
    HashAxis line;
    T edge;
    double centre, low, high;
    float* near;
    T* exact;
  };
  std::array<Track, D> tracks_of(const HashLevel<D>& level) {
    std::array<Track, D> tracks;
    for (std::size_t a = 0; a < D; ++a)
      tracks[a] = {level.axis[a],         settings_.box.edge[a],  bodies_.frame.centre[a], bodies_.frame.low[a],
                   bodies_.frame.high[a], bodies_.near[a].data(), bodies_.exact[a].data()};
    return tracks;
  }

  // Puts bodies whose sizes are the same as before at their new places. Slot by slot, not bin by bin: a loop over the
  // few bodies of a bin costs more than the bodies do.
  void move_bodies() {
    note_bins();
    const std::size_t pieces = (bodies_.slots + piece_slots - 1) / piece_slots;
    std::vector<std::vector<Leaver>> leavers(pieces);
    parallel_for(pieces, [&](std::size_t piece, int) {
      const std::size_t first = piece * piece_slots;
      const std::size_t last = std::min(bodies_.slots, first + piece_slots);
      if (bodies_.banded) move_bodies<true>(first, last, leavers[piece]);
      else move_bodies<false>(first, last, leavers[piece]);
    });
    // The last body of a bin takes the place of one that leaves; from the back, so that it does not leave itself.
    for (auto piece = leavers.rbegin(); piece != leavers.rend(); ++piece)
      for (auto leaver = piece->rbegin(); leaver != piece->rend(); ++leaver) {
        Bin& bin = bins_[slot_bins_[leaver->slot]];
        const Slot end = bin.begin + --bin.count;
        if (end != leaver->slot) bodies_.move(end, leaver->slot);
        else bodies_.ids[end] = -1;
      }
    std::vector<Mover> movers;
    for (const auto& piece : leavers)
      for (const Leaver& leaver : piece) movers.push_back(leaver.mover);
    enter(movers);
  }
  template <bool Banded>
  void move_bodies(std::size_t begin, std::size_t end, std::vector<Leaver>& leavers) {
    const T* const positions = bodies_.raw.data;
    const std::int32_t* const ids = bodies_.ids.data();
    const std::uint32_t* const slot_bins = slot_bins_.data();
    const double scale = bodies_.frame.scale;
    std::uint32_t first = levels_[0].first;
    std::uint32_t bins = levels_[0].bins();
    std::array<Track, D> tracks = tracks_of(levels_[0]);
    for (std::size_t k = begin; k < end; ++k) {
      if (k + ahead < end) {
        // The bodies of a bin are anywhere in the user's array, and a row of it may be in two lines of the cache.
        const T* const later = positions + static_cast<std::size_t>(std::max(ids[k + ahead], 0)) * D;
        __builtin_prefetch(later);
        __builtin_prefetch(later + D - 1);
      }
      const std::int32_t id = ids[k];
      if (id < 0) continue;
      const std::uint32_t here = slot_bins[k];
      if (here - first >= bins) {
        const HashLevel<D>& level = levels_[level_at(here)];
        first = level.first;
        bins = level.bins();
        tracks = tracks_of(level);
      }
      const T* const position = positions + static_cast<std::size_t>(id) * D;
      std::array<T, D> x;
      std::uint32_t there = 0;
      for (std::size_t a = D; a-- > 0;) {
        const Track& track = tracks[a];
        x[a] = position[a];
        if (track.edge > 0 && !(x[a] >= 0 && x[a] < track.edge)) x[a] = settings_.box.wrap(x[a], static_cast<int>(a));
        there = there * (track.line.mask + 1) + track.line.bin(track.line.cell(static_cast<double>(x[a])));
      }
      there += first;
      if (there != here) {
        leavers.push_back({static_cast<Slot>(k), {static_cast<std::uint32_t>(id), there}});
        continue;
      }
      for (std::size_t a = 0; a < D; ++a) {
        const Track& track = tracks[a];
        if constexpr (Banded) {
          const double near = (static_cast<double>(x[a]) - track.centre) * scale;
          track.near[k] = static_cast<float>(std::min(std::max(near, track.low), track.high));
        } else {
          track.exact[k] = x[a];
        }
      }
    }
  }
  // The bin of every slot, which `enter` keeps up to date from then on.
  void note_bins() {
    if (slot_bins_.size() > 0) return;
    slot_bins_.reset(bodies_.slots);
    for (const std::uint32_t index : occupied_)
      std::fill_n(slot_bins_.data() + bins_[index].begin, bins_[index].count, index);
  }

  // The same for bodies that may have changed size. Returns whether there is a level for everybody.
  bool move_any() {
    std::vector<std::vector<Mover>> movers(pieces());
    std::atomic<bool> fit{true};
    parallel_for(pieces(), [&](std::size_t piece, int) {
      for_each_bin(piece, [&](std::uint32_t index, Bin& bin) {
        rewrite(bin, [&](std::int32_t id) {
          const std::uint32_t to = bin_of(static_cast<std::size_t>(id));
          if (to == index) return id;
          if (to == nowhere) fit = false;
          else movers[piece].push_back({static_cast<std::uint32_t>(id), to});
          return -1;
        });
      });
    });
    if (!fit) return false;
    for (const auto& piece : movers) enter(piece);
    return true;
  }
  // Puts the bodies of a bin at their new places, whatever changed. stays(id) returns the id, or -1 for a body that
  // leaves.
  template <class Stays>
  void rewrite(Bin& bin, Stays&& stays) {
    const Slot end = bin.begin + bin.count;
    Slot to = bin.begin;
    for (Slot k = bin.begin; k < end; ++k) {
      // The bodies of a bin are anywhere in the user's array.
      if (k + ahead < bodies_.slots && bodies_.ids[k + ahead] >= 0)
        __builtin_prefetch(bodies_.raw.data + static_cast<std::size_t>(bodies_.ids[k + ahead]) * D);
      const std::int32_t id = stays(bodies_.ids[k]);
      if (id >= 0) bodies_.place(static_cast<std::size_t>(id), to++);
    }
    close(bin, to, end);
  }
  // The same for bodies that stay where they are but get another number.
  template <class Number>
  void renumber(Bin& bin, Number&& number) {
    const Slot end = bin.begin + bin.count;
    Slot to = bin.begin;
    for (Slot k = bin.begin; k < end; ++k) {
      const std::int32_t id = number(bodies_.ids[k]);
      if (id < 0) continue;
      if (to != k) bodies_.move(k, to);
      bodies_.ids[to++] = id;
    }
    close(bin, to, end);
  }
  void close(Bin& bin, Slot to, Slot end) {
    bin.count = to - bin.begin;
    for (; to < end; ++to) bodies_.ids[to] = -1;
  }

  void enter(std::span<const Mover> movers) {
    moved_ += movers.size();
    if (!movers.empty()) compact_ = false;
    for (const Mover& mover : movers) {
      const Slot slot = room_in(mover.bin);
      bodies_.place(mover.id, slot);
      if (slot_bins_.size() > 0) slot_bins_[slot] = mover.bin;
      ++levels_[level_at(mover.bin)].bodies;  // those who left are not counted off: only 0 matters
    }
  }
  [[nodiscard]] std::size_t level_at(std::uint32_t bin) const {
    std::size_t l = 0;
    while (l + 1 < levels_.size() && bin >= levels_[l + 1].first) ++l;
    return l;
  }
  // A free slot at the end of a bin.
  Slot room_in(std::uint32_t index) {
    Bin& bin = bins_[index];
    if (!listed_[index]) {
      listed_[index] = true;
      occupied_.push_back(index);
    }
    const Slot next = bin.begin + bin.count;
    if (next >= bodies_.slots || bodies_.ids[next] >= 0) {
      const auto begin = static_cast<Slot>(bodies_.slots);
      bodies_.resize(bodies_.slots + std::max<std::size_t>(2 * bin.count, 4));
      if (slot_bins_.size() > 0) slot_bins_.resize(bodies_.slots);
      for (Slot k = 0; k < bin.count; ++k) {
        bodies_.move(bin.begin + k, begin + k);
        if (slot_bins_.size() > 0) slot_bins_[begin + k] = index;
      }
      bin.begin = begin;
    }
    return bin.begin + bin.count++;
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
      for (std::uint32_t k = first; k <= last; ++k) {
        const Bin& bin = grid.bins_[k];
        append({bin.begin, bin.begin + bin.count, shift}, k == own && !image);
      }
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

    // As paper A has it, to reproduce its numbers of candidates: a bin with the 3^d around it, and every body with the
    // 3^d around its cell in each grid of larger cells (in full mode, of all other grids by extent).
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

  static constexpr Slot ahead = 32;
  // Bodies in a cell wider than they are, about: benchmarks/calibrate.py.
  static constexpr double wide_bodies = 4;

  Settings<T, D> settings_;
  std::uint32_t fixed_;
  bool incremental_;
  Reach<D> reach_;
  std::vector<HashLevel<D>> levels_;
  std::uint64_t bin_count_ = 0;
  std::size_t built_bodies_ = 0;
  std::array<double, D> slop_{};
  Bodies<T, D> bodies_;
  Buffer<Bin> bins_;
  Buffer<std::uint32_t> slot_bins_;                 // of every slot that is not a hole, once bodies have moved
  std::vector<std::uint32_t> occupied_;             // bins that hold bodies, and some that held some
  std::vector<bool> listed_;                        // bins in `occupied_`
  double spread_ = std::pow(wide_bodies, 1.0 / D);  // edge of wide cells, in mean distances of bodies
  bool compact_ = false;                            // bodies are in the order of bins, without holes
  std::size_t rebuilds_ = 0, moved_ = 0;
};

}  // namespace vicinal
