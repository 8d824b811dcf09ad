// What each structure would do with bodies that were surveyed: how often it sorts a body, starts a block, copies a
// candidate into a tile, tests one … Multiplied by the seconds each of these takes (src/vicinal/costs.json, written by
// benchmarks/calibrate.py) that is the cost of a search.
//
// Only which of the sums is the least matters, so the counts are kept simple: means over bodies, cubes for everything.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "index/bodies.hpp"
#include "index/cell_order.hpp"
#include "index/statistics.hpp"

namespace vicinal {

// A way to use a structure: its own parameter (0: the default) and the counts, in the order named in costs.py.
struct Way {
  std::string structure;
  double parameter;
  std::vector<double> counts;
};

template <int D>
class Ways {
 public:
  using Edges = std::array<double, D>;

  template <class T>
  Ways(const BodyView<T, D>& points, const Box<T, D>& box, T cutoff, double most_grid)
      : survey_(Survey<T, D>(points, box).run()), n_(static_cast<double>(points.size)), shape_(points.shape),
        reach_(points.reach(cutoff).axis), most_grid_(most_grid), periodic_(box.periodic()) {
    const Crowding& crowding = survey_.crowding;
    scale_ = std::log2(crowding.edge);
    for (std::size_t k = 0; k < scales; ++k) {
      others_[k] = std::log2(std::max(crowding.others[k], 1e-12));
      cells_[k] = std::log2(std::max(crowding.cells[k], 1.0));
    }
    for (std::size_t a = 0; a < D; ++a) {
      period_[a] = static_cast<double>(box.edge[a]);
      length_[a] =
          period_[a] > 0 ? period_[a] : static_cast<double>(points.high[a]) - static_cast<double>(points.low[a]);
      length_[a] = std::min(length_[a], 1e290);
    }
    const double ball = shape_ == Shape::box ? 1 : D == 3 ? 4.18879 : 3.14159;
    const double volume = shape_ == Shape::point ? power(reach_[0]) : survey_.pair_volume;
    pair_size_ = std::pow(survey_.pair_volume, 1.0 / D) / 2;
    pairs_ = shape_ == Shape::sphere ? sphere_pairs(ball)
                                     : n_ / 2 * others(std::pow(std::max(ball * volume, 1e-300), 1.0 / D));
    // Doubles that cannot be tested as floats first take twice the bytes and half the lanes.
    const double longest = *std::max_element(length_.begin(), length_.end());
    const bool near = shape_ != Shape::box && longest < 2 * NearFrame<D>::most * reach_[0];
    width_ = sizeof(T) == 8 && !near ? 2 : 1;
    sort_ = n_ * std::max(0.0, std::log2(n_ / cached_bodies));
  }

  [[nodiscard]] std::vector<Way> all() const {
    std::vector<Way> found;
    exhaustive(found);
    linked_cells(found);
    cell_sorting(found);
    spatial_hash(found);
    hash_grid(found);
    bvh(found);
    octree(found);
    sweep_and_prune(found);
    return found;
  }

  // For the reason of a choice, and for bodies that move.
  [[nodiscard]] double grid_cells() const {
    double cells = 1;
    for (std::size_t a = 0; a < D; ++a) cells *= length_[a] / reach_[a] + 1;
    return cells;
  }
  [[nodiscard]] double pair_size() const { return pair_size_; }
  [[nodiscard]] double largest() const { return survey_.levels.empty() ? 0 : survey_.levels.back().largest; }
  [[nodiscard]] std::size_t levels() const { return survey_.levels.size(); }
  [[nodiscard]] double typical_cell() const { return std::max(mean(reach_), edge(3)); }

 private:
  static constexpr std::size_t scales = Crowding::scales;
  // Sorting more bodies than this takes longer with every doubling: they leave the caches. So does looking up cells.
  static constexpr double cached_bodies = 1 << 14;
  static constexpr double cached_cells = 1 << 17;
  // A grid of more cells than this per body is not worth its memory.
  static constexpr double full_grid = 100;
  // Bodies in a leaf of BVH and in a twig, and in a leaf of Octree, on average.
  static constexpr double leaf = 27, twig = 3.5, octant = 11;
  static constexpr double around_cell = D == 3 ? 27 : 9;

