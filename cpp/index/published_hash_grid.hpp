// The hierarchical hash grid as first published, to reproduce the numbers of two papers; vicinal.lab uses it.
//
// Schornbaum (2009): cells grow by a factor from grid to grid, and grids start with a given number of bins. Koch
// (2020): the number of bins is fixed, and a body looks at the 3^d cells around its own. The rest is that of HashGrid.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "index/hash_grid.hpp"
#include "index/hash_plan.hpp"
#include "index/hash_search.hpp"
#include "index/structure.hpp"

namespace vicinal {

extern template class HashGrid<float, 2>;
extern template class HashGrid<float, 3>;
extern template class HashGrid<double, 2>;
extern template class HashGrid<double, 3>;

template <class T, int D>
class PublishedPlan final : public HashPlan<T, D> {
 public:
  explicit PublishedPlan(const StructureSettings<T, D>& settings)
      : HashPlan<T, D>(settings), factor_(settings.option("factor")),
        fixed_(static_cast<std::uint32_t>(settings.option("max_cells"))) {
    for (std::size_t a = 0; a < D; ++a)
      dims_[a] = static_cast<std::uint32_t>(settings.option("dims" + std::to_string(a)));
  }

  [[nodiscard]] bool grows() const override { return fixed_ == 0; }
  [[nodiscard]] double with_room(double size) const override { return size; }

  // Cells are c0 f^k, with c0 that of the first body; a grid takes sizes from cell / f up to the cell. Empty grids are
  // left out.
  [[nodiscard]] std::vector<double> limits(const BodyView<T, D>& bodies,
                                           const std::array<double, D>& /*lengths*/) const override {
    if (bodies.shape == Shape::point) return {0};
    const double largest = largest_size(bodies);
    const double first = bodies.size > 0 ? size_of(bodies, 0) : 0;
    if (bodies.size <= this->few() || !(first > 0)) return {largest};
    constexpr int smallest = -1000;
    std::set<int> grids;
    for (std::size_t k = 0; k < bodies.size; ++k) {
      const double ratio = size_of(bodies, k) / first / std::sqrt(factor_);
      grids.insert(ratio > 0 ? static_cast<int>(std::floor(std::log(ratio) / std::log(factor_))) + 1 : smallest);
    }
    std::vector<double> limits;
    for (const int k : grids)
      limits.push_back(std::min(first * std::sqrt(factor_) * std::pow(factor_, std::max(k, smallest)),
                                std::numeric_limits<double>::max()));
    limits.back() = std::max(limits.back(), largest);
    return limits;
  }

  void lay(const BodyView<T, D>& bodies, const Reach<D>& reach, const std::array<double, D>& lengths, double /*spread*/,
           HashLevel<D>& level) const override {
    constexpr double more = 1 + 32 * static_cast<double>(std::numeric_limits<T>::epsilon());
    std::array<double, D> cell = this->reach_of_level(bodies, reach, level);
    if (bodies.shape == Shape::box) cell.fill(level.limit * more);
    for (double& c : cell)
      if (!(c > 0)) c = 1;
    std::array<std::uint32_t, D> bins{};
    for (std::size_t a = 0; a < D; ++a) bins[a] = this->lay_axis(cell[a], lengths[a], a, level);
    if (fixed_ > 0) {
      for (std::size_t a = 0; a < D; ++a) {
        // Only adjacent cells are looked up, so cell numbers must be exact: fewer and slightly larger cells.
        constexpr double far = 0x1p30;
        HashAxis& axis = level.axis[a];
        axis.lowest = -far;
        axis.highest = axis.lift = far;
        axis.inverse *= 1 - 1e-6;
        bins[a] = fixed_;
      }
    } else if (bodies.size <= this->few()) {
      bins.fill(1);
    } else {
      for (std::size_t a = 0; a < D; ++a)
        if (dims_[a] > 0) bins[a] = std::max(std::min(bins[a], dims_[a]), std::uint32_t{4});
      const double room = this->room(level);
      this->shrink(room, bins);
      // The given dimensions are initial ones: they grow with the number of bodies.
      while (dims_[0] > 0 && 2 * this->product(bins) <= room) *std::min_element(bins.begin(), bins.end()) *= 2;
    }
    this->set_bins(bins, level);
  }

