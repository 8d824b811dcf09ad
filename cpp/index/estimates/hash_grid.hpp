// The counts of a search with HashGrid.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "index/counts.hpp"
#include "index/survey.hpp"

namespace vicinal {

template <int D>
class HashGridEstimate {
 public:
  explicit HashGridEstimate(const Survey<D>& survey) : survey_(survey) {}

  [[nodiscard]] Estimate run() {
    make_levels();
    const double builds = lay_cells();
    double bins = 0;
    Work work{0, 0, 0, 0, 0};
    for (Level& level : levels_) {
      fill(level);
      bins += level.bins;
      work.blocks += level.blocks;
    }
    for (std::size_t low = 0; low < levels_.size(); ++low)
      for (std::size_t high = low; high < levels_.size(); ++high) look(levels_[low], levels_[high], low == high, work);
    return {{},
            {{Count::call, 1},
             {Count::body, builds * survey_.bodies + 2 * survey_.projected},
             {Count::sort, builds * survey_.sorting},
             {Count::bin, bins},
             {Count::block, work.blocks},
             {Count::image, work.images},
             {Count::row, work.rows},
             {Count::look, looks_},
             {Count::copy, survey_.width * work.copies},
             {Count::test, survey_.width * work.tests},
             {Count::pair, survey_.pairs},
             {Count::doubt, survey_.doubts},
             {Count::clamp, survey_.clamped}},
            {Count::body, Count::sort, Count::bin}};
  }

 private:
  using Edges = typename Survey<D>::Edges;
  using Work = typename Survey<D>::Work;
  struct Level {
    double count;
    Edges size;
    double mean = 1;  // size of its bodies, relative to the largest
    Edges cell{};
    double bins = 0, blocks = 0;
    double folded = 0;  // share of the bodies whose bin also holds bodies of a distant cell
  };

  void make_levels() {
    if (survey_.shape == Shape::point) levels_.push_back({survey_.bodies, survey_.reach});
    for (const auto& group : survey_.statistics.levels) {
      Level& level = levels_.emplace_back(Level{group.count, group.edge});
      if (group.largest > 0) level.mean = group.mean / group.largest;
      for (std::size_t a = 0; a < D; ++a)
        level.size[a] = group.edge[a] > 0 ? group.edge[a] * (survey_.shape == Shape::sphere ? 2 : 1) : survey_.reach[a];
    }
  }

  // Cells wider than the bodies, with four bodies in each; if they hold many more, they are laid out again with finer
  // cells. Returns the number of layouts.
  double lay_cells() {
    double volume = 1;
    for (const double length : survey_.crowd.length) volume *= length > 0 ? length : 1;
    double spread = std::pow(4, 1.0 / D);
    for (double builds = 1;; ++builds) {
      double worst = 0;
      for (Level& level : levels_) {
        const double wide = spread * std::pow(volume / level.count, 1.0 / D);
        for (std::size_t a = 0; a < D; ++a) {
          level.cell[a] = std::max(level.size[a], wide);
          const double period = survey_.period[a];
          if (period > 0) level.cell[a] = period / std::max(std::floor(period / level.cell[a]), 1.0);
        }
        if (wide > *std::min_element(level.size.begin(), level.size.end()))
          worst = std::max(worst, 1 + survey_.others(survey_.mean(level.cell)) * level.count / survey_.bodies);
      }
      if (worst <= 16 || builds == 3) return builds;
      spread *= std::pow(4 / worst, 1.0 / D);
    }
  }

  void fill(Level& level) const {
    constexpr double fill = 0.5;  // bodies per bin, if the space has that many cells
    double space = 1;
    Edges bins{};  // powers of two
    for (std::size_t a = 0; a < D; ++a) {
      const double cells =
          survey_.period[a] > 0 ? survey_.period[a] / level.cell[a] : survey_.crowd.length[a] / level.cell[a] + 2;
      space *= cells;
      bins[a] = std::exp2(std::ceil(std::log2(std::max(cells, 1.0)) - 1e-9));
    }
    const auto product = [&] { return survey_.power(survey_.mean(bins)); };
    while (product() > 1.01 * std::max(level.count / fill, 64.0)) *std::max_element(bins.begin(), bins.end()) /= 2;
    level.bins = product();
    level.blocks = thinned(survey_.mean(level.cell), level.count / survey_.bodies);
    // Bodies of distant cells that share a bin are searched one by one.
    if (space > level.bins) level.folded = 1 - std::exp(-level.blocks / level.bins * (1 - level.bins / space));
    level.blocks += level.folded * (level.count - level.blocks);
  }
  // Occupied cells of a grid for a random share of the bodies.
  [[nodiscard]] double thinned(double edge, double share) const {
    const double n = survey_.bodies;
    const double per_body = survey_.cells(edge) / n;
    if (share > 0.999) return per_body * n;
    if (per_body > 0.999) return share * n;
    // For a random distribution: (1 - exp(-x)) / x cells per body, where a body has x others.
    double x = 1 / per_body;
    for (int step = 0; step < 4; ++step) {
      const double none = std::exp(-x);
      x -= (1 - none - per_body * x) / (none - per_body);
    }
    const double left = share * x;
    return share * n * (left > 1e-6 ? (1 - std::exp(-left)) / left : 1);
  }

  // The bins of one level look up another level.
  void look(const Level& from, const Level& into, bool same, Work& work) {
    const double n = survey_.bodies;
    const double own = survey_.mean(from.cell);
    const double occupancy = 1 + survey_.others(own) * from.count / n;
    const double filled = (occupancy - 1) / (occupancy + 1);  // the part of a cell that its bodies span
    Edges seen{};
    Edges bounds{};   // of the bodies of a cell
    Edges between{};  // how far their pairs reach
    double bins = 1;
    double images = 1;
    for (std::size_t a = 0; a < D; ++a) {
      const double reached = into.size[a] + (survey_.shape == Shape::point ? 1 : 0.8) * from.size[a];
      // Adjacent cells are looked up if one of the bodies is near enough to the border.
      const double count = same ? 3 - 2 * std::pow(1 - std::min(1.0, reached / into.cell[a] / 2), occupancy)
                                : (filled * from.cell[a] + reached) / into.cell[a] + 1;
      seen[a] = count * into.cell[a];
      bounds[a] = filled * from.cell[a];
      between[a] = survey_.shape == Shape::point ? survey_.reach[a] : (from.size[a] + into.mean * into.size[a]) / 2;
      bins *= count;
      if (survey_.period[a] > 0) images *= 1 + (filled * from.cell[a] + reached) / survey_.period[a];
    }
    double near = (survey_.around(seen) + 1) * into.count / n;
    double tested = near;
    if (occupancy >= Survey<D>::several)
      tested = std::min(near, (survey_.around_bounds(bounds, between) + 1) * into.count / n);
    if (same) near += from.folded * bins * into.count / into.bins;
    const double half = same ? 0.5 : 1;
    looks_ += from.blocks;
    work.images += half * from.blocks * (images - 1);
    work.rows += from.blocks * bins / (seen[0] / into.cell[0]);
    work.tests += half * from.count * tested;
    work.copies += half * std::min(from.blocks * near, into.count * survey_.power(survey_.mean(seen) / own));
  }

  const Survey<D>& survey_;
  std::vector<Level> levels_;
  double looks_ = 0;
};

template <int D>
Estimates estimate_hash_grid(const Survey<D>& survey) {
  return {HashGridEstimate<D>(survey).run()};
}

}  // namespace vicinal
