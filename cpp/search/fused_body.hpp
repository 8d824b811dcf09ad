// Definitions of fused.hpp; included only to instantiate them.
#pragma once

#include "search/fused.hpp"
#include "search/search_body.hpp"

namespace vicinal {

template <class T, int D>
void count_distances(Search<T, D>& search, const BodyView<T, D>* queries, std::span<const T> squares,
                     const Marks& of_queries, const Marks& of_bodies, std::span<std::int64_t> counts,
                     std::span<double> sums) {
  struct Done {
    Tally tally;
  };
  search.search(queries, Mode::half, true, [&](const Task<T, D>& task) {
    Histogram<T, D> histogram(task, squares, of_queries, of_bodies);
    return Done{counts.empty() ? histogram.sums(sums) : histogram.counts(counts)};
  });
}

template <class T, int D>
Components label_components(Search<T, D>& search) {
  return search.search(nullptr, Mode::half, false, [](const Task<T, D>& task) { return find_components(task); });
}

}  // namespace vicinal
