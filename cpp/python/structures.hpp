// Every structure Python can ask for, by name. A new one is one include and one line.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "index/bvh.hpp"
#include "index/cell_sorting.hpp"
#include "index/delaunay.hpp"
#include "index/exhaustive.hpp"
#include "index/hash_grid.hpp"
#include "index/index.hpp"
#include "index/linked_cells.hpp"
#include "index/octree.hpp"
#include "index/spatial_hash.hpp"
#include "index/sweep_and_prune.hpp"

namespace vicinal {

template <class T, int D>
AnyIndex<T, D> make_structure(const std::string& name, const Settings<T, D>& settings) {
  using Make = std::function<AnyIndex<T, D>(const Settings<T, D>&)>;
  const auto make = []<class S>(std::type_identity<S>) -> Make {
    return [](const Settings<T, D>& given) { return AnyIndex<T, D>(std::make_unique<S>(given)); };
  };
  std::map<std::string, Make> structures{
      {"BVH", make(std::type_identity<BVH<T, D>>{})},
      {"CellSorting", make(std::type_identity<CellSorting<T, D>>{})},
      {"Exhaustive", make(std::type_identity<Exhaustive<T, D>>{})},
      {"HashGrid", make(std::type_identity<HashGrid<T, D>>{})},
      {"LinkedCells", make(std::type_identity<LinkedCells<T, D>>{})},
      {"Octree", make(std::type_identity<Octree<T, D>>{})},
      {"SpatialHash", make(std::type_identity<SpatialHash<T, D>>{})},
      {"SweepAndPrune", make(std::type_identity<SweepAndPrune<T, D>>{})},
  };
  if constexpr (D == 2) structures.emplace("Delaunay", make(std::type_identity<Delaunay<T, D>>{}));
  const auto found = structures.find(name);
  if (found == structures.end()) throw std::invalid_argument("no structure is called '" + name + "'");
  return found->second(settings);
}

}  // namespace vicinal
