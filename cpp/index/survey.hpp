// The survey of bodies, made before a structure is built: the input of the estimates (index/estimates/).
//
// Only the order of the predicted times matters, so quantities are simple: means over bodies, and cubes for boxes of
// any shape.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "index/bodies.hpp"
#include "index/bulk.hpp"
#include "index/near_frame.hpp"
#include "index/statistics.hpp"

namespace vicinal {

template <int D>
class Survey {
 public:
  using Edges = std::array<double, D>;

  template <class T>
  Survey(const BodyView<T, D>& points, const Box<T, D>& box, T cutoff, double most_cells);

  Bulk<D> crowd;  // the space of all but a sixteenth of the bodies, over which HashGrid lays its cells
  Statistics<D> statistics;
  double bodies;
  Shape shape;
  Edges reach;           // how far apart the positions of a pair can be
  Edges length{};        // of the space: the period, or the extent of the bodies
  Edges bulk{};          // the same of most bodies, over which some structures lay their grids
  Edges period{};        // 0 along open axes
  double most_cells;     // of a dense grid that fits into memory
  bool periodic;         // along some axis
  double pairs = 0;      // expected result of the search
  double pair_size = 0;  // mean size (radius, half edge) of bodies, weighted by the volume in which they form pairs
  double width = 1;      // relative time of a test, above 1 where doubles are not tested in float32 first
  double sorting = 0;    // Count::sort of a structure that sorts all bodies once
  double doubts = 0;     // bodies with candidates that are tested in float32 and again in double
  double clamped = 0;    // bodies, if a few of them are so far away that the others are looked for
  double projected = 0;  // bodies of a tilted cell, where some structures need a copy (in_lattice.hpp)

  static double power(double x) { return D == 3 ? x * x * x : x * x; }
  // Edge of the cube of the same volume.
  static double mean(const Edges& edges) {
    double product = 1;
    for (const double edge : edges) product *= edge;
    return D == 3 ? std::cbrt(product) : std::sqrt(product);
  }

  // Other bodies in a cube around a body, on average.
  [[nodiscard]] double others(double edge) const {
    const double k = scale_ - std::log2(edge);
    return k <= 0 ? bodies - 1 : std::exp2(interpolate(others_, k, -D));
  }
  // Occupied cells of a grid.
  [[nodiscard]] double cells(double edge) const {
    const double k = scale_ - std::log2(edge);
    return k <= 0 ? 1 : std::min(bodies, std::exp2(interpolate(cells_, k, D)));
  }
  // The same of cells that are no cubes: those at the borders of open space are cut off, and more so along long edges.
  [[nodiscard]] double cells(const Edges& edges) const {
    const double cube = mean(edges);
    double more = 1;
    for (std::size_t a = 0; a < D; ++a)
      if (!(period[a] > 0) && bulk[a] > 0) more *= (bulk[a] / edges[a] + 1) / (bulk[a] / cube + 1);
    return std::min(bodies, more * cells(cube));
  }
  // Edge of the cubes in which a body has this many others.
  [[nodiscard]] double edge(double others) const {
    const double wanted = std::log2(std::max(others, 1e-12));
    if (wanted >= others_[0]) return std::exp2(scale_);
    for (std::size_t k = 0; k + 1 < scales; ++k)
      if (others_[k + 1] <= wanted)
        return std::exp2(scale_ - static_cast<double>(k) - (others_[k] - wanted) / (others_[k] - others_[k + 1]));
    return std::exp2(scale_ - (scales - 1) - (others_[scales - 1] - wanted) / D);
  }
  // Other bodies in a box around a body; a box longer than a period contains images of every body. In open space, where
  // the box is partly outside, its part inside counts, on average over the places of a body.
  [[nodiscard]] double around(Edges edges) const {
    double images = 1;
    for (std::size_t a = 0; a < D; ++a) {
      if (!(period[a] > 0)) {
        if (bulk[a] > 0) edges[a] = edges[a] < 2 * bulk[a] ? edges[a] * (1 - edges[a] / (4 * bulk[a])) : bulk[a];
      } else if (edges[a] > period[a]) {
        images *= edges[a] / period[a];
        edges[a] = period[a];
      }
    }
    return (others(mean(edges)) + 1) * images - 1;
  }
  // Mean number of periodic images of the space, besides itself, that a body with this reach touches.
  [[nodiscard]] double images(const Edges& reached) const {
    double product = 1;
    for (std::size_t a = 0; a < D; ++a)
      if (period[a] > 0) product *= 1 + 2 * reached[a] / period[a];
    return product - 1;
  }
  // Cells of a part of the reach, but not shorter than `least`; a whole number of them in a period.
  [[nodiscard]] Edges cell_edges(double least, int parts) const {
    Edges edges{};
    for (std::size_t a = 0; a < D; ++a) {
      edges[a] = std::max(reach[a] / parts, least);
      if (period[a] > 0) edges[a] = period[a] / std::max(std::floor(period[a] / edges[a]), 1.0);
    }
    return edges;
  }