  static double power(double x) { return D == 3 ? x * x * x : x * x; }
  static double mean(const Edges& edges) {
    double product = 1;
    for (const double edge : edges) product *= edge;
    return D == 3 ? std::cbrt(product) : std::sqrt(product);
  }

  // Other bodies in a cube around a body, on average.
  [[nodiscard]] double others(double edge) const {
    const double k = scale_ - std::log2(edge);
    return k <= 0 ? n_ - 1 : std::exp2(interpolate(others_, k, -D));
  }
  // Occupied cells of a grid.
  [[nodiscard]] double cells(double edge) const {
    const double k = scale_ - std::log2(edge);
    return k <= 0 ? 1 : std::min(n_, std::exp2(interpolate(cells_, k, D)));
  }
  static double interpolate(const std::array<double, scales>& values, double k, double slope) {
    if (!(k < scales - 1)) return values[scales - 1] + slope * (k - (scales - 1));
    const auto i = static_cast<std::size_t>(k);
    return values[i] + (values[i + 1] - values[i]) * (k - static_cast<double>(i));
  }
  // Edge of the cubes in which a body has so many others.
  [[nodiscard]] double edge(double others) const {
    const double wanted = std::log2(std::max(others, 1e-12));
    if (wanted >= others_[0]) return std::exp2(scale_);
    for (std::size_t k = 0; k + 1 < scales; ++k)
      if (others_[k + 1] <= wanted)
        return std::exp2(scale_ - static_cast<double>(k) - (others_[k] - wanted) / (others_[k] - others_[k + 1]));
    return std::exp2(scale_ - (scales - 1) - (others_[scales - 1] - wanted) / D);
  }
  // One giant among many meets all, but only once: so by sizes.
  [[nodiscard]] double sphere_pairs(double ball) const {
    const double cube = std::pow(ball, 1.0 / D);
    double sum = 0;
    for (const auto& one : survey_.octaves)
      for (const auto& two : survey_.octaves)
        sum += one.count * two.count / n_ * others(std::max(cube * (one.mean + two.mean), 1e-300));
    return sum / 2;
  }
  // Others in a box around a body; what reaches around a period meets everybody again.
  [[nodiscard]] double around(Edges edges) const {
    if (!periodic_) return others(mean(edges));
    double images = 1;
    for (std::size_t a = 0; a < D; ++a)
      if (period_[a] > 0 && edges[a] > period_[a]) {
        images *= edges[a] / period_[a];
        edges[a] = period_[a];
      }
    return (others(mean(edges)) + 1) * images - 1;
  }
  // Images of the space, beside itself, that somebody sees who reaches this far.
  [[nodiscard]] double images(const Edges& reach) const {
    double product = 1;
    for (std::size_t a = 0; a < D; ++a)
      if (period_[a] > 0) product *= 1 + 2 * reach[a] / period_[a];
    return product - 1;
  }
  // Cells of a part of the reach, but not shorter than `least`; a whole number of them in a period.
  [[nodiscard]] Edges cell_edges(double least, int parts) const {
    Edges edges{};
    for (std::size_t a = 0; a < D; ++a) {
      edges[a] = std::max(reach_[a] / parts, least);
      if (period_[a] > 0) edges[a] = period_[a] / std::max(std::floor(period_[a] / edges[a]), 1.0);
    }
    return edges;
  }

  struct Work {
    double blocks, images, rows, copies, tests;
  };
  // Cells that look at all within `parts` around them.
  [[nodiscard]] Work cell_work(const Edges& edges, int parts) const {
    const double span = 2 * parts + 1;
    const double blocks = cells(mean(edges));
    Edges seen = edges;
    for (double& edge : seen) edge *= span;
    const double bodies = around(seen) + 1;
    const double occupied = std::min(power(span), bodies * blocks / n_);  // cells around a body
    const double rows = blocks * (1 + power(span) / span) / 2;
    return {blocks, blocks * images(reach_), rows, width_ * n_ * occupied / 2, width_ * n_ * bodies / 2};
  }

