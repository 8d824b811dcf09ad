// The counts of a search with CellSorting.
#pragma once

#include <cmath>
#include <cstddef>

#include "index/cell_order.hpp"
#include "index/counts.hpp"
#include "index/survey.hpp"

namespace vicinal {

template <int D>
Estimates estimate_cell_sorting(const Survey<D>& survey) {
  const double n = survey.bodies;
  Estimates result;
  for (const int parts : {1, 2}) {
    const auto edges = survey.cell_edges(0, parts);
    if (parts == 2 && survey.others(2 * survey.mean(edges)) < 4) break;
    const auto work = survey.cell_work(edges, parts);
    double grid = 1;
    for (std::size_t a = 0; a < D; ++a) grid *= survey.bulk[a] / edges[a] + 1;
    const bool counted = detail::counting_pays(grid, n);
    Estimate& one = result.emplace_back();
    if (parts > 1) one.parameter = {"h_mask", std::int64_t{parts}};
    one.counts = {{Count::call, 1},
                  {Count::body, n},
                  {Count::sort, survey.sorting},
                  {Count::grid, counted ? grid : 0},
                  {Count::compare, counted ? 0 : n * std::log2(n)},
                  {Count::block, work.blocks},
                  {Count::image, work.images},
                  {Count::row, work.rows},
                  {Count::copy, work.copies},
                  {Count::test, work.tests},
                  {Count::pair, survey.pairs},
                  {Count::doubt, survey.doubts},
                  {Count::clamp, survey.clamped}};
  }
  return result;
}

}  // namespace vicinal
