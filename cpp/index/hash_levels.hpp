// The levels of the hierarchical hash grid: which sizes share a grid, how large its cells are, and how many bins it
// has.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "index/hash_level.hpp"
#include "index/size_levels.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class HashLevels {
 protected:
  explicit HashLevels(const Settings<T, D>& settings)
      : settings_(settings), fixed_(static_cast<std::uint32_t>(settings.option("max_cells"))) {}

  [[nodiscard]] std::size_t few() const { return static_cast<std::size_t>(settings_.option("few")); }
  [[nodiscard]] double share() const { return settings_.option("fill"); }

  // Radius or longest edge; points have none.
  [[nodiscard]] static double size_of(const BodyView<T, D>& points, std::size_t point) {
    if (points.shape == Shape::point) return 0;
    if (points.shape == Shape::sphere) return static_cast<double>(points.radius(point));
    double longest = 0;
    for (int a = 0; a < D; ++a) longest = std::max(longest, edge_of(points, point, a));
    return longest;
  }
  [[nodiscard]] static double edge_of(const BodyView<T, D>& points, std::size_t point, int axis) {
    return static_cast<double>(points.upper(point, axis)) - static_cast<double>(points.at(point, axis));
  }
  // The lengths of the space the bodies are in.
  [[nodiscard]] std::array<double, D> space(const BodyView<T, D>& points) const {
    std::array<double, D> lengths{};
    for (std::size_t a = 0; a < D; ++a) {
      const auto edge = static_cast<double>(settings_.box.edge[a]);
      lengths[a] = edge > 0 ? edge : static_cast<double>(points.high[a]) - static_cast<double>(points.low[a]);
    }
    return lengths;
  }

  void lay_levels(const BodyView<T, D>& points) {
    built_bodies_ = points.size;
    levels_.clear();
    bin_count_ = 0;
    for (const double limit : limits(points)) {
      HashLevel<D> level;
      level.limit = with_room(limit);
      levels_.push_back(level);
    }
    measure_levels(points);
    for (HashLevel<D>& level : levels_) {
      lay_axes(points, level);
      level.first = static_cast<std::uint32_t>(bin_count_);
      bin_count_ += level.bins();
    }
  }

  // A size and a little more: edges of boxes differ by rounding from step to step, which must not be a reason to lay
  // out everything anew. Sizes that somebody asked for are taken as they are.
  [[nodiscard]] double with_room(double size) const {
    const bool asked = fixed_ > 0 || settings_.option("factor") > 0 || settings_.option("levels") > 0;
    return asked || size > 1e300 ? size : size * (1 + 0x1p-10);
  }

  // The largest size of each level, ascending.
  [[nodiscard]] std::vector<double> limits(const BodyView<T, D>& points) const {
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
  [[nodiscard]] static double largest_of(const BodyView<T, D>& points) {
    double largest = 0;
    for (std::size_t k = 0; k < points.size; ++k) largest = std::max(largest, size_of(points, k));
    return largest;
  }
  // Schornbaum 2009: cells c0 f^k, c0 that of the first body; sizes from cell / f up to the cell. Only grids with
  // bodies.
  [[nodiscard]] std::vector<double> paper_limits(const BodyView<T, D>& points) const {
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
  void measure_levels(const BodyView<T, D>& points) {
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
    for (HashLevel<D>& level : levels_)
      for (double& most : level.edge_limit) most = with_room(most);
  }

  void lay_axes(const BodyView<T, D>& points, HashLevel<D>& level) {
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

  [[nodiscard]] std::size_t level_at(std::uint32_t bin) const {
    std::size_t l = 0;
    while (l + 1 < levels_.size() && bin >= levels_[l + 1].first) ++l;
    return l;
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

  // Bodies in a cell wider than they are, about: benchmarks/calibrate.py.
  static constexpr double wide_bodies = 4;

  Settings<T, D> settings_;
  std::uint32_t fixed_;  // bins along each axis, as Koch 2020 has it
  Reach<D> reach_;
  std::vector<HashLevel<D>> levels_;
  std::uint64_t bin_count_ = 0;
  std::size_t built_bodies_ = 0;
  double spread_ = std::pow(wide_bodies, 1.0 / D);  // edge of wide cells, in mean distances of bodies
};

}  // namespace vicinal
