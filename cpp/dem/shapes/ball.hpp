// Spheres, alone or as part of a clump: a ball around a point.
#pragma once

#include <string_view>

#include "dem/shapes/shape.hpp"

namespace vicinal::dem {

struct Ball {
  static constexpr std::string_view name = "clump";

  static Ball make(const ShapeValues& /*values*/) { return {}; }  // radii belong to elements
  [[nodiscard]] Vec farthest(const ShapePose& at, Vec /*d*/) const { return at.centre; }
  [[nodiscard]] SurfacePart part(const ShapePose& at, Vec /*d*/) const {
    return {SurfacePart::Kind::ball, at.centre, 0, {}, 0};
  }
  [[nodiscard]] Feature feature(const ShapePose& at, Vec /*d*/) const { return Feature::point(at.centre); }
  [[nodiscard]] TabletCore core() const { return {}; }
};

}  // namespace vicinal::dem
