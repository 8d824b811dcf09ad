// The levels of a hierarchical hash grid: one grid for each range of sizes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "index/bodies.hpp"
#include "index/hash_level.hpp"
#include "index/hash_plan.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class HashLevels {
 public:
  using Plan = HashPlan<T, D>;
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  explicit HashLevels(std::unique_ptr<const Plan> plan) : plan_(std::move(plan)) {}

  void lay(const BodyView<T, D>& bodies) {
    reach_ = bodies.reach(plan_->settings().cutoff);
    if (bodies.shape != Shape::point)
      for (double& axis : reach_.axis) axis = plan_->with_room(axis);
    built_bodies_ = bodies.size;
    levels_.clear();
    bin_count_ = 0;
    const std::array<double, D> lengths = plan_->lengths(bodies, reach_);
    for (const double limit : plan_->limits(bodies, lengths)) {
      HashLevel<D> level;
      level.limit = plan_->with_room(limit);
      levels_.push_back(level);
    }
    measure(bodies);
    for (HashLevel<D>& level : levels_) {
      plan_->lay(bodies, reach_, lengths, spread_, level);
      level.first = static_cast<std::uint32_t>(bin_count_);
      bin_count_ += level.bins();
    }
  }

  // Wide cells should hold `wide_bodies`; if a body shares one with `count` on average, the next layout is finer.
  [[nodiscard]] bool refine(double count) {
    if (count <= 4 * Plan::wide_bodies || built_bodies_ <= plan_->few()) return false;
    spread_ *= std::pow(Plan::wide_bodies / count, 1.0 / D);
    return true;
  }

  [[nodiscard]] const Plan& plan() const { return *plan_; }
  [[nodiscard]] const StructureSettings<T, D>& settings() const { return plan_->settings(); }
  [[nodiscard]] const Reach<D>& reach() const { return reach_; }
  [[nodiscard]] std::size_t size() const { return levels_.size(); }
  [[nodiscard]] const HashLevel<D>& operator[](std::size_t level) const { return levels_[level]; }
  [[nodiscard]] auto begin() const { return levels_.begin(); }
  [[nodiscard]] auto end() const { return levels_.end(); }
  [[nodiscard]] std::uint64_t bins() const { return bin_count_; }
  // The first bin after the bins of a level.
  [[nodiscard]] std::uint32_t end_of(std::size_t level) const {
    return level + 1 < levels_.size() ? levels_[level + 1].first : static_cast<std::uint32_t>(bin_count_);
  }

  // Whether this number of bodies is too large or too small for the present bins.
  [[nodiscard]] bool too_full(std::size_t bodies) const {
    return plan_->grows() && static_cast<double>(bodies) > 2 * plan_->fill() * static_cast<double>(bin_count_) &&
           bodies > 2 * built_bodies_;
  }
  [[nodiscard]] bool too_empty(std::size_t bodies) const { return bodies > plan_->few() && bodies < built_bodies_ / 8; }
  // The bodies were so few that all are in one bin.
  [[nodiscard]] bool one_bin() const { return built_bodies_ <= plan_->few(); }

  [[nodiscard]] std::size_t level_at(std::uint32_t bin) const {
    std::size_t l = 0;
    while (l + 1 < levels_.size() && bin >= levels_[l + 1].first) ++l;
    return l;
  }
  // The bin of a body in the numbering of the user, or `nowhere` if no level takes its size.
  [[nodiscard]] std::uint32_t bin_of(const Bodies<T, D>& bodies, std::size_t body) const {
    const BodyView<T, D>& view = bodies.raw;
    std::size_t l = 0;
    if (view.shape != Shape::point) {
      l = level_of(size_of(view, body));
      if (l == levels_.size()) return nowhere;
      if (view.shape == Shape::box)
        for (int a = 0; a < D; ++a)
          if (edge_of(view, body, a) > levels_[l].edge_limit[static_cast<std::size_t>(a)]) return nowhere;
    }
    return levels_[l].bin([&](int a) { return static_cast<double>(bodies.value(body, a)); });
  }
  // Records that a body has entered a bin. Bodies that leave are not subtracted, since the count only tells whether the
  // level may have bodies.
  void count_in(std::uint32_t bin) { ++levels_[level_at(bin)].bodies; }

 private:
  [[nodiscard]] std::size_t level_of(double size) const {
    std::size_t l = 0;
    while (l < levels_.size() && size > levels_[l].limit) ++l;
    return l;
  }

  // Counts the bodies of each level and finds the longest edges of its boxes.
  void measure(const BodyView<T, D>& bodies) {
    if (bodies.shape == Shape::point) {
      levels_[0].bodies = bodies.size;
      return;
    }
    for (std::size_t k = 0; k < bodies.size; ++k) {
      HashLevel<D>& level = levels_[level_of(size_of(bodies, k))];
      ++level.bodies;
      if (bodies.shape != Shape::box) continue;
      for (int a = 0; a < D; ++a) {
        double& most = level.edge_limit[static_cast<std::size_t>(a)];
        most = std::max(most, edge_of(bodies, k, a));
      }
    }
    for (HashLevel<D>& level : levels_)
      for (double& most : level.edge_limit) most = plan_->with_room(most);
  }

  std::unique_ptr<const Plan> plan_;
  Reach<D> reach_;
  std::vector<HashLevel<D>> levels_;
  std::uint64_t bin_count_ = 0;
  std::size_t built_bodies_ = 0;
  double spread_ = std::pow(Plan::wide_bodies, 1.0 / D);  // edge of wide cells, in mean distances of bodies
};

}  // namespace vicinal
