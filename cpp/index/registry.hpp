// Structures by name. CMakeLists.txt generates one translation unit per structure, which adds it for all dtypes and
// dimensions.
#pragma once

#include <memory>
#include <string>

#include "index/in_lattice.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class Registry {
 public:
  using Make = std::unique_ptr<Structure<T, D>> (*)(const StructureSettings<T, D>&);

  static void add(const char* name, Make make);
  static std::unique_ptr<Structure<T, D>> make(const std::string& name, const StructureSettings<T, D>& settings);
};

// A namespace-scope object of this type registers structure S. A structure that reads positions only by
// Bodies::place_of, which returns lattice coordinates, says so by `takes_tilted_cells`; others are put into a lattice.
template <template <class, int> class S, class T, int D>
struct Registered {
  explicit Registered(const char* name) {
    Registry<T, D>::add(name, [](const StructureSettings<T, D>& settings) -> std::unique_ptr<Structure<T, D>> {
      if constexpr (!requires { S<T, D>::takes_tilted_cells; })
        if (settings.box.tilted) return std::make_unique<InLattice<T, D>>(settings, &make);
      return make(settings);
    });
  }

 private:
  static std::unique_ptr<Structure<T, D>> make(const StructureSettings<T, D>& settings) {
    return std::make_unique<S<T, D>>(settings);
  }
};

}  // namespace vicinal
