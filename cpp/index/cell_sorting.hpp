// Cell sorting (Onderik & Ďurikovič 2008): sort bodies by the key of their cell, then sweep over the sorted keys.
//
// There is no grid in memory, only the occupied cells in ascending order of key. The cells of one stencil row around a
// cell have consecutive keys, which only increase during the sweep, so one finger per row finds them all. Few queries
// are far apart: their rows are looked up in a table.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/grid.hpp"
#include "index/cell_order.hpp"
#include "index/key_table.hpp"
#include "index/lay_grid.hpp"
#include "index/parts.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class CellSorting final : public Structure<T, D> {
 public:
  static constexpr bool takes_tilted_cells = true;
  explicit CellSorting(const StructureSettings<T, D>& settings) : settings_(settings) {}

  void build(const BodyView<T, D>& points) override {
    const Reach<D> reach = points.reach(settings_.cutoff);
    lay(points, reach);
    bodies_.reset(points, settings_.box, near_frame(points, settings_.box, reach.largest()));
    order_by_cell(grid_, bodies_);
    list_cells();
  }
  void arrange(const BodyView<T, D>& points, Bodies<T, D>& queries) const override {
    queries.reset(points, settings_.box, bodies_.frame);
    order_by_cell(grid_, queries);
  }
  [[nodiscard]] const Bodies<T, D>& bodies() const override { return bodies_; }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const override { return part_count(queries); }

  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    const auto rows = mode == Mode::half ? grid_.half_rows() : std::span<const StencilRow>(grid_.rows);
    const auto [first, last] = groups_of_part(queries, part);
    if (first == last) return;
    // The fingers of a row: the first cell whose key is not below the row's, and the first one above it.
    std::vector<std::size_t> finger(rows.size());
    std::vector<std::size_t> end_finger(rows.size());
    std::vector<Range> ranges;
    const bool few = mode == Mode::cross && 8 * queries.groups < cells_.count;
    bool started = false;
    for (std::size_t g = first; g < last; ++g) {
      const std::uint64_t key = queries.group_key[g];
      ranges.clear();
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const StencilRow& row = rows[r];
        const bool own_row = mode != Mode::cross && row.dy == 0 && row.dz == 0;
        const auto middle = static_cast<std::uint64_t>(static_cast<std::int64_t>(key) + grid_.key_step(row));
        const auto reach = static_cast<std::uint64_t>(row.reach_x);
        const std::uint64_t low = own_row && mode == Mode::half ? middle : middle - reach;
        std::size_t& f = finger[r];
        f = few || !started ? table_.first_from(low) : first_cell_from(low, f);
        if (cells_.images != nullptr) {
          append_row(f, middle + reach, own_row, mode, ranges);
          continue;
        }
        // Without images, the cells of a row are next to each other in memory.
        std::size_t& e = end_finger[r];
        if (few || !started) e = f;
        e = first_cell_from(middle + reach + 1, e);
        if (f == e) continue;
        ranges.push_back({cells_.begin[f], cells_.begin[e], {}});
        if (!own_row) continue;
        ranges.back().own = mode == Mode::half ? Own::after : Own::except;
        std::swap(ranges.back(), ranges.front());
      }
      started = true;
      if (!ranges.empty()) sink({queries.group_begin[g], queries.group_begin[g + 1], ranges});
    }
  }

  [[nodiscard]] Details details() const override {
    Details d = grid_details(grid_);
    d["occupied"] = static_cast<double>(bodies_.groups);
    d["h_mask"] = subdivision_;
    return d;
  }
  [[nodiscard]] std::size_t bytes() const override { return keys_.bytes() + images_.bytes() + table_.bytes(); }

 private:
  // The bodies of a cell, or of the image of a cell across a periodic border.
  struct Cell {
    Slot begin, end;
    Shift shift;
  };
  // Cells in ascending order of key, with a key greater than all at the end: the cells of the bodies and, in a periodic
  // box, their images.
  struct Cells {
    const std::uint64_t* key = nullptr;
    const Slot* begin = nullptr;
    const Cell* images = nullptr;
    std::size_t count = 0;

    [[nodiscard]] Cell operator[](std::size_t k) const {
      return images != nullptr ? images[k] : Cell{begin[k], begin[k + 1], {}};
    }
  };

  void lay(const BodyView<T, D>& points, const Reach<D>& reach) {
    subdivision_ = static_cast<int>(settings_.option("h_mask"));
    if (subdivision_ == 0) subdivision_ = 1;
    double least = 0;
    for (;;) {
      grid_ = lay_bulk_grid(points, settings_.box, reach, subdivision_, least);
      // Keys and the step of a row must fit into 64 bits: fold long axes, and enlarge the cells if that is not enough.
      if (grid_.padded_cells() < 0x1p62) break;
      fold(points);
      if (grid_.padded_cells() < 0x1p62) break;
      least = 2 * std::max(least, reach.largest());
    }
    grid_.finish(reach);
  }

  void fold(const BodyView<T, D>& points) {
    for (int axis = 0; axis < D; ++axis) {
      Axis& a = grid_.axis[static_cast<std::size_t>(axis)];
      if (a.periodic || a.inverse == 0) continue;
      std::vector<std::int64_t> cells(points.size);
      for (std::size_t k = 0; k < points.size; ++k) cells[k] = a.unfolded_cell(points.along(k, axis));
      a.fold(std::move(cells));
    }
  }

  void list_cells() {
    cells_ = {bodies_.group_key.data(), bodies_.group_begin.data(), nullptr, bodies_.groups};
    keys_.release();
    images_.release();
    if (grid_.periodic()) add_images();
    table_.reset(cells_.key, cells_.count);
  }
  // Adds the images of cells near a border to the cells.
  void add_images() {
    struct Image {
      std::uint64_t key;
      Cell cell;
    };
    std::vector<Image> images;
    for (std::size_t g = 0; g < bodies_.groups; ++g)
      for_each_image(grid_.cell_of(bodies_.group_key[g]), [&](std::uint64_t key, Shift shift) {
        images.push_back({key, {bodies_.group_begin[g], bodies_.group_begin[g + 1], shift}});
      });
    std::sort(images.begin(), images.end(), [](const Image& a, const Image& b) { return a.key < b.key; });
    const std::size_t count = bodies_.groups + images.size();
    keys_.reset(count + 1);
    images_.reset(count);
    std::size_t g = 0;
    std::size_t i = 0;
    for (std::size_t k = 0; k < count; ++k) {
      // An image's key is never that of a cell inside the box.
      if (i == images.size() || bodies_.group_key[g] < images[i].key) {
        keys_[k] = bodies_.group_key[g];
        images_[k] = {bodies_.group_begin[g], bodies_.group_begin[g + 1], {}};
        ++g;
      } else {
        keys_[k] = images[i].key;
        images_[k] = images[i].cell;
        ++i;
      }
    }
    keys_[count] = bodies_.group_key[bodies_.groups];
    cells_ = {keys_.data(), nullptr, images_.data(), count};
  }

  // Images of a cell within the padding that the stencil reaches: radius cells beyond each periodic border.
  template <class F>
  void for_each_image(const std::array<std::int64_t, 3>& cell, F&& f) const {
    std::array<int, 3> least{};
    std::array<int, 3> most{};
    for (std::size_t a = 0; a < 3; ++a) {
      const Axis& axis = grid_.axis[a];
      if (!axis.periodic) continue;
      while (cell[a] + (least[a] - 1) * axis.cells >= -axis.radius) --least[a];
      while (cell[a] + (most[a] + 1) * axis.cells < axis.cells + axis.radius) ++most[a];
    }
    for (int z = least[2]; z <= most[2]; ++z)
      for (int y = least[1]; y <= most[1]; ++y)
        for (int x = least[0]; x <= most[0]; ++x) {
          if (x == 0 && y == 0 && z == 0) continue;
          const std::array<std::int64_t, 3> at{cell[0] + x * grid_.axis[0].cells, cell[1] + y * grid_.axis[1].cells,
                                               cell[2] + z * grid_.axis[2].cells};
          f(grid_.key(at),
            Shift{static_cast<std::int16_t>(x), static_cast<std::int16_t>(y), static_cast<std::int16_t>(z)});
        }
  }

  // The first cell whose key is not below this one, from cell `f` on, which is not behind it. It is one of the next
  // cells if there are as many queries as bodies; otherwise the steps get longer.
  [[nodiscard]] std::size_t first_cell_from(std::uint64_t key, std::size_t f) const {
    constexpr std::size_t nearby = 16;
    const std::uint64_t* const keys = cells_.key;
    const std::size_t last = std::min(f + nearby, cells_.count);
    while (f < last && keys[f] < key) ++f;
    if (keys[f] >= key) return f;  // the key behind the last cell is greater than all others
    std::size_t step = nearby;
    while (f + step < cells_.count && keys[f + step] < key) {
      f += step;
      step *= 2;
    }
    const std::size_t end = std::min(f + step, cells_.count);
    return static_cast<std::size_t>(std::lower_bound(keys + f, keys + end, key) - keys);
  }

  // Cells from `f` up to key `last`; cells that are contiguous in memory become one range.
  void append_row(std::size_t f, std::uint64_t last, bool own_row, Mode mode, std::vector<Range>& ranges) const {
    bool open = false;
    std::size_t own = 0;
    for (; cells_.key[f] <= last; ++f) {
      const Cell cell = cells_[f];
      if (open && ranges.back().end == cell.begin && ranges.back().shift == cell.shift) {
        ranges.back().end = cell.end;
        continue;
      }
      ranges.push_back({cell.begin, cell.end, cell.shift});
      open = true;
      if (own_row && cell.shift == Shift{}) {
        // The run of cells that contains the own cell comes first; a later image starts another run.
        ranges.back().own = mode == Mode::half ? Own::after : Own::except;
        own = ranges.size() - 1;
      }
    }
    if (own > 0) std::swap(ranges[own], ranges[0]);
  }

  StructureSettings<T, D> settings_;
  int subdivision_ = 1;
  Grid grid_;
  Bodies<T, D> bodies_;
  Cells cells_;
  Buffer<std::uint64_t> keys_;  // of cells and their images, in a periodic box
  Buffer<Cell> images_;
  KeyTable table_;  // of the keys of cells
};

}  // namespace vicinal
