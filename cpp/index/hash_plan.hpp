// The layout of a hierarchy of hash grids: the sizes that share a grid, the size of its cells, and the number of bins.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "index/bulk.hpp"
#include "index/hash_level.hpp"
#include "index/size_levels.hpp"
#include "index/structure.hpp"

namespace vicinal {

// The edge of box `body` along an axis.
template <class T, int D>
double edge_of(const BodyView<T, D>& bodies, std::size_t body, int axis) {
  return static_cast<double>(bodies.upper(body, axis)) - static_cast<double>(bodies.at(body, axis));
}
// Radius or longest edge; points have none.
template <class T, int D>
double size_of(const BodyView<T, D>& bodies, std::size_t body) {
  if (bodies.shape == Shape::point) return 0;
  if (bodies.shape == Shape::sphere) return static_cast<double>(bodies.radius(body));
  double longest = 0;
  for (int a = 0; a < D; ++a) longest = std::max(longest, edge_of(bodies, body, a));
  return longest;
}
template <class T, int D>
double largest_size(const BodyView<T, D>& bodies) {
  double largest = 0;
  for (std::size_t k = 0; k < bodies.size; ++k) largest = std::max(largest, size_of(bodies, k));
  return largest;
}

template <class T, int D>
class HashPlan {
 public:
  // Approximate number of bodies in a cell wider than they are: benchmarks/calibrate.py.
  static constexpr double wide_bodies = 4;

  explicit HashPlan(const StructureSettings<T, D>& settings)
      : settings_(settings), fill_(settings.option("fill")), few_(static_cast<std::size_t>(settings.option("few"))) {
    for (std::size_t l = 0; l < static_cast<std::size_t>(settings.option("levels")); ++l)
      levels_.push_back(settings.option("level" + std::to_string(l)));
  }
  HashPlan(const HashPlan&) = delete;
  HashPlan& operator=(const HashPlan&) = delete;
  virtual ~HashPlan() = default;

  [[nodiscard]] const StructureSettings<T, D>& settings() const { return settings_; }
  // Bodies per bin.
  [[nodiscard]] double fill() const { return fill_; }
  // Up to this many bodies are kept in one bin.
  [[nodiscard]] std::size_t few() const { return few_; }
  // Whether the number of bins depends on the number of bodies.
  [[nodiscard]] virtual bool grows() const { return true; }

  // The lengths of the space that holds most bodies.
  [[nodiscard]] std::array<double, D> lengths(const BodyView<T, D>& bodies, const Reach<D>& reach) const {
    return find_bulk(bodies, settings_.box, reach.largest(), bodies.size / 16).length;
  }

  // A slightly larger size: edges of boxes differ by rounding from step to step, which must not cause a new layout.
  // Levels given by the user are not changed.
  [[nodiscard]] virtual double with_room(double size) const {
    return !levels_.empty() || size > 1e300 ? size : size * (1 + 0x1p-10);
  }

  // The largest size of each level, ascending.
  [[nodiscard]] virtual std::vector<double> limits(const BodyView<T, D>& bodies,
                                                   const std::array<double, D>& lengths) const {
    if (bodies.shape == Shape::point) return {0};
    const double largest = largest_size(bodies);
    if (bodies.size <= few_) return {largest};
    if (!levels_.empty()) {
      std::vector<double> given = levels_;
      if (given.back() < largest) given.push_back(largest);
      return given;
    }
    SizeHistogram classes;
    for (std::size_t k = 0; k < bodies.size; ++k) classes.add(size_of(bodies, k));
    const double reach = bodies.shape == Shape::sphere ? 2 : 1;
    double volume = 1;
    for (const double length : lengths) volume *= std::max(length, reach * largest);
    return choose_levels(classes.sorted(), reach, volume, D);
  }