 private:
  double factor_;
  std::uint32_t fixed_;  // bins along each axis, or 0
  std::array<std::uint32_t, D> dims_{};
};

template <class T, int D>
class PublishedHashGrid final : public Structure<T, D> {
 public:
  explicit PublishedHashGrid(const StructureSettings<T, D>& settings)
      : grid_(settings, std::make_unique<PublishedPlan<T, D>>(settings)), fixed_(settings.option("max_cells") > 0) {}

  void build(const BodyView<T, D>& bodies) override { grid_.build(bodies); }
  void update(const BodyView<T, D>& bodies) override { grid_.update(bodies); }
  void insert(const BodyView<T, D>& all) override { grid_.insert(all); }
  void remove(std::span<const std::uint32_t> ids, const BodyView<T, D>& rest) override { grid_.remove(ids, rest); }
  void arrange(const BodyView<T, D>& bodies, Bodies<T, D>& queries) const override { grid_.arrange(bodies, queries); }
  [[nodiscard]] const Bodies<T, D>& bodies() const override { return grid_.bodies(); }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const override { return grid_.parts(queries); }
  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    if (!fixed_ || mode == Mode::cross) {
      grid_.blocks(queries, mode, part, sink);
      return;
    }
    HashSearch<T, D> search(grid_.bins(), queries, mode, sink);
    for (const std::uint32_t bin : grid_.bins().piece(part)) around(bin, queries, mode, search);
  }
  [[nodiscard]] Details details() const override { return grid_.details(); }
  [[nodiscard]] std::size_t bytes() const override { return grid_.bytes(); }

 private:
  // Pairs a bin with the 3^d bins around it, and every body with the 3^d cells around its own in each grid of larger
  // cells (in full mode, in all other grids by extent).
  void around(std::uint32_t index, const Bodies<T, D>& queries, Mode mode, HashSearch<T, D>& search) const {
    const HashLevels<T, D>& levels = grid_.bins().levels();
    const auto& bin = grid_.bins()[index];
    if (bin.count == 0) return;
    const std::size_t l = levels.level_at(index);
    auto& runs = search.runs();
    search.set_own(index);
    search.start(bin.begin);
    std::uint32_t rest = index - levels[l].first;
    for (std::size_t a = 0; a < 3; ++a) {
      const HashAxis& axis = levels[l].axis[a];
      runs[a].clear();
      const auto at = static_cast<std::int64_t>(rest & axis.mask);
      if (a < D) axis.add(at - 1, at + 1, 0, runs[a]);
      else runs[a].push_back({0, 0, 0});
      rest /= axis.mask + 1;
    }
    search.propose(levels[l]);
    search.finish(bin.begin, bin.begin + bin.count);
    for (std::size_t k = mode == Mode::half ? l + 1 : 0; k < levels.size(); ++k) {
      const HashLevel<D>& other = levels[k];
      if (k == l || other.bodies == 0) continue;
      for (Slot slot = bin.begin; slot < bin.begin + bin.count; ++slot) {
        search.restart();
        if (k < l) {
          search.look(search.extent_of(slot, slot + 1), other);
        } else {
          for (std::size_t a = 0; a < D; ++a) {
            runs[a].clear();
            const auto cell = other.axis[a].cell(static_cast<double>(queries.position(slot, static_cast<int>(a))));
            other.axis[a].add(cell - 1, cell + 1, 0, runs[a]);
          }
          if (D == 2) runs[2].assign(1, {0, 0, 0});
          search.propose(other);
        }
        search.finish_other(slot);
      }
    }
  }

  HashGrid<T, D> grid_;
  bool fixed_;  // the number of bins does not depend on the number of bodies
};

}  // namespace vicinal
