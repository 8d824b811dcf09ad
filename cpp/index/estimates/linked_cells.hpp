// The counts of a search with LinkedCells.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "index/counts.hpp"
#include "index/survey.hpp"

namespace vicinal {

template <int D>
Estimates estimate_linked_cells(const Survey<D>& survey) {
  constexpr double cached_cells = 1 << 17;  // looking up cells of a larger grid takes longer
  constexpr double full_grid = 100;         // a grid of more cells per body is not worth its memory
  constexpr double shared = 20;             // most queries of a block of several cells
  const double n = survey.bodies;
  const double longest = *std::max_element(survey.reach.begin(), survey.reach.end());
  Estimates result;
  for (const double cell : {0.0, survey.edge(1.5), survey.edge(4), survey.edge(12), survey.edge(36)}) {
    if (cell > 0 && !(cell > 1.1 * longest)) continue;
    const auto edges = survey.cell_edges(cell, 1);
    double grid = D == 2 ? 3 : 1;
    for (std::size_t a = 0; a < D; ++a) grid *= survey.bulk[a] / edges[a] + 7;
    if (grid > std::min(survey.most_cells, full_grid * (n + 1e4))) continue;
    const auto work = survey.cell_work(edges, 1, shared);
    Estimate& one = result.emplace_back();
    if (cell > 0) one.parameter = {"cell", cell};
    one.counts = {{Count::call, 1},
                  {Count::body, n},
                  {Count::sort, survey.sorting},
                  {Count::grid, grid},
                  {Count::fresh, std::max(grid - cached_cells, 0.0)},
                  {Count::block, work.blocks},
                  {Count::image, work.images},
                  {Count::row, work.rows},
                  {Count::far, work.rows * std::clamp(std::log2(grid / cached_cells), 0.0, 4.0)},
                  {Count::copy, work.copies},
                  {Count::test, work.tests},
                  {Count::pair, survey.pairs},
                  {Count::doubt, survey.doubts},
                  {Count::clamp, survey.clamped}};
  }
  return result;
}

}  // namespace vicinal
