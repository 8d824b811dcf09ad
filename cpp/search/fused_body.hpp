// Definitions of fused.hpp; included only to instantiate them.
#pragma once

#include "search/fused.hpp"
#include "search/search_body.hpp"

namespace vicinal {

namespace detail {

// What a search without a result reports.
struct Done {
  Tally tally;
};

}  // namespace detail

template <class T, int D>
void count_distances(Search<T, D>& search, const BodyView<T, D>* queries, std::span<const T> squares,
                     const Marks& of_queries, const Marks& of_bodies, const PairFilter* filter,
                     std::span<std::int64_t> counts, std::span<double> sums) {
  const auto find = [&](const Task<T, D>& task) {
    Histogram<T, D> histogram(task, squares, of_queries, of_bodies);
    return detail::Done{counts.empty() ? histogram.sums(sums) : histogram.counts(counts)};
  };
  search.search(queries, Mode::half, true, find, filter);
}

template <class T, int D>
Components label_components(Search<T, D>& search, const PairFilter* filter) {
  const auto find = [](const Task<T, D>& task) { return find_components(task); };
  return search.search(nullptr, Mode::half, false, find, filter);
}

template <class T, int D>
void sum_function_by_query(Search<T, D>& search, const BodyView<T, D>* queries, const PairFunction& function,
                           const PairFilter* filter, std::span<double> sums) {
  const auto find = [&](const Task<T, D>& task) { return detail::Done{sum_by_query(task, function, sums)}; };
  search.search(queries, Mode::full, true, find, filter);
}

template <class T, int D>
void sum_function(Search<T, D>& search, const BodyView<T, D>* queries, const PairFunction& function,
                  const PairFilter* filter, std::span<ExactSum> sums) {
  const auto find = [&](const Task<T, D>& task) { return detail::Done{sum_pairs(task, function, sums)}; };
  search.search(queries, Mode::half, true, find, filter);
}

}  // namespace vicinal
