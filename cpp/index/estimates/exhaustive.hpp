// The counts of a search with Exhaustive.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "index/counts.hpp"
#include "index/survey.hpp"

namespace vicinal {

template <int D>
Estimates estimate_exhaustive(const Survey<D>& survey) {
  constexpr double together = 32;  // queries of a block
  const double n = survey.bodies;
  // Images of the space, itself included, and the share of its bodies that a block reaches: of the queries of a block,
  // which are anywhere, the outermost are this close to the border.
  double seen = 1;
  double reached = 1;
  for (std::size_t a = 0; a < D; ++a) {
    const double period = survey.period[a];
    if (!(period > 0)) continue;
    seen *= 2 * std::floor(survey.reach[a] / period) + 3;
    reached *= 1 + 2 * (survey.reach[a] / period + 1 / together);
  }
  return {{{},
           {{Count::call, 1},
            {Count::body, n},
            {Count::copy, survey.width * n * n / together * seen / 2},
            {Count::test, survey.width * n * n * std::min(seen, reached) / 2},
            {Count::pair, survey.pairs},
            {Count::doubt, survey.doubts},
            {Count::clamp, survey.clamped}},
           {}}};
}

}  // namespace vicinal