  struct Work {
    double blocks, images, rows, copies, tests;
  };
  // Of a grid whose cells look up all cells up to `parts` away. Cells that follow each other along a row share a block
  // of up to `shared` queries.
  [[nodiscard]] Work cell_work(const Edges& edges, int parts, double shared = 0) const {
    const double span = 2 * parts + 1;
    const double cells_in_use = cells(edges);
    Edges seen = edges;
    for (double& edge : seen) edge *= span;
    const double near = around(seen) + 1;
    const double occupied = std::min(power(span), near * cells_in_use / bodies);  // cells around a body
    const double inside = 1 + others(mean(edges));
    const double together = cells_together(occupied / power(span), shared / inside - 0.5);
    const double blocks = cells_in_use / together;
    const double rows = blocks * (1 + power(span) / span) / 2;
    const double longer = (together - 1 + span) / span;  // a row of candidates
    Edges beyond = edges;
    for (double& edge : beyond) edge *= parts;
    // A block of more queries than are tested together copies its candidates several times.
    const double copies = bodies * occupied / 2 * longer / together * std::max(1.0, inside / cut_queries);
    Edges block = edges;
    block[0] *= together;
    const double tests = bodies * reachable(block, inside * together, near * longer) / 2;
    return {blocks, blocks * images(beyond), rows, width * copies, width * tests};
  }
  // The mean number of cells in a block that has room for `most` of them on average, each followed by another with
  // this probability.
  static double cells_together(double probability, double most) {
    if (most < 2) return 1;
    if (probability > 0.99) return most;
    return (1 - std::pow(probability, most)) / (1 - probability);
  }

  // Other bodies within reach of a box: round for points and spheres; corners of boxes reach `reached` on both sides.
  [[nodiscard]] double around_bounds(const Edges& bounds, const Edges& reached) const {
    double volume = 0;
    if (shape == Shape::box) {
      volume = 1;
      for (std::size_t a = 0; a < D; ++a) volume *= bounds[a] + 2 * reached[a];
    } else if constexpr (D == 2) {
      const double r = reached[0];
      volume = bounds[0] * bounds[1] + 2 * r * (bounds[0] + bounds[1]) + 3.14159 * r * r;
    } else {
      const double r = reached[0];
      const double faces = bounds[0] * bounds[1] + bounds[1] * bounds[2] + bounds[2] * bounds[0];
      volume = bounds[0] * bounds[1] * bounds[2] + 2 * r * faces +
               3.14159 * r * r * (bounds[0] + bounds[1] + bounds[2]) + 4.18879 * r * r * r;
    }
    Edges edges;
    edges.fill(std::max(D == 3 ? std::cbrt(volume) : std::sqrt(volume), 1e-300));
    return around(edges);
  }