  void exhaustive(std::vector<Way>& found) const {
    double seen = 1;
    for (std::size_t a = 0; a < D; ++a)
      if (period_[a] > 0) seen *= 2 * std::floor(reach_[a] / period_[a]) + 3;
    found.push_back({"Exhaustive", 0, {1, n_, width_ * n_ * n_ * seen / 2, pairs_}});
  }

  void linked_cells(std::vector<Way>& found) const {
    const double longest = *std::max_element(reach_.begin(), reach_.end());
    for (const double cell : {0.0, edge(1.5), edge(4)}) {
      if (cell > 0 && !(cell > 1.1 * longest)) continue;
      const Edges edges = cell_edges(cell, 1);
      double grid = D == 2 ? 3 : 1;
      for (std::size_t a = 0; a < D; ++a) grid *= length_[a] / edges[a] + 7;
      if (grid > std::min(most_grid_, full_grid * (n_ + 1e4))) continue;
      const Work work = cell_work(edges, 1);
      const double far = work.rows * std::clamp(std::log2(grid / cached_cells), 0.0, 4.0);
      const double fresh = std::max(grid - cached_cells, 0.0);
      found.push_back(
          {"LinkedCells",
           cell,
           {1, n_, sort_, grid, fresh, work.blocks, work.images, work.rows, far, work.copies, work.tests, pairs_}});
    }
  }

  void cell_sorting(std::vector<Way>& found) const {
    for (const int parts : {1, 2}) {
      const Edges edges = cell_edges(0, parts);
      if (parts == 2 && others(2 * mean(edges)) < 4) return;
      const Work work = cell_work(edges, parts);
      double grid = 1;
      for (std::size_t a = 0; a < D; ++a) grid *= length_[a] / edges[a] + 1;
      const bool counted = detail::counting_pays(grid, n_);
      found.push_back({"CellSorting",
                       parts == 1 ? 0.0 : parts,
                       {1, n_, sort_, counted ? grid : 0, counted ? 0 : n_ * std::log2(n_), work.blocks, work.images,
                        work.rows, work.copies, work.tests, pairs_}});
    }
  }

  void spatial_hash(std::vector<Way>& found) const {
    const Work work = cell_work(cell_edges(0, 1), 1);
    const double looks = work.blocks * around_cell;
    const double chance = width_ * looks / 4;  // there is half a body in a bucket
    found.push_back(
        {"SpatialHash",
         0,
         {1, n_, sort_, work.blocks, work.images, looks, work.copies + chance, work.tests + chance, pairs_}});
  }

  // Occupied cells of a grid for a random share of the bodies.
  [[nodiscard]] double thinned(double edge, double share) const {
    const double per_body = cells(edge) / n_;
    if (share > 0.999) return per_body * n_;
    if (per_body > 0.999) return share * n_;
    // As many as chance brings: (1 - exp(-x)) / x cells per body, where a body has x others.
    double x = 1 / per_body;
    for (int step = 0; step < 4; ++step) {
      const double none = std::exp(-x);
      x -= (1 - none - per_body * x) / (none - per_body);
    }
    const double left = share * x;
    return share * n_ * (left > 1e-6 ? (1 - std::exp(-left)) / left : 1);
  }

