// How far bodies reach: which bodies of one rank can form pairs with those of another.
//
// A body has an interval along every axis, wrapped along periodic ones, in double. Two bodies can form a pair only if
// their intervals, or images of them, overlap along every axis; so bodies whose intervals meet the hull of another
// rank's intervals are ghosts there.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "index/body_view.hpp"

namespace vicinal {

template <int D>
struct Hull {
  std::array<double, D> low, high;

  [[nodiscard]] bool empty() const { return !(low[0] <= high[0]); }
};

template <class T, int D>
class Extents {
 public:
  // Points reach `reach` in every direction, spheres as far as their radii, boxes from corner to corner.
  Extents(const BodyView<T, D>& bodies, double reach, const std::array<double, D>& edges)
      : bodies_(bodies), reach_(reach), edges_(edges) {}

  [[nodiscard]] std::size_t size() const { return bodies_.size; }

  // The interval of a body, longer than the rounding of the exact test and of this function can make it. Squares of
  // tiny cutoffs underflow, so that pairs reach farther; the last term covers that.
  [[nodiscard]] Hull<D> of(std::size_t body) const {
    constexpr double eps = std::numeric_limits<T>::epsilon();
    const double tiny = 8 * std::sqrt(static_cast<double>(std::numeric_limits<T>::min()));
    const bool box = bodies_.shape == Shape::box;
    const double reach = bodies_.shape == Shape::sphere ? static_cast<double>(bodies_.extra[body]) : reach_;
    Hull<D> extent{};
    for (std::size_t a = 0; a < D; ++a) {
      double low = bodies_.data[body * D + a];
      double high = box ? static_cast<double>(bodies_.extra[body * D + a]) : low;
      const double margin =
          (box ? 0 : reach) * (1 + 32 * eps) + 16 * eps * (std::max(std::abs(low), std::abs(high)) + edges_[a]) + tiny;
      if (edges_[a] > 0) {
        const double moved = std::floor(low / edges_[a]) * edges_[a];
        low -= moved;
        high -= moved;
      }
      extent.low[a] = low - margin;
      extent.high[a] = high + margin;
    }
    return extent;
  }

  [[nodiscard]] Hull<D> hull() const {
    Hull<D> hull{};
    hull.low.fill(std::numeric_limits<double>::infinity());
    hull.high.fill(-std::numeric_limits<double>::infinity());
    for (std::size_t body = 0; body < size(); ++body) {
      const Hull<D> extent = of(body);
      for (std::size_t a = 0; a < D; ++a) {
        hull.low[a] = std::min(hull.low[a], extent.low[a]);
        hull.high[a] = std::max(hull.high[a], extent.high[a]);
      }
    }
    return hull;
  }

  // Whether two intervals, or images of them, overlap along every axis.
  [[nodiscard]] bool meet(const Hull<D>& one, const Hull<D>& other) const {
    for (std::size_t a = 0; a < D; ++a) {
      const double below = one.low[a] - other.high[a], above = one.high[a] - other.low[a];
      // Periodic: an integer s with below + s * edge <= 0 <= above + s * edge.
      if (edges_[a] > 0 ? std::floor(-below / edges_[a]) < std::ceil(-above / edges_[a]) : below > 0 || above < 0)
        return false;
    }
    return true;
  }

  // For each rank the bodies, ascending, that meet its hull.
  [[nodiscard]] std::vector<std::vector<std::int64_t>> meeting(std::span<const Hull<D>> ranks, std::size_t own) const {
    std::vector<std::vector<std::int64_t>> rows(ranks.size());
    const Hull<D> mine = hull();
    std::vector<std::size_t> near;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      if (rank != own && !ranks[rank].empty() && size() > 0 && meet(mine, ranks[rank])) near.push_back(rank);
    if (near.empty()) return rows;
    for (std::size_t body = 0; body < size(); ++body) {
      const Hull<D> extent = of(body);
      for (const std::size_t rank : near)
        if (meet(extent, ranks[rank])) rows[rank].push_back(static_cast<std::int64_t>(body));
    }
    return rows;
  }

 private:
  BodyView<T, D> bodies_;
  double reach_;
  std::array<double, D> edges_;
};

}  // namespace vicinal
