// Searches whose pairs are used at once and never stored. Defined in fused_body.hpp, compiled once per dtype and
// dimension (CMakeLists.txt).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "pairs/components.hpp"
#include "pairs/histogram.hpp"
#include "pairs/pair_sums.hpp"
#include "search/search.hpp"

namespace vicinal {

// Counts of pairs by squared distance; `squares` are the squared edges of the bins. See pairs/histogram.hpp. `queries`
// and `filter` may be null. Exactly one of `counts` and `sums` (of products of weights) is not empty.
template <class T, int D>
void count_distances(Search<T, D>& search, const BodyView<T, D>* queries, std::span<const T> squares,
                     const Marks& of_queries, const Marks& of_bodies, const PairFilter* filter,
                     std::span<std::int64_t> counts, std::span<double> sums);

// Connected components of the bodies. See pairs/components.hpp.
template <class T, int D>
Components label_components(Search<T, D>& search, const PairFilter* filter);

// Sums of a function over the pairs of every body or query, and over all pairs. See pairs/pair_sums.hpp. `queries` and
// `filter` may be null.
template <class T, int D>
void sum_function_by_query(Search<T, D>& search, const BodyView<T, D>* queries, const PairFunction& function,
                           const PairFilter* filter, std::span<double> sums);
template <class T, int D>
void sum_function(Search<T, D>& search, const BodyView<T, D>* queries, const PairFunction& function,
                  const PairFilter* filter, std::span<ExactSum> sums);

}  // namespace vicinal
