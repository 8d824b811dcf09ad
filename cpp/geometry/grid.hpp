// A uniform grid: the cell of a coordinate, and the cells that can contain a neighbour.
//
// No pair is ever lost through rounding. Along one axis the cell of x is floor(t), t = fl(fl(x - origin) * inverse).
// (It is computed as trunc(fl(t + lift)), one more rounding of the same kind.) These operations are monotone, and each
// has a relative error below 2^-53, so for a pair (true distance <= reach)
//     |t_j - t_i| <= reach * inverse + slack,   slack = 4 * 2^-52 * max|t|,
// and the cells differ by at most radius = ceil(reach * inverse + slack). Clamping t keeps it monotone, so bodies far
// outside the grid may share its outermost cells without harm.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace vicinal {

struct Axis {
  double origin = 0;
  double inverse = 0;  // cells per unit of length; 0: one cell holds everything
  double lowest = 0;   // t is clamped to [lowest, highest] before it is rounded down
  double highest = 0;
  double lift = 0;         // a whole number that makes t positive, so that a cast to integer rounds down
  std::int64_t first = 0;  // the value of t + lift in the first cell
  std::int64_t cells = 1;
  int radius = 0;  // cells on either side that can contain a neighbour
  bool periodic = false;
  // Occupied cells of an axis with vast gaps, and their new numbers: see `fold`.
  std::vector<std::int64_t> occupied;
  std::vector<std::int64_t> folded;

  [[nodiscard]] double size() const { return inverse > 0 ? 1 / inverse : 0; }
  // Empty cells on either side: a query may be radius + 1 cells outside, and reaches another radius farther.
  [[nodiscard]] std::int64_t pad() const { return 2 * radius + 1; }
  [[nodiscard]] std::int64_t width() const { return cells + 2 * pad(); }

  [[nodiscard]] std::int64_t unfolded_cell(double x) const {
    if (inverse == 0) return 0;
    const double t = std::min(std::max((x - origin) * inverse, lowest), highest);
    return static_cast<std::int64_t>(t + lift) - first;
  }
  // In [-(radius + 1), cells + radius]; the two outermost are out of reach of all bodies.
  [[nodiscard]] std::int64_t cell(double x) const {
    const std::int64_t c = unfolded_cell(x);
    return occupied.empty() ? c : fold_of(c);
  }
  // Moves a cell number into the box and returns the image it was in; an open axis has only one.
  [[nodiscard]] std::int16_t enter(std::int64_t& c) const {
    if (!periodic) return 0;
    const std::int64_t image = (c >= 0 ? c : c - cells + 1) / cells;
    c -= image * cells;
    return static_cast<std::int16_t>(image);
  }

  // Renumbers the cells so that a gap of empty cells is only as wide as needed to separate its two sides. A stray body
  // at 1e15 then costs nothing: the bits of keys depend on the number of bodies, not on the extent of space.
  void fold(std::vector<std::int64_t> cells_in_use) {
    std::sort(cells_in_use.begin(), cells_in_use.end());
    cells_in_use.erase(std::unique(cells_in_use.begin(), cells_in_use.end()), cells_in_use.end());
    occupied = std::move(cells_in_use);
    folded.assign(occupied.size(), 0);
    // 2 radius + 2: a query in the gap can be out of reach of both sides.
    for (std::size_t k = 1; k < occupied.size(); ++k)
      folded[k] = folded[k - 1] + std::min<std::int64_t>(occupied[k] - occupied[k - 1], 2 * radius + 2);
    cells = folded.back() + 1;
  }

 private:
  [[nodiscard]] std::int64_t fold_of(std::int64_t c) const {
    const auto above = std::upper_bound(occupied.begin(), occupied.end(), c);
    if (above == occupied.begin()) return std::max<std::int64_t>(c - occupied.front(), -(radius + 1));
    const auto k = static_cast<std::size_t>(above - occupied.begin()) - 1;
    const std::int64_t past = c - occupied[k];
    if (past <= radius || above == occupied.end()) return folded[k] + std::min<std::int64_t>(past, radius + 1);
    const std::int64_t before = *above - c;
    return before <= radius ? folded[k + 1] - before : folded[k] + radius + 1;
  }
};

