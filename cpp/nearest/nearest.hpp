// The k nearest points of every query. Defined in find_nearest.hpp, compiled once per dtype and dimension
// (CMakeLists.txt).
#pragma once

#include <cstddef>

#include "exec/memory.hpp"
#include "nearest/tree.hpp"

namespace vicinal {

// Rows of k distances and k numbers, one row per query.
struct NearestResult {
  Region distances, ids;
  std::size_t rows = 0;
};

// `queries` may be null: the points of the tree among themselves, none of which is its own neighbour. The cutoff may be
// infinite; where there are fewer than k points within it, distances are infinite and numbers -1.
template <class T, int D>
NearestResult find_nearest(const NearestTree<T, D>& tree, const BodyView<T, D>* queries, std::size_t k, T cutoff);

}  // namespace vicinal
