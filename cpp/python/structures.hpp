// Every structure Python can ask for, by name. A new one is one include and one line.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "index/cell_sorting.hpp"
#include "index/exhaustive.hpp"
#include "index/linked_cells.hpp"
#include "python/engine.hpp"

namespace vicinal {

template <class T, int D>
std::map<std::string, typename Engine<T, D>::Make> structures() {
  const auto make = []<class S>(std::type_identity<S>) -> typename Engine<T, D>::Make {
    return [](const Settings<T, D>& settings) { return AnyIndex<T, D>(std::make_unique<S>(settings)); };
  };
  return {
      {"Exhaustive", make(std::type_identity<Exhaustive<T, D>>{})},
      {"LinkedCells", make(std::type_identity<LinkedCells<T, D>>{})},
      {"CellSorting", make(std::type_identity<CellSorting<T, D>>{})},
  };
}

template <class T, int D>
typename Engine<T, D>::Make structure(const std::string& name) {
  const auto all = structures<T, D>();
  const auto found = all.find(name);
  if (found == all.end()) throw std::invalid_argument("no structure is called '" + name + "'");
  return found->second;
}

}  // namespace vicinal
