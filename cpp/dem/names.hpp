// Names of laws, walls and shapes.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace vicinal::dem {

// The position of a name in a list. Throws std::invalid_argument, which lists all names, if it is not there.
inline std::size_t place_of(std::string_view name, std::span<const std::string_view> names, std::string_view what) {
  std::string all;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k] == name) return k;
    all += (k == 0 ? "" : ", ") + std::string(names[k]);
  }
  throw std::invalid_argument(std::string(what) + " must be one of " + all + ", got '" + std::string(name) + "'");
}

}  // namespace vicinal::dem