  struct Level {
    double count;
    Edges size, cell;
    double bins, blocks, folded;
  };
  void hash_grid(std::vector<Way>& found) const {
    std::vector<Level> levels;
    if (shape_ == Shape::point) levels.push_back({n_, reach_, {}, 0, 0, 0});
    for (const auto& [largest, count, longest, average] : survey_.levels) {
      Level level{count, longest, {}, 0, 0, 0};
      for (std::size_t a = 0; a < D; ++a)
        level.size[a] = longest[a] > 0 ? longest[a] * (shape_ == Shape::sphere ? 2 : 1) : reach_[a];
      levels.push_back(level);
    }
    const double builds = lay_cells(levels);
    double bins = 0;
    double blocks = 0;
    for (Level& level : levels) {
      double space = 1;
      for (std::size_t a = 0; a < D; ++a) space *= length_[a] / level.cell[a] + 2;
      level.bins = std::min(1.5 * space, 2 * level.count + 64);
      level.blocks = thinned(mean(level.cell), level.count / n_);
      // Bodies of cells far from each other that share a bin are told apart one by one.
      if (space > level.bins) level.folded = 1 - std::exp(-level.blocks / level.bins * (1 - level.bins / space));
      level.blocks += level.folded * (level.count - level.blocks);
      bins += level.bins;
      blocks += level.blocks;
    }
    Work work{blocks, 0, 0, 0, 0};
    for (std::size_t low = 0; low < levels.size(); ++low)
      for (std::size_t high = low; high < levels.size(); ++high) look(levels[low], levels[high], low == high, work);
    found.push_back({"HashGrid",
                     0,
                     {1, builds * n_, builds * sort_, bins, work.blocks, work.images, work.rows, width_ * work.copies,
                      width_ * work.tests, pairs_}});
  }
  // Cells wider than the bodies, with four in each; again and finer where they turn out to hold many more. Returns how
  // often.
  double lay_cells(std::vector<Level>& levels) const {
    double volume = 1;
    for (const double length : length_) volume *= length > 0 ? length : 1;
    double spread = std::pow(4, 1.0 / D);
    for (double builds = 1;; ++builds) {
      double worst = 0;
      for (Level& level : levels) {
        const double wide = spread * std::pow(volume / level.count, 1.0 / D);
        for (std::size_t a = 0; a < D; ++a) {
          level.cell[a] = std::max(level.size[a], wide);
          if (period_[a] > 0) level.cell[a] = period_[a] / std::max(std::floor(period_[a] / level.cell[a]), 1.0);
        }
        if (wide > *std::min_element(level.size.begin(), level.size.end()))
          worst = std::max(worst, 1 + others(mean(level.cell)) * level.count / n_);
      }
      if (worst <= 16 || builds == 3) return builds;
      spread *= std::pow(4 / worst, 1.0 / D);
    }
  }
  // The bins of one level look into another.
  void look(const Level& from, const Level& into, bool same, Work& work) const {
    const double own = mean(from.cell);
    const double occupancy = 1 + others(own) * from.count / n_;
    const double filled = (occupancy - 1) / (occupancy + 1);  // how much of a cell its bodies span
    Edges seen{};
    double bins = 1;
    double images = 1;
    for (std::size_t a = 0; a < D; ++a) {
      const double reached = into.size[a] + (shape_ == Shape::point ? 1 : 0.8) * from.size[a];
      // Next cells are seen when one of the bodies is near enough to the border.
      const double count = same ? 3 - 2 * std::pow(1 - std::min(1.0, reached / into.cell[a] / 2), occupancy)
                                : (filled * from.cell[a] + reached) / into.cell[a] + 1;
      seen[a] = count * into.cell[a];
      bins *= count;
      if (period_[a] > 0) images *= 1 + (filled * from.cell[a] + reached) / period_[a];
    }
    double near = (around(seen) + 1) * into.count / n_;
    if (same) near += from.folded * bins * into.count / into.bins;
    const double half = same ? 0.5 : 1;
    work.images += half * from.blocks * (images - 1);
    work.rows += from.blocks * bins / (seen[0] / into.cell[0]);
    work.tests += half * from.count * near;
    work.copies += half * std::min(from.blocks * near, into.count * power(mean(seen) / own));
  }