  // Sets cells and bins of a level whose bodies were counted and measured. The width of cells wider than the bodies is
  // `spread` times the mean distance of bodies.
  virtual void lay(const BodyView<T, D>& bodies, const Reach<D>& reach, const std::array<double, D>& lengths,
                   double spread, HashLevel<D>& level) const {
    std::array<double, D> cell = reach_of_level(bodies, reach, level);
    // Looking up the cells around a cell costs as much as testing a few bodies, so in sparse space cells hold a few
    // bodies.
    double volume = 1;
    for (const double length : lengths) volume *= length > 0 ? length : 1;
    const auto n = static_cast<double>(std::max<std::size_t>(level.bodies, 1));
    double spacing = std::pow(volume / n, 1.0 / D);
    if (!(spacing > 0 && std::isfinite(spacing))) spacing = 1;
    level.wide = false;
    for (double& c : cell) {
      const double wide = spacing * spread;
      if (c > 0 && c >= wide) continue;
      c = std::max(c, wide);
      level.wide = true;
    }
    std::array<std::uint32_t, D> bins{};
    for (std::size_t a = 0; a < D; ++a) bins[a] = lay_axis(cell[a], lengths[a], a, level);
    if (bodies.size <= few_) bins.fill(1);
    else shrink(room(level), bins);
    set_bins(bins, level);
  }

 protected:
  // Sets the largest distances of the positions of bodies of a level from the extent of a neighbour; returns the edges
  // of cells that are exactly as long as the reach of the bodies.
  static std::array<double, D> reach_of_level(const BodyView<T, D>& bodies, const Reach<D>& reach,
                                              HashLevel<D>& level) {
    constexpr double more = 1 + 32 * static_cast<double>(std::numeric_limits<T>::epsilon());
    const double tiny = std::sqrt(3 * static_cast<double>(std::numeric_limits<T>::denorm_min()));
    std::array<double, D> cell{};
    for (std::size_t a = 0; a < D; ++a) {
      if (bodies.shape == Shape::point) {
        cell[a] = level.below[a] = level.above[a] = reach.axis[a];
      } else if (bodies.shape == Shape::sphere) {
        level.below[a] = level.above[a] = level.limit * more + tiny;
        cell[a] = 2 * level.below[a];
      } else {
        cell[a] = level.below[a] = level.edge_limit[a] * more;
      }
    }
    return cell;
  }

  // Sets an axis of a level with cells of about the given edge, and returns as many bins as the space has cells, a
  // power of two.
  std::uint32_t lay_axis(double cell, double length, std::size_t a, HashLevel<D>& level) const {
    constexpr std::uint32_t most = 1U << 20U;
    HashAxis& axis = level.axis[a];
    axis.inverse = std::min(1 / cell, 1e300);
    double cells = length * axis.inverse + 2;
    if (const auto edge = static_cast<double>(settings_.box.edge[a]); edge > 0) {
      axis.edge = edge;
      cells = std::clamp(std::floor(edge * axis.inverse), 1.0, 0x1p40);
      axis.inverse = cells / edge;
      axis.lowest = 0;
      axis.highest = cells - 1;
      axis.lift = 0;
    }
    return std::bit_ceil(static_cast<std::uint32_t>(std::max(std::min(cells, static_cast<double>(most)), 1.0)));
  }

  // The largest number of bins that the bodies of a level need.
  [[nodiscard]] double room(const HashLevel<D>& level) const {
    return std::max(static_cast<double>(level.bodies) / fill_, 64.0);
  }
  static double product(const std::array<std::uint32_t, D>& bins) {
    double p = 1;
    for (const std::uint32_t b : bins) p *= b;
    return p;
  }
  static void shrink(double room, std::array<std::uint32_t, D>& bins) {
    while (product(bins) > room) *std::max_element(bins.begin(), bins.end()) /= 2;
  }
  static void set_bins(const std::array<std::uint32_t, D>& bins, HashLevel<D>& level) {
    for (std::size_t a = 0; a < D; ++a) level.axis[a].mask = bins[a] - 1;
  }

  StructureSettings<T, D> settings_;
  double fill_;
  std::size_t few_;
  std::vector<double> levels_;  // sizes that the user gave
};

}  // namespace vicinal
