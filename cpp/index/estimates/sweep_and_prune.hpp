// The counts of a search with SweepAndPrune.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "index/counts.hpp"
#include "index/survey.hpp"

namespace vicinal {

namespace detail {

// How far bodies reach across a border: the mean body, and the largest one that is likely to be there.
template <int D>
std::array<double, D> sticking_out(const Survey<D>& survey) {
  if (survey.shape == Shape::point) return survey.reach;
  std::array<double, D> edges{};
  for (std::size_t a = 0; a < D; ++a) {
    const double part = survey.shape == Shape::sphere ? 1 : 0.5;
    for (const auto& group : survey.statistics.octaves)
      if (group.count * part * group.edge[a] > survey.period[a]) edges[a] = part * group.edge[a];
    edges[a] += survey.statistics.mean_edge[a] / 2;
  }
  return edges;
}

}  // namespace detail

template <int D>
Estimates estimate_sweep_and_prune(const Survey<D>& survey) {
  const double n = survey.bodies;
  const Statistics<D>& statistics = survey.statistics;
  // The number of bodies that begin within the extent of a body, along the axis where it is smallest.
  double slab = n;
  double spread = 0;
  for (std::size_t a = 0; a < D; ++a) {
    const double beside = n * statistics.beside[a];
    double begin = beside * (survey.shape == Shape::point ? survey.reach[a] : statistics.mean_edge[a]);
    if (survey.shape == Shape::sphere) {
      begin = 0;  // by sizes: a giant overlaps at most all other bodies
      for (const auto& group : statistics.octaves)
        begin += group.count / n * std::min(n, beside * survey.extent_of(group)[a]);
    }
    if (begin >= slab) continue;
    slab = begin;
    spread = beside * statistics.edge_spread[a];
  }
  // Adjacent bodies are searched together while that adds few tests; longer bodies among them add some.
  const double together = std::clamp((16 + slab / 4) / (1 + spread / 8), 1.5, 64.0);
  const double blocks = n / together;
  // One of two opposite images is searched, for each body that reaches it.
  const double aside = survey.periodic ? n * survey.images(detail::sticking_out(survey)) / 2 : 0;
  double shifts = 1;
  for (std::size_t a = 0; a < D; ++a)
    if (survey.period[a] > 0) shifts *= 2 * std::floor(survey.reach[a] / survey.period[a]) + 3;
  Estimate result{{},
                  {{Count::call, 1},
                   {Count::body, n + 2 * survey.projected},
                   {Count::sort, survey.sorting},
                   {Count::block, blocks},
                   {Count::image, aside},
                   {Count::look, n * (shifts - 1) / 2},
                   {Count::copy, survey.width * (blocks * (slab + together) + 2 * aside * slab)},
                   {Count::test, survey.width * (n * (slab + together / 2) + 2 * aside * slab)},
                   {Count::pair, survey.pairs},
                   {Count::doubt, survey.doubts},
                   {Count::clamp, survey.clamped}},
                  {}};
  // In open space overlaps along every axis are kept, and pairs follow from them; a periodic box is swept in every
  // step.
  if (!survey.periodic)
    result.kept = {Count::body, Count::sort, Count::block, Count::image, Count::look, Count::copy, Count::test};
  return {result};
}

}  // namespace vicinal
