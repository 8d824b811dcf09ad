// A plane. `direction` is its normal, which points to the side of the bodies.
#pragma once

#include <cstddef>
#include <string_view>

#include "dem/contact.hpp"
#include "dem/shapes/kinds.hpp"
#include "dem/walls.hpp"

namespace vicinal::dem {

struct PlaneWall {
  static constexpr std::string_view name = "plane";
  static constexpr bool gives_distance = true;  // see kinds.hpp

  static Nearest nearest(const Wall& wall, Vec p) { return {-wall.facing, dot(wall.facing, p - wall.base)}; }
  // The largest number of contacts with a convex body.
  static std::size_t contacts(const Wall& /*wall*/) { return 1; }
  // The contact with a body that is not a sphere.
  static Contact contact(const Wall& wall, const Posed& body, double /*radius*/, std::size_t /*number*/) {
    const Vec towards = -wall.facing;
    const Vec deepest = body.farthest(towards) + body.shape->margin * towards;
    const Nearest near = nearest(wall, deepest);
    return {deepest + near.distance * near.normal, near.normal, -near.distance};
  }
  // The feature of the wall at a contact.
  static Feature feature(const Wall& wall, const Contact& /*contact*/, double /*radius*/) {
    return Feature::plane(wall.facing);
  }
};

}  // namespace vicinal::dem
