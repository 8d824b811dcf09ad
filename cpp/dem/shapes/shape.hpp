// The parts of which kinds of shapes are built.
//
// A convex shape is a core, of which the farthest point in any direction is known, and a ball that rounds it off.
// Rounding makes contacts well behaved: as long as cores do not meet, there is a shortest connection of them, and it
// gives normal, overlap and point of the contact. A kind of shape is a struct in a file of its own (tablet.hpp is an
// example) with the members that the concept `ShapeKind` in kinds.hpp lists.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/feature.hpp"
#include "dem/surface_parts.hpp"
#include "dem/vec.hpp"

namespace vicinal::dem {

// The description of a shape: numbers and lists of vectors by name, in the frame of the principal axes.
struct ShapeValues {
  std::map<std::string, double, std::less<>> numbers;
  std::map<std::string, std::vector<Vec>, std::less<>> vectors;

  [[nodiscard]] double number(std::string_view name) const { return at(numbers, name); }
  [[nodiscard]] const std::vector<Vec>& list(std::string_view name) const { return at(vectors, name); }

 private:
  template <class Map>
  static const typename Map::mapped_type& at(const Map& map, std::string_view name) {
    const auto it = map.find(name);
    if (it == map.end()) throw std::invalid_argument("a shape of this kind must have " + std::string(name));
    return it->second;
  }
};

// Where a shape is and how it is turned.
struct Frame {
  Vec centre;
  Quat turned;
  Vec axis;  // z of the shape
  Frame(Vec at, Quat by) : centre(at), turned(by), axis(rotate(by, {0, 0, 1})) {}
};

}  // namespace vicinal::dem