inline constexpr double rounding = 0x1p-52;
// Beyond this many cells the slack would be a significant part of a cell.
inline constexpr double most_cells = 0x1p44;

inline double slack_of(double cells) { return 4 * rounding * (cells + 64); }

// An axis over [low, high], cells at least `least` long and about reach / subdivision if that is longer.
// An axis too long for `most_cells` is resolved around `centre`, the position of most bodies.
inline Axis open_axis(double low, double high, double centre, double reach, int subdivision, double least) {
  Axis axis;
  const double extent = high - low;
  if (!(extent < 1e300) || !(reach < 1e300)) return axis;
  const double wish = std::max(reach / subdivision, least);
  const double slack = slack_of(std::min(extent / wish, most_cells));
  // Long enough that `radius` comes out as ceil(reach / wish), not one more because of rounding.
  const double whole = std::ceil(reach / wish * (1 - 1e-9));
  const double size = std::max(wish, reach / (whole - 2 * slack));
  axis.inverse = 1 / size;
  axis.radius = static_cast<int>(std::ceil(reach * axis.inverse + slack));
  if (extent / size < most_cells / 4) {
    axis.origin = low;
    axis.cells = static_cast<std::int64_t>(std::floor(extent * axis.inverse)) + 1;
    axis.first = axis.radius + 1;
    axis.lift = axis.radius + 1;
    axis.lowest = -axis.radius - 1;
    axis.highest = static_cast<double>(axis.cells) + axis.radius;
  } else {
    axis.origin = centre;
    axis.cells = static_cast<std::int64_t>(most_cells);
    axis.lift = most_cells / 2;
    axis.lowest = -most_cells / 2;
    axis.highest = most_cells / 2 - 1;
  }
  return axis;
}

// A periodic axis over [0, edge): a whole number of cells, at most `most`.
inline Axis periodic_axis(double edge, double reach, int subdivision, double least, std::int64_t most) {
  Axis axis;
  axis.periodic = true;
  const double wish = std::max(reach / subdivision, least);
  const double images = std::floor(reach / edge) + 3;
  const double count = std::min(edge / wish, static_cast<double>(most));
  const double slack = slack_of(count * images);
  axis.cells = std::max<std::int64_t>(1, static_cast<std::int64_t>(count * (1 - 2 * slack)));
  axis.inverse = static_cast<double>(axis.cells) / edge;
  axis.radius = static_cast<int>(std::ceil(reach * axis.inverse + slack));
  axis.lowest = 0;
  axis.highest = static_cast<double>(axis.cells) - 1;  // x just below the edge may round up to it
  return axis;
}

// The cells of one x-row around a body's own cell: (dy, dz) away, from -reach_x to +reach_x along x.
struct StencilRow {
  int dy, dz, reach_x;
};

// Three axes always; in 2D the third has one cell and radius 0.
struct Grid {
  std::array<Axis, 3> axis;
  std::array<std::uint64_t, 3> stride{};
  std::uint64_t keys = 0;  // all keys are below
  std::vector<StencilRow> rows;

  [[nodiscard]] bool periodic() const { return axis[0].periodic || axis[1].periodic || axis[2].periodic; }

  // Cells are padded by empty ones on each side, so that no row of the stencil runs into the next row.
  [[nodiscard]] std::uint64_t key(const std::array<std::int64_t, 3>& cell) const {
    std::uint64_t sum = 0;
    for (std::size_t a = 0; a < 3; ++a) sum += static_cast<std::uint64_t>(cell[a] + axis[a].pad()) * stride[a];
    return sum;
  }
  [[nodiscard]] std::array<std::int64_t, 3> cell_of(std::uint64_t key) const {
    std::array<std::int64_t, 3> cell{};
    cell[2] = static_cast<std::int64_t>(key / stride[2]);
    const std::uint64_t rest = key % stride[2];
    cell[1] = static_cast<std::int64_t>(rest / stride[1]);
    cell[0] = static_cast<std::int64_t>(rest % stride[1]);
    for (std::size_t a = 0; a < 3; ++a) cell[a] -= axis[a].pad();
    return cell;
  }
  [[nodiscard]] std::int64_t key_step(const StencilRow& row) const {
    return row.dy * static_cast<std::int64_t>(stride[1]) + row.dz * static_cast<std::int64_t>(stride[2]);
  }

