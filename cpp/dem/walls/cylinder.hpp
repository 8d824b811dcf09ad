// An infinite cylinder around the line through `point` along `direction`; bodies are inside or outside.
#pragma once

#include <string_view>

#include "dem/connection_contact.hpp"
#include "dem/contact.hpp"
#include "dem/face.hpp"
#include "dem/gjk.hpp"
#include "dem/shapes/kinds.hpp"
#include "dem/walls.hpp"

namespace vicinal::dem {

struct CylinderWall {
  static constexpr std::string_view name = "cylinder";

  static Nearest nearest(const Wall& wall, Vec p) {
    const Vec from = p - wall.base;
    const Vec radial = from - dot(from, wall.facing) * wall.facing;
    const double length = norm(radial);
    // On the axis any direction will do: there is no contact.
    const Vec outward = length > 0 ? (1.0 / length) * radial : Vec{1, 0, 0};
    if (wall.inside) return {outward, wall.radius - length};
    return {-outward, length - wall.radius};
  }
  // Of a body that is not a sphere; `radius`: of the sphere around it.
  static Contact contact(const Wall& wall, const Posed& body, double radius) {
    return wall.inside ? from_inside(wall, body) : from_outside(wall, body, radius);
  }
  // What a contact meets: a line along the axis, longer than the body.
  static Feature feature(const Wall& wall, const Contact& contact, double radius) {
    const Vec along = 2 * radius * wall.facing;
    return Feature::edge(contact.point - along, contact.point + along);
  }

 private:
  // The direction follows the deepest point, and converges quickly while the body is smaller than the cylinder.
  static Contact from_inside(const Wall& wall, const Posed& body) {
    constexpr int rounds = 8;
    Nearest near = nearest(wall, body.frame.centre);
    Vec deepest;
    for (int round = 0; round < rounds; ++round) {
      deepest = body.farthest(near.normal) + body.shape->margin * near.normal;
      near = nearest(wall, deepest);
    }
    return {deepest + near.distance * near.normal, near.normal, -near.distance};
  }
  // The shortest connection of the body and the axis.
  static Contact from_outside(const Wall& wall, const Posed& body, double radius) {
    const Vec axis = wall.facing, from = wall.base, guess = nearest(wall, body.frame.centre).normal;
    const double along = dot(body.frame.centre - from, axis), half = radius + wall.radius;
    const Face line{{from + (along - half) * axis, from + (along + half) * axis, from + (along + half) * axis}};
    const double reach = body.shape->margin + wall.radius;
    const Connection connection = body.with_core([&](const auto& core) { return connect(core, line, guess, reach); });
    Contact contact = contact_of(connection, body.shape->margin, wall.radius, guess);
    contact.point = connection.second - wall.radius * contact.normal;
    return contact;
  }
};

}  // namespace vicinal::dem
