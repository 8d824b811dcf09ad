// The counts of a search with SpatialHash.
#pragma once

#include "index/counts.hpp"
#include "index/survey.hpp"

namespace vicinal {

template <int D>
Estimates estimate_spatial_hash(const Survey<D>& survey) {
  const auto work = survey.cell_work(survey.cell_edges(0, 1), 1);
  const double looks = work.blocks * Survey<D>::power(3);
  const double strangers = survey.width * looks / 4;  // from other cells: a bucket holds half a body
  return {{{},
           {{Count::call, 1},
            {Count::body, survey.bodies},
            {Count::sort, survey.sorting},
            {Count::block, work.blocks},
            {Count::image, work.images},
            {Count::look, looks},
            {Count::copy, work.copies + strangers},
            {Count::test, work.tests + strangers},
            {Count::pair, survey.pairs},
            {Count::doubt, survey.doubts},
            {Count::clamp, survey.clamped}},
           {}}};
}

}  // namespace vicinal
