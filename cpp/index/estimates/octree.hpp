// The counts of a search with Octree.
#pragma once

#include "index/counts.hpp"
#include "index/survey.hpp"

namespace vicinal {

template <int D>
Estimates estimate_octree(const Survey<D>& survey) {
  constexpr double leaf = 11;  // bodies in a leaf, on average
  const auto work = survey.cell_work(survey.cell_edges(survey.edge(leaf - 1), 1), 1);
  return {{{},
           {{Count::call, 1},
            {Count::body, survey.bodies},
            {Count::sort, survey.sorting},
            {Count::block, work.blocks},
            {Count::image, work.images},
            {Count::copy, work.copies},
            {Count::test, work.tests},
            {Count::pair, survey.pairs}},
           {Count::body, Count::sort}}};
}

}  // namespace vicinal
