// Linked cells: a dense grid that stores the first slot of each cell. (Koch 2020, section on linked cells; the "list"
// of a cell is a run of slots, because bodies are kept in cell order.)
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "geometry/grid.hpp"
#include "index/bulk.hpp"
#include "index/cell_order.hpp"
#include "index/lay_grid.hpp"
#include "index/parts.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class LinkedCells final : public Structure<T, D> {
 public:
  static constexpr bool takes_tilted_cells = true;
  explicit LinkedCells(const StructureSettings<T, D>& settings) : settings_(settings) {}

  void build(const BodyView<T, D>& points) override {
    grid_ = Grid();  // a single cell for an empty set
    const Reach<D> reach = points.reach(settings_.cutoff);
    if (points.size > 0) {
      const double cell = settings_.option("cell");
      // A few bodies far away from all others share the outermost cells.
      const Bulk<D> bulk = find_bulk(points, settings_.box, reach.largest(), most_strays(points.size));
      const BodyView<T, D> dense = within(bulk, points, settings_.box);
      grid_ = lay_grid(dense, settings_.box, reach, 1, cell);
      // Cells that are as long as the reach can be too many for memory, or have the length 0: then they are longer.
      if (grid_.padded_cells() * sizeof(Slot) > static_cast<double>(physical_memory()) / 4) {
        const double most = std::max(8 * static_cast<double>(points.size), 0x1p20);
        // Where the reach is many periods long, the padding stays as it is.
        for (double least = std::max(cell, reach.largest()); grid_.padded_cells() > most && least < 1e300;) {
          least *= 2;
          grid_ = lay_grid(dense, settings_.box, reach, 1, least);
        }
      }
    }
    grid_.finish(reach);
    bodies_.reset(points, settings_.box, near_frame(points, settings_.box, reach.largest()));
    order_by_cell(grid_, bodies_);
    starts_.reset(grid_.keys + 1);
    Slot* const start = starts_.data();
    std::size_t key = 0;
    for (std::size_t g = 0; g < bodies_.groups; ++g) {
      const std::size_t next = bodies_.group_key[g] + 1;
      std::fill(start + key, start + next, bodies_.group_begin[g]);
      key = next;
    }
    std::fill(start + key, start + grid_.keys + 1, static_cast<Slot>(bodies_.size));
  }
  void arrange(const BodyView<T, D>& points, Bodies<T, D>& queries) const override {
    queries.reset(points, settings_.box, bodies_.frame);
    order_by_cell(grid_, queries);
  }
  [[nodiscard]] const Bodies<T, D>& bodies() const override { return bodies_; }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const override { return part_count(queries); }

  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    const auto rows = mode == Mode::half ? grid_.half_rows() : std::span<const StencilRow>(grid_.rows);
    const bool periodic = grid_.periodic();
    std::vector<Range> ranges;
    std::vector<KeyRow> steps;
    for (const StencilRow& row : rows) steps.push_back(key_row(row, mode));
    const auto [first, last] = groups_of_part(queries, part);
    for (std::size_t g = first, next; g < last; g = next) {
      const std::uint64_t key = queries.group_key[g];
      next = g + 1;
      const std::uint64_t inside = periodic ? cells_inside(key) : last - g;
      if (inside == 0) {
        periodic_ranges(key, rows, mode, ranges);
      } else {
        const Slot most = queries.group_begin[g] + block_queries;
        while (next < last && next - g < inside && queries.group_key[next] == key + (next - g) &&
               queries.group_begin[next + 1] <= most)
          ++next;
        open_ranges(key, next - g - 1, steps, ranges);
      }
      if (ranges.empty()) continue;
      const std::uint64_t candidates = next - g > 1 ? candidates_of(queries, g, next, steps, mode) : 0;
      sink({queries.group_begin[g], queries.group_begin[next], ranges, candidates});
    }
  }

  [[nodiscard]] Details details() const override {
    Details d = grid_details(grid_);
    d["occupied"] = static_cast<double>(bodies_.groups);
    return d;
  }
  [[nodiscard]] std::size_t bytes() const override { return starts_.bytes(); }

 private:
  // Cells that follow each other along a row share a block up to this many queries: then their candidates are copied
  // once, which saves more than the tests of the few that only some queries can reach.
  static constexpr Slot block_queries = 20;

  static Own own_of(Mode mode) { return mode == Mode::half ? Own::after : Own::except; }

  // A row of the stencil in open space: the keys of its cells, from that of a query's cell.
  struct KeyRow {
    std::int64_t low, end;
    Own own;
  };
  [[nodiscard]] KeyRow key_row(const StencilRow& row, Mode mode) const {
    const std::int64_t middle = grid_.key_step(row);
    const bool own_row = mode != Mode::cross && row.dy == 0 && row.dz == 0;
    return {own_row && mode == Mode::half ? middle : middle - row.reach_x, middle + row.reach_x + 1,
            own_row ? own_of(mode) : Own::absent};
  }
  // The number of cells from `key` on, along a row, all of whose neighbours are in the box itself.
  [[nodiscard]] std::uint64_t cells_inside(std::uint64_t key) const {
    const auto cell = grid_.cell_of(key);
    const auto left = [&](std::size_t a) {
      const Axis& axis = grid_.axis[a];
      if (!axis.periodic) return std::numeric_limits<std::int64_t>::max();
      return cell[a] < axis.radius ? std::int64_t{0} : std::max(axis.cells - axis.radius - cell[a], std::int64_t{0});
    };
    return left(1) > 0 && left(2) > 0 ? static_cast<std::uint64_t>(left(0)) : 0;
  }
  // For queries in `more` cells that follow cell `key`, too. (A row ends with empty cells, so cells whose keys follow
  // each other are in one row.)
  void open_ranges(std::uint64_t key, std::size_t more, std::span<const KeyRow> rows,
                   std::vector<Range>& ranges) const {
    const Slot* const start = starts_.data() + key;
    const Slot* const end = start + more;
    ranges.resize(rows.size());
    Range* to = ranges.data();
    for (const KeyRow& row : rows) {
      *to = {start[row.low], end[row.end], {}, row.own};
      to += to->begin < to->end ? 1 : 0;
    }
    ranges.resize(static_cast<std::size_t>(to - ranges.data()));
  }

  // The candidates of several cells in open space: every body with those in the cells around its own.
  [[nodiscard]] std::uint64_t candidates_of(const Bodies<T, D>& queries, std::size_t first, std::size_t last,
                                            std::span<const KeyRow> rows, Mode mode) const {
    std::uint64_t sum = 0;
    for (std::size_t g = first; g < last; ++g) {
      const Slot* const start = starts_.data() + queries.group_key[g];
      const std::uint64_t n = queries.group_begin[g + 1] - queries.group_begin[g];
      std::uint64_t around = 0;
      for (const KeyRow& row : rows) around += start[row.end] - start[row.low];
      sum += n * around - (mode == Mode::half ? n * (n + 1) / 2 : mode == Mode::full ? n : 0);
    }
    return sum;
  }

  // The ranges of rows that leave the box on one side and continue on the other, as images.
  void periodic_ranges(std::uint64_t key, std::span<const StencilRow> rows, Mode mode,
                       std::vector<Range>& ranges) const {
    const auto cell = grid_.cell_of(key);
    ranges.clear();
    for (const StencilRow& row : rows) {
      std::array<std::int64_t, 3> at{0, cell[1] + row.dy, cell[2] + row.dz};
      Shift shift{0, grid_.axis[1].enter(at[1]), grid_.axis[2].enter(at[2])};
      const bool own_row = mode != Mode::cross && row.dy == 0 && row.dz == 0;
      std::int64_t x = own_row && mode == Mode::half ? cell[0] : cell[0] - row.reach_x;
      const std::int64_t last = cell[0] + row.reach_x;
      while (x <= last) {
        at[0] = x;
        shift.x = grid_.axis[0].enter(at[0]);
        // Up to the last cell of this image; an open axis has one image, padded with empty cells.
        const std::int64_t length =
            std::min(last - x, grid_.axis[0].periodic ? grid_.axis[0].cells - 1 - at[0] : last - x) + 1;
        const std::uint64_t low = grid_.key(at);
        Range range{starts_[low], starts_[low + static_cast<std::uint64_t>(length)], shift};
        if (range.begin < range.end) ranges.push_back(range);
        if (own_row && shift == Shift{}) {
          ranges.back().own = own_of(mode);  // this range holds the query, so it is not empty
          std::swap(ranges.back(), ranges.front());
        }
        x += length;
      }
    }
  }

  StructureSettings<T, D> settings_;
  Grid grid_;
  Bodies<T, D> bodies_;
  Buffer<Slot> starts_;  // by key; the bodies of a cell are starts_[key] … starts_[key + 1] - 1
};

}  // namespace vicinal
