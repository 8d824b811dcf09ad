// The counts of a search with Exhaustive.
#pragma once

#include <cmath>
#include <cstddef>

#include "index/counts.hpp"
#include "index/survey.hpp"

namespace vicinal {

template <int D>
Estimates estimate_exhaustive(const Survey<D>& survey) {
  double seen = 1;  // images of the space, itself included
  for (std::size_t a = 0; a < D; ++a)
    if (survey.period[a] > 0) seen *= 2 * std::floor(survey.reach[a] / survey.period[a]) + 3;
  const double n = survey.bodies;
  return {{{},
           {{Count::call, 1},
            {Count::body, n},
            {Count::test, survey.width * n * n * seen / 2},
            {Count::pair, survey.pairs}},
           {}}};
}

}  // namespace vicinal
