// The structures that can be chosen, with their estimates. A new one is one include and one line.
#pragma once

#include <array>
#include <string_view>

#include "index/counts.hpp"
#include "index/estimates/bvh.hpp"
#include "index/estimates/cell_sorting.hpp"
#include "index/estimates/exhaustive.hpp"
#include "index/estimates/hash_grid.hpp"
#include "index/estimates/linked_cells.hpp"
#include "index/estimates/octree.hpp"
#include "index/estimates/spatial_hash.hpp"
#include "index/estimates/sweep_and_prune.hpp"
#include "index/survey.hpp"

namespace vicinal {

template <int D>
struct Estimator {
  std::string_view structure;
  Estimates (*estimate)(const Survey<D>&);
};

template <int D>
inline constexpr std::array<Estimator<D>, 8> estimators = {{
    {"BVH", estimate_bvh<D>},
    {"CellSorting", estimate_cell_sorting<D>},
    {"Exhaustive", estimate_exhaustive<D>},
    {"HashGrid", estimate_hash_grid<D>},
    {"LinkedCells", estimate_linked_cells<D>},
    {"Octree", estimate_octree<D>},
    {"SpatialHash", estimate_spatial_hash<D>},
    {"SweepAndPrune", estimate_sweep_and_prune<D>},
}};

}  // namespace vicinal
