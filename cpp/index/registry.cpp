#include "index/registry.hpp"

#include <stdexcept>
#include <vector>

namespace vicinal {

namespace {

template <class T, int D>
struct Entry {
  std::string name;
  typename Registry<T, D>::Make make;
};

// A function, because structures are added before this unit may have been initialised.
template <class T, int D>
std::vector<Entry<T, D>>& entries() {
  static std::vector<Entry<T, D>> all;
  return all;
}

}  // namespace

template <class T, int D>
void Registry<T, D>::add(const char* name, Make make) {
  entries<T, D>().push_back({name, make});
}

template <class T, int D>
std::unique_ptr<Structure<T, D>> Registry<T, D>::make(const std::string& name,
                                                      const StructureSettings<T, D>& settings) {
  for (const Entry<T, D>& entry : entries<T, D>())
    if (entry.name == name) return entry.make(settings);
  throw std::invalid_argument("no structure is called '" + name + "'");
}

template class Registry<float, 2>;
template class Registry<float, 3>;
template class Registry<double, 2>;
template class Registry<double, 3>;

}  // namespace vicinal
