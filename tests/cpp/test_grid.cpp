// Cells and stencils: the stencil joins the cells of every pair.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "geometry/grid.hpp"
#include "geometry/morton.hpp"

namespace {

using namespace vicinal;

const check::Register open("on an open axis, neighbours are within the radius, far outside too", [] {
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> part(-0.2, 1.2);
  for (const double extent : {0.0, 1.0, 1e3, 1e12, 1e15, 1e290})
    for (const int subdivision : {1, 2, 3})
      for (const double reach : {1.0, 0.1, 1.0 / 3}) {
        const Axis axis = open_axis(-extent / 3, extent - extent / 3, 0.0, reach, subdivision, 0.0);
        check::that(axis.radius >= subdivision || axis.inverse == 0, "the radius covers the reach");
        for (int k = 0; k < 200; ++k) {
          const double x = -extent / 3 + part(rng) * extent;
          for (const double y : {x + reach, x - reach, std::nextafter(x, 1e308), x + 0.99 * reach}) {
            if (std::abs(y - x) > reach) continue;  // rounded away from x
            check::that(std::abs(axis.cell(x) - axis.cell(y)) <= axis.radius, "a neighbour is within the radius");
          }
          check::that(axis.cell(x) >= -(axis.radius + 1) && axis.cell(x) <= axis.cells + axis.radius,
                      "cells are bounded");
        }
      }
});

const check::Register around("a periodic axis has a whole number of cells, and its images return", [] {
  for (const double edge : {1.0, 0.7, 3.3, 1e6})
    for (const double reach : {0.1, 0.35, 0.7, 2.5}) {
      const Axis axis = periodic_axis(edge, reach, 1, 0.0, 1 << 20);
      check::that(axis.cells >= 1 && axis.cells <= 1 << 20, "at least one cell, at most 2^20");
      check::that(static_cast<double>(axis.radius) * edge / static_cast<double>(axis.cells) >= reach,
                  "the radius covers the reach");
      check::equal(axis.cell(0.0), std::int64_t{0}, "the cell of zero");
      check::equal(axis.cell(std::nextafter(edge, 0.0)), axis.cells - 1, "the cell below the edge");
      for (std::int64_t c = -3 * axis.cells; c < 3 * axis.cells; c += std::max<std::int64_t>(1, axis.cells / 7)) {
        std::int64_t inside = c;
        const int image = axis.enter(inside);
        check::that(inside >= 0 && inside < axis.cells, "a cell is moved into the box");
        check::equal(inside + image * axis.cells, c, "and its image leads back");
      }
    }
});

const check::Register folded("folding keeps the distances of cells within the radius, and others out of reach", [] {
  Axis axis;
  axis.inverse = 1;
  axis.radius = 2;
  axis.lowest = -0x1p40;
  axis.highest = 0x1p40;
  axis.lift = 0x1p41;
  axis.first = std::int64_t{1} << 41;
  const std::vector<std::int64_t> used{-1000000, -999999, 0, 2, 3, 9, 1000, 1 << 30};
  axis.fold(used);
  check::that(axis.cells < 60, "gaps are short");
  std::set<std::int64_t> queries;
  for (const std::int64_t c : used)
    for (std::int64_t step = -9; step <= 9; ++step) queries.insert(c + step);
  for (const std::int64_t q : queries)
    for (const std::int64_t c : used) {
      const std::int64_t before = q - c;
      const std::int64_t after = axis.cell(static_cast<double>(q) + 0.5) - axis.cell(static_cast<double>(c) + 0.5);
      if (std::abs(before) <= axis.radius) check::equal(after, before, "steps between cells within the radius");
      else check::that(std::abs(after) > axis.radius, "cells out of reach stay out of reach");
    }
});

struct Reach3 {
  std::array<double, 3> axis;
  bool round;
};

Grid cube(int subdivision, bool round) {
  Grid grid;
  for (Axis& axis : grid.axis) axis = open_axis(0, 10, 5, 1.0, subdivision, 0.0);
  grid.finish(Reach3{{1.0, 1.0, 1.0}, round});
  return grid;
}

const check::Register stencil("a stencil holds each cell and its opposite once, and every cell within reach", [] {
  for (const int subdivision : {1, 2, 3})
    for (const bool round : {false, true}) {
      const Grid grid = cube(subdivision, round);
      const double size = grid.axis[0].size();
      std::set<std::tuple<int, int, int>> cells, half;
      for (const StencilRow& row : grid.rows)
        for (int dx = -row.reach_x; dx <= row.reach_x; ++dx)
          check::that(cells.emplace(dx, row.dy, row.dz).second, "no cell occurs twice");
      for (const StencilRow& row : grid.half_rows())
        for (int dx = row.dy == 0 && row.dz == 0 ? 1 : -row.reach_x; dx <= row.reach_x; ++dx)
          half.emplace(dx, row.dy, row.dz);
      check::equal(2 * half.size() + 1, cells.size(), "cells of both halves and the own one");
      const int r = grid.axis[0].radius;
      for (int x = -r; x <= r; ++x)
        for (int y = -r; y <= r; ++y)
          for (int z = -r; z <= r; ++z) {
            double square = 0;
            for (const int step : {x, y, z}) square += std::pow(std::max(0, std::abs(step) - 1) * size, 2);
            if (square <= 1.0 || !round)
              check::that(cells.contains({x, y, z}), "a cell within reach is in the stencil");
            if (x != 0 || y != 0 || z != 0)
              check::that(!(half.contains({x, y, z}) && half.contains({-x, -y, -z})),
                          "each half has one of two opposite cells");
          }
      check::that(!round || subdivision < 3 || cells.size() < static_cast<std::size_t>(std::pow(2 * r + 1, 3)),
                  "corners out of reach are left out");
    }
});

const check::Register keys("keys and cells are converted into each other, and the branchless key is the same", [] {
  const Grid grid = cube(2, true);
  const PlainKey<3> plain(grid);
  check::that(grid.plain(), "the grid is plain");
  std::mt19937_64 rng(4);
  std::uniform_real_distribution<double> anywhere(-5, 15);
  for (int k = 0; k < 5000; ++k) {
    const std::array<double, 3> x{anywhere(rng), anywhere(rng), anywhere(rng)};
    const std::array<std::int64_t, 3> cell{grid.axis[0].cell(x[0]), grid.axis[1].cell(x[1]), grid.axis[2].cell(x[2])};
    const std::uint64_t key = grid.key(cell);
    check::that(key < grid.keys, "keys are below the number of keys");
    check::that(grid.cell_of(key) == cell, "the cell of the key");
    check::equal(plain(x), key, "the branchless key");
  }
});

const check::Register curve("Morton codes interleave bits, the first axis highest", [] {
  check::equal(morton_code<3>({1, 0, 0}), std::uint64_t{4}, "x");
  check::equal(morton_code<3>({0, 1, 0}), std::uint64_t{2}, "y");
  check::equal(morton_code<3>({0, 0, 1}), std::uint64_t{1}, "z");
  check::equal(morton_code<2>({3, 0}), std::uint64_t{10}, "two bits of x");
  std::mt19937_64 rng(5);
  for (int k = 0; k < 5000; ++k) {
    const std::array<std::uint32_t, 3> cell{static_cast<std::uint32_t>(rng() >> 43),
                                            static_cast<std::uint32_t>(rng() >> 43),
                                            static_cast<std::uint32_t>(rng() >> 43)};
    std::uint64_t expected = 0;
    for (std::uint64_t bit = 0; bit < 21; ++bit)
      for (std::size_t a = 0; a < 3; ++a) expected |= (std::uint64_t{cell[a]} >> bit & 1U) << (3 * bit + 2 - a);
    check::equal(morton_code<3>(cell), expected, "a code bit by bit");
  }
});

}  // namespace
