// The counts of a search with BVH.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "index/counts.hpp"
#include "index/survey.hpp"

namespace vicinal {

namespace detail {

// Bodies of similar size along one Morton curve, and the edges of the boxes around a leaf and a twig of them.
template <int D>
struct CurveEstimate {
  double count;
  std::array<double, D> size;
  double leaf = 0, twig = 0;
};

// Bodies up to twice the median, then octaves; with their mean sizes.
template <int D>
std::vector<CurveEstimate<D>> curves_by_octaves(const Survey<D>& survey) {
  std::vector<CurveEstimate<D>> curves;
  for (const auto& group : survey.statistics.octaves) {
    const auto size = survey.extent_of(group);
    if (curves.empty() || curves[0].count >= survey.bodies / 2) {
      curves.push_back({group.count, size});
    } else {
      CurveEstimate<D>& small = curves[0];
      for (std::size_t a = 0; a < D; ++a)
        small.size[a] = (small.count * small.size[a] + group.count * size[a]) / (small.count + group.count);
      small.count += group.count;
    }
  }
  return curves;
}

}  // namespace detail

template <int D>
Estimates estimate_bvh(const Survey<D>& survey) {
  constexpr double leaf = 27, twig = 3.5;  // bodies in a leaf and in a twig, on average
  const double n = survey.bodies;
  std::vector<detail::CurveEstimate<D>> curves;
  if (survey.shape == Shape::point) curves.push_back({n, survey.reach});
  else curves = detail::curves_by_octaves(survey);
  for (auto& curve : curves) {
    // The bounding box of a few bodies is smaller than their share of the space.
    curve.leaf = survey.edge((leaf - 1) * n / curve.count) * (leaf - 1) / (leaf + 1);
    curve.twig = survey.edge((twig - 1) * n / curve.count) * (twig - 1) / (twig + 1);
  }
  double visits = 0;
  double copies = 0;
  double tests = 0;
  for (std::size_t low = 0; low < curves.size(); ++low)
    for (std::size_t high = low; high < curves.size(); ++high) {
      const auto& from = curves[low];
      const auto& into = curves[high];
      const double half = low == high ? 0.5 : 1;
      const double leaves = std::max(from.count / leaf, 1.0);
      const auto seen = [&](double size) {
        std::array<double, D> edges;
        for (std::size_t a = 0; a < D; ++a) edges[a] = from.leaf + from.size[a] + into.size[a] + size;
        return survey.around(edges) * into.count / n;
      };
      const double near = seen(into.twig);
      // The exact test leaves out candidates that no body of the leaf can reach.
      std::array<double, D> bounds;
      std::array<double, D> between;
      bounds.fill(from.leaf);
      for (std::size_t a = 0; a < D; ++a)
        between[a] = survey.shape == Shape::point ? survey.reach[a] : (from.size[a] + into.size[a]) / 2;
      const double tested = std::min(near, (survey.around_bounds(bounds, between) + 1) * into.count / n);
      visits += half * leaves * (seen(into.leaf) / leaf + 1);
      copies += half * leaves * near;
      tests += half * from.count * tested;
    }
  const double leaves = n / leaf;
  return {{{},
           {{Count::call, 1},
            {Count::body, n + 2 * survey.projected},
            {Count::sort, survey.sorting},
            {Count::leaf, leaves * std::log2(leaves + 2)},
            {Count::image, leaves * survey.images(survey.reach)},
            {Count::visit, visits},
            {Count::copy, survey.width * copies},
            {Count::test, survey.width * tests},
            {Count::pair, survey.pairs},
            {Count::doubt, survey.doubts},
            {Count::clamp, survey.clamped}},
           {Count::body, Count::sort, Count::leaf}}};
}

}  // namespace vicinal
