// The counts of a search with Octree.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "index/cell_order.hpp"
#include "index/counts.hpp"
#include "index/survey.hpp"

namespace vicinal {

template <int D>
Estimates estimate_octree(const Survey<D>& survey) {
  constexpr double capacity = 32;  // of a leaf
  const double n = survey.bodies;
  const auto cell = survey.cell_edges(0, 1);    // the finest cells
  constexpr double deepest = D == 3 ? 21 : 31;  // so many bits has a key for each axis
  double depth = 0;
  for (std::size_t a = 0; a < D; ++a) depth = std::max(depth, std::ceil(std::log2(survey.bulk[a] / cell[a] + 1)));
  depth = std::min(depth, deepest);
  const bool counted = detail::counting_pays(std::exp2(D * depth), n);
  // Leaves are 2^side cells wide, for the largest side at which they are not too full. That is decided leaf by leaf:
  // `fits` is the share of the bodies whose cell of a side is not too full.
  typename Survey<D>::Work work{};
  double leaves = 1;  // empty ones included
  double left = 1;
  auto edges = cell;
  for (double side = 0; side <= depth; ++side) {
    auto twice = edges;
    for (std::size_t a = 0; a < D; ++a) twice[a] *= 2;
    const double edge = survey.mean(twice);
    const double full = (1 + survey.others(edge)) / capacity;
    const double fits = side < depth ? 1 / (1 + full * full * full) : 0;
    if (side < depth) leaves += (1 - fits) * survey.cells(edge) * (Survey<D>::power(2) - 1);
    const double share = left * (1 - fits);
    if (share > 0.01) {
      const auto part = survey.cell_work(edges, 1);
      work.blocks += share * part.blocks;
      work.images += share * part.images;
      work.copies += share * part.copies;
      work.tests += share * part.tests;
    }
    left *= fits;
    edges = twice;
  }
  return {{{},
           {{Count::call, 1},
            {Count::body, n},
            {Count::sort, survey.sorting},
            {Count::grid, counted ? std::exp2(D * depth) : 0},
            {Count::compare, counted ? 0 : n * std::log2(n)},
            {Count::leaf, leaves},
            {Count::block, work.blocks},
            {Count::image, work.images},
            {Count::copy, work.copies},
            {Count::test, work.tests},
            {Count::pair, survey.pairs},
            {Count::doubt, survey.doubts},
            {Count::clamp, survey.clamped}},
           {Count::body, Count::sort, Count::grid, Count::compare, Count::leaf}}};
}

}  // namespace vicinal