  // Candidates are compared with the bounds of a block from this number of queries on.
  static constexpr double several = 3;
  static constexpr double cut_queries = 256;  // most queries of a block that are tested together
  // Of the candidates of a body in a block of bodies of a cell, those that some body of the block can reach, on
  // average: the exact test leaves out the others (Test::gather).
  [[nodiscard]] double reachable(const Edges& cell, double inside, double candidates) const {
    constexpr double few_candidates = 32;
    if (inside < several || candidates < few_candidates) return candidates;
    // The box around the queries, positions only.
    const double queries = std::min(inside, cut_queries);
    Edges bounds = cell;
    for (double& edge : bounds) edge *= (queries - 1) / (queries + 1);
    if (shape == Shape::point) return std::min(candidates, 1 + around_bounds(bounds, reach));
    // By the octave of the largest query, which is all that the bounds know; candidates of mean size.
    double sum = 0;
    double below = 0;  // probability that no query is of this octave or a larger one
    double share = 0;
    for (const auto& largest : statistics.octaves) {
      share = std::min(1.0, share + largest.count / bodies);
      const double up_to = std::pow(share, queries);
      const double chance = up_to - below;
      below = up_to;
      if (chance < 1e-3) continue;
      Edges reached = extent_of(largest);
      for (std::size_t a = 0; a < D; ++a) reached[a] = (reached[a] + statistics.mean_edge[a]) / 2;
      sum += chance * std::min(candidates, 1 + around_bounds(bounds, reached));
    }
    return std::min(candidates, sum);
  }

  // The boxes around bodies of a group, on average.
  [[nodiscard]] Edges extent_of(const SizeGroup<D>& group) const {
    Edges edges = group.edge;
    for (double& edge : edges)
      edge = (edge > 0 ? edge : group.largest) * (group.largest > 0 ? group.mean / group.largest : 1) *
             (shape == Shape::sphere ? 2 : 1);
    return edges;
  }

  // For the reason of a choice.
  [[nodiscard]] double grid_cells() const {
    double cells = 1;
    for (std::size_t a = 0; a < D; ++a) cells *= length[a] / reach[a] + 1;
    return cells;
  }
  [[nodiscard]] double largest() const { return statistics.levels.empty() ? 0 : statistics.levels.back().largest; }
  // The share of bodies that leave a cell of a few bodies when they move by this multiple of their sizes.
  [[nodiscard]] double moved(double motion) const {
    const double size = shape == Shape::point ? reach[0] : 2 * pair_size;
    return std::min(1.0, 1.5 * motion * size / std::max(mean(reach), edge(3)));
  }

 private:
  static constexpr std::size_t scales = Crowding::scales;
  // Sorting more bodies than this takes longer with every doubling of their number: they leave the caches.
  static constexpr double cached_bodies = 1 << 14;

  static double interpolate(const std::array<double, scales>& values, double k, double slope) {
    if (!(k < scales - 1)) return values[scales - 1] + slope * (k - (scales - 1));
    const auto i = static_cast<std::size_t>(k);
    return values[i] + (values[i + 1] - values[i]) * (k - static_cast<double>(i));
  }
  // Summed by size: a very large body forms at most one pair with every other body.
  [[nodiscard]] double sphere_pairs(double ball) const {
    const double cube = std::pow(ball, 1.0 / D);
    double sum = 0;
    for (const auto& one : statistics.octaves)
      for (const auto& two : statistics.octaves)
        sum += one.count * two.count / bodies * others(std::max(cube * (one.mean + two.mean), 1e-300));
    return sum / 2;
  }

  // Bodies with a candidate in the band of the exact test (pairs/test.hpp), which lies around the reach of a pair.
  [[nodiscard]] double doubts_in(const NearFrame<D>& frame) const {
    constexpr double u = 0x1p-24;
    const double e = 4.2 * frame.largest * u + 2 * u;
    const double root = std::sqrt(static_cast<double>(D));
    const double r = frame.scale * (shape == Shape::point ? reach[0] : 2 * pair_size);
    const double band =
        shape == Shape::point ? 2.5 * root * e / r + 12.5 * u : 2 * root * e / r + 4 * D * e * e / (r * r) + 24 * u / r;
    // The share of the pairs whose squared distance is as much smaller than the square of their reach, and as many
    // more.
    const double doubtful = 2 * pairs / bodies * D * std::min(band, 1.0);
    return bodies * (1 - std::exp(-doubtful));
  }

  double scale_ = 0;
  std::array<double, scales> others_{}, cells_{};
};

}  // namespace vicinal
