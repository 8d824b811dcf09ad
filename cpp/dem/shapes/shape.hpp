// The types that kinds of shapes are built from.
//
// A convex shape is the Minkowski sum of a core and a ball that rounds it off. A core provides its farthest point in
// any direction. As long as two cores do not meet, their shortest connection determines normal, overlap and point of
// the contact. A kind of shape is a struct in its own file (tablet.hpp is an example) with the members that the concept
// `ShapeKind` in kinds.hpp requires.
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

// Position and orientation of a shape.
struct ShapePose {
  Vec centre;
  Quat turned;
  Vec axis;  // z of the shape
  ShapePose(Vec at, Quat by) : centre(at), turned(by), axis(axes_of(by).z) {}
};

}  // namespace vicinal::dem
