// The hierarchical hash grid (Schornbaum 2009): grids of growing cells for bodies of growing size, each folded onto
// bins.
//
// After a build bodies are stored in the order of their bins, so rows of bins are single ranges, as in linked cells. An
// update moves only the bodies that changed bin: a bin closes its gap, which leaves holes at its end, and a body enters
// at the end of its new bin if there is a hole, or the bin moves to the end of the slots with room to spare. When there
// are too many holes, all bins are laid out again.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "geometry/grid.hpp"
#include "index/cell_order.hpp"
#include "index/hash_bins.hpp"
#include "index/hash_plan.hpp"
#include "index/hash_search.hpp"
#include "index/lay_grid.hpp"
#include "index/parts.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class HashGrid final : public Structure<T, D> {
 public:
  explicit HashGrid(const StructureSettings<T, D>& settings)
      : HashGrid(settings, std::make_unique<HashPlan<T, D>>(settings)) {}
  // With another plan for levels, cells and bins.
  HashGrid(const StructureSettings<T, D>& settings, std::unique_ptr<const HashPlan<T, D>> plan)
      : settings_(settings), incremental_(settings.option("incremental") > 0), bins_(std::move(plan)) {}

  [[nodiscard]] const HashBins<T, D>& bins() const { return bins_; }

  void build(const BodyView<T, D>& bodies) override {
    lay_out(bodies);
    // Cells wider than the bodies should hold a few of them. If they hold many, lay out again with finer cells.
    for (int again = 0; again < 2 && bins_.refine(); ++again) lay_out(bodies);
  }

  void update(const BodyView<T, D>& bodies) override {
    if (!incremental_ || bodies.size != bins_.bodies().size || !fits(bodies)) {
      build(bodies);
      return;
    }
    bins_.view(bodies);
    if (!bins_.move_bodies(!bodies.same_sizes)) {
      build(bodies);
      return;
    }
    tidy();
  }

  void insert(const BodyView<T, D>& all) override {
    const std::size_t old = bins_.bodies().size;
    const HashLevels<T, D>& levels = bins_.levels();
    // Entering a bin takes ten times as long per body as a layout, so many new bodies cause a new layout.
    if (all.size > old + old / 16 || levels.one_bin() || !fits(all) || levels.too_full(all.size)) {
      build(all);
      return;
    }
    bins_.view(all);
    std::vector<Mover> movers(all.size - old);
    for (std::size_t k = old; k < all.size; ++k) {
      const std::uint32_t to = bins_.bin_of(k);
      if (to == HashBins<T, D>::nowhere) {
        build(all);
        return;
      }
      movers[k - old] = {static_cast<std::uint32_t>(k), to};
    }
    bins_.enter(movers);
    tidy();
  }

  void remove(std::span<const std::uint32_t> ids, const BodyView<T, D>& rest) override {
    std::vector<std::int32_t> number(bins_.bodies().size, 0);  // the new number of each body, or -1
    for (const std::uint32_t id : ids) number[id] = -1;
    std::int32_t next = 0;
    for (std::int32_t& n : number)
      if (n >= 0) n = next++;
    bins_.view(rest);
    bins_.renumber(number);
    tidy();
  }

  void arrange(const BodyView<T, D>& bodies, Bodies<T, D>& queries) const override {
    queries.reset(bodies, settings_.box, bins_.bodies().frame);
    // Any grid that keeps near queries together is good enough; this one has about one query per cell.
    const std::array<double, D> lengths = bins_.levels().plan().lengths(bodies, bins_.levels().reach());
    Reach<D> spacing;
    for (std::size_t a = 0; a < D; ++a) {
      const double cell = lengths[a] / std::ceil(std::pow(static_cast<double>(bodies.size), 1.0 / D));
      spacing.axis[a] = cell > 1e-300 && std::isfinite(cell) ? cell : 1;  // its inverse must be finite, too
    }
    Grid grid;
    if (bodies.size > 0) grid = lay_bulk_grid(bodies, settings_.box, spacing, 1, 0);
    grid.finish(spacing);
    order_by_cell(grid, queries);
  }

  [[nodiscard]] const Bodies<T, D>& bodies() const override { return bins_.bodies(); }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const override {
    return &queries == &bins_.bodies() ? bins_.pieces() : part_count(queries);
  }

  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    HashSearch<T, D> search(bins_, queries, mode, sink);
    if (mode == Mode::cross) {
      const auto [first, last] = groups_of_part(queries, part);
      for (std::size_t g = first; g < last; ++g) search.group(queries.group_begin[g], queries.group_begin[g + 1]);
      return;
    }
    for (const std::uint32_t bin : bins_.piece(part)) search.bin(bin);
  }

  [[nodiscard]] Details details() const override {
    const HashLevels<T, D>& levels = bins_.levels();
    const auto bins = bins_.occupied();
    const auto occupied = std::count_if(bins.begin(), bins.end(), [&](std::uint32_t b) { return bins_[b].count > 0; });
    Details d{{"levels", static_cast<double>(levels.size())}, {"cells", static_cast<double>(levels.bins())},
              {"occupied", static_cast<double>(occupied)},    {"rebuilds", static_cast<double>(rebuilds_)},
              {"moved", static_cast<double>(bins_.moved())},  {"slots", static_cast<double>(bins_.bodies().slots)}};
    for (std::size_t l = 0; l < levels.size(); ++l)
      d["cell_" + std::to_string(l)] = levels[l].axis[0].inverse > 0 ? 1 / levels[l].axis[0].inverse : 0;
    return d;
  }
  [[nodiscard]] std::size_t bytes() const override { return bins_.bytes(); }

 private:
  using Mover = typename HashBins<T, D>::Mover;

  void lay_out(const BodyView<T, D>& bodies) {
    ++rebuilds_;
    bins_.lay_out(bodies);
  }

  // Whether the bodies fit the present levels and frame.
  [[nodiscard]] bool fits(const BodyView<T, D>& bodies) const {
    const Bodies<T, D>& kept = bins_.bodies();
    if (kept.size == 0) return false;
    const Reach<D> now = bodies.reach(settings_.cutoff);
    for (std::size_t a = 0; a < D; ++a) {
      if (now.axis[a] > bins_.levels().reach().axis[a]) return false;
      if (!kept.banded || kept.frame.cut || settings_.box.edge[a] > 0) continue;
      const auto inside = [&](T x) {
        const double scaled = (static_cast<double>(x) - kept.frame.centre[a]) * kept.frame.scale;
        return scaled >= kept.frame.low[a] && scaled <= kept.frame.high[a];
      };
      if (!inside(bodies.low[a]) || !inside(bodies.high[a])) return false;
    }
    return true;
  }

  // Lays out all bins again if there are too many holes, far fewer bodies than before, or many bodies outside a cut
  // frame.
  void tidy() {
    const Bodies<T, D>& kept = bins_.bodies();
    kept.note_outside();
    if (kept.slots > kept.size + kept.size / 2 + 1024 || bins_.levels().too_empty(kept.size) ||
        kept.outside.size() > 2 * most_strays(kept.size))
      build(kept.raw);
  }

  StructureSettings<T, D> settings_;
  bool incremental_;
  HashBins<T, D> bins_;
  std::size_t rebuilds_ = 0;
};

}  // namespace vicinal