  // No axis is folded or too long to have cells: the key is a plain polynomial of the coordinates.
  [[nodiscard]] bool plain() const {
    return std::all_of(axis.begin(), axis.end(), [](const Axis& a) { return a.occupied.empty(); });
  }

  // A double, because it is used to check whether the keys fit.
  [[nodiscard]] double padded_cells() const {
    double product = 1;
    for (const Axis& a : axis) product *= static_cast<double>(a.width());
    return product;
  }

  // `round`: the distance of a pair is within reach, not only its components.
  template <class Reach>
  void finish(const Reach& reach) {
    stride[0] = 1;
    stride[1] = static_cast<std::uint64_t>(axis[0].width());
    stride[2] = stride[1] * static_cast<std::uint64_t>(axis[1].width());
    keys = stride[2] * static_cast<std::uint64_t>(axis[2].width());
    // Onderik and Ďurikovič's (2008) H-mask: cells whose nearest corners are farther apart than the reach are left out.
    // In units of the reach, because its square may underflow.
    const auto gap = [&](std::size_t a, int step) {
      const double cells = std::max(0, std::abs(step) - 1);
      if (!reach.round || a >= reach.axis.size() || axis[a].inverse == 0) return 0.0;
      const double distance = cells / (axis[a].inverse * reach.axis[a]) * (1 - 1e-6);
      return distance * distance;
    };
    // The own row, then the rows above it, then the rows below: either of these halves finds every pair once.
    rows.assign(1, {0, 0, axis[0].radius});
    for (const int side : {1, -1})
      for (int dz = 0; dz <= axis[2].radius; ++dz)
        for (int dy = dz == 0 ? 1 : -axis[1].radius; dy <= axis[1].radius; ++dy) {
          int reach_x = axis[0].radius;
          while (reach_x >= 0 && gap(0, reach_x) + gap(1, dy) + gap(2, dz) > 1 + 1e-6) --reach_x;
          if (reach_x >= 0) rows.push_back({side * dy, side * dz, reach_x});
        }
  }
  [[nodiscard]] std::span<const StencilRow> half_rows() const { return std::span(rows).first(1 + rows.size() / 2); }
};

// grid.key of a point's cell without a branch, for a plain grid: the hot loop of sorting.
template <int D>
class PlainKey {
 public:
  explicit PlainKey(const Grid& grid) {
    for (std::size_t a = 0; a < D; ++a) {
      axis_[a] = {grid.axis[a].origin, grid.axis[a].inverse, grid.axis[a].lowest, grid.axis[a].highest,
                  grid.axis[a].lift};
      stride_[a] = static_cast<std::int64_t>(grid.stride[a]);
    }
    for (std::size_t a = 0; a < 3; ++a)
      base_ += (grid.axis[a].pad() - grid.axis[a].first) * static_cast<std::int64_t>(grid.stride[a]);
  }
  // The same arithmetic as Axis::unfolded_cell.
  std::uint64_t operator()(const std::array<double, D>& x) const {
    std::int64_t key = base_;
    for (std::size_t a = 0; a < D; ++a) {
      const auto& [origin, inverse, lowest, highest, lift] = axis_[a];
      const double t = std::min(std::max((x[a] - origin) * inverse, lowest), highest);
      key += static_cast<std::int64_t>(t + lift) * stride_[a];
    }
    return static_cast<std::uint64_t>(key);
  }

 private:
  struct Line {
    double origin, inverse, lowest, highest, lift;
  };
  std::array<Line, D> axis_{};
  std::array<std::int64_t, D> stride_{};
  std::int64_t base_ = 0;
};

}  // namespace vicinal