  struct Curve {
    double count;
    Edges size;
    double leaf, twig;
  };
  void bvh(std::vector<Way>& found) const {
    std::vector<Curve> curves;
    if (shape_ == Shape::point) curves.push_back({n_, reach_, 0, 0});
    else curves = by_octaves();
    for (Curve& curve : curves) {
      // A box around a few bodies is smaller than the cube they have for themselves.
      curve.leaf = edge((leaf - 1) * n_ / curve.count) * (leaf - 1) / (leaf + 1);
      curve.twig = edge((twig - 1) * n_ / curve.count) * (twig - 1) / (twig + 1);
    }
    double visits = 0;
    double copies = 0;
    double tests = 0;
    for (std::size_t low = 0; low < curves.size(); ++low)
      for (std::size_t high = low; high < curves.size(); ++high) {
        const Curve& from = curves[low];
        const Curve& into = curves[high];
        const double half = low == high ? 0.5 : 1;
        const double leaves = std::max(from.count / leaf, 1.0);
        const auto seen = [&](double size) {
          Edges edges;
          for (std::size_t a = 0; a < D; ++a) edges[a] = from.leaf + from.size[a] + into.size[a] + size;
          return around(edges) * into.count / n_;
        };
        const double near = seen(into.twig);
        visits += half * leaves * (seen(into.leaf) / leaf + 1);
        copies += half * leaves * near;
        tests += half * from.count * near;
      }
    const double leaves = n_ / leaf;
    found.push_back({"BVH",
                     0,
                     {1, n_, sort_, leaves * std::log2(leaves + 2), leaves * images(reach_), visits, width_ * copies,
                      width_ * tests, pairs_}});
  }
  // Bodies up to twice the median, then octaves; with their mean sizes.
  [[nodiscard]] std::vector<Curve> by_octaves() const {
    std::vector<Curve> curves;
    for (const auto& group : survey_.octaves) {
      const Edges size = extent_of(group);
      if (curves.empty() || curves[0].count >= n_ / 2) {
        curves.push_back({group.count, size, 0, 0});
      } else {
        Curve& small = curves[0];
        for (std::size_t a = 0; a < D; ++a)
          small.size[a] = (small.count * small.size[a] + group.count * size[a]) / (small.count + group.count);
        small.count += group.count;
      }
    }
    return curves;
  }

  void octree(std::vector<Way>& found) const {
    const Work work = cell_work(cell_edges(edge(octant - 1), 1), 1);
    found.push_back({"Octree", 0, {1, n_, sort_, work.blocks, work.images, work.copies, work.tests, pairs_}});
  }

  void sweep_and_prune(std::vector<Way>& found) const {
    // Who begins within a body, along the axis on which the fewest do.
    double slab = n_;
    double spread = 0;
    for (std::size_t a = 0; a < D; ++a) {
      const double beside = n_ * survey_.beside[a];
      double begin = beside * (shape_ == Shape::point ? reach_[a] : survey_.mean_edge[a]);
      if (shape_ == Shape::sphere) {
        begin = 0;  // by sizes: a giant meets all, but not more
        for (const auto& group : survey_.octaves)
          begin += group.count / n_ * std::min(n_, beside * extent_of(group)[a]);
      }
      if (begin >= slab) continue;
      slab = begin;
      spread = beside * survey_.edge_spread[a];
    }
    // Bodies next to each other are searched together while that adds few tests, which longer ones among them do.
    const double together = std::clamp((16 + slab / 4) / (1 + spread / 8), 1.5, 64.0);
    const double blocks = n_ / together;
    // Of two opposite images one is searched, for each body that reaches it.
    const double aside = periodic_ ? n_ * images(sticking_out()) / 2 : 0;
    found.push_back({"SweepAndPrune",
                     0,
                     {1, n_, sort_, blocks, aside, width_ * (blocks * (slab + together) + 2 * aside * slab),
                      width_ * (n_ * (slab + together / 2) + 2 * aside * slab), pairs_}});
  }

  // The boxes around bodies of a group, on average.
  [[nodiscard]] Edges extent_of(const SizeGroup<D>& group) const {
    Edges edges = group.edge;
    for (double& edge : edges)
      edge = (edge > 0 ? edge : group.largest) * (group.largest > 0 ? group.mean / group.largest : 1) *
             (shape_ == Shape::sphere ? 2 : 1);
    return edges;
  }

  // How far bodies together reach across a border: a mean one, and the largest of which one is likely to be there.
  [[nodiscard]] Edges sticking_out() const {
    if (shape_ == Shape::point) return reach_;
    Edges edges{};
    for (std::size_t a = 0; a < D; ++a) {
      const double part = shape_ == Shape::sphere ? 1 : 0.5;
      for (const auto& [largest, count, longest, average] : survey_.octaves)
        if (count * part * longest[a] > period_[a]) edges[a] = part * longest[a];
      edges[a] += survey_.mean_edge[a] / 2;
    }
    return edges;
  }

  Statistics<D> survey_;
  double n_;
  Shape shape_;
  Edges reach_, length_{}, period_{};
  double most_grid_;
  bool periodic_;
  double scale_ = 0, pairs_ = 0, pair_size_ = 0, width_ = 1, sort_ = 0;
  std::array<double, scales> others_{}, cells_{};
};

}  // namespace vicinal
