// An infinite cylinder around the line through `point` along `direction`; bodies are inside or outside.
#pragma once

#include <cstddef>
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
  static constexpr bool gives_distance = false;  // the search for the deepest point is approximate

  static Nearest nearest(const Wall& wall, Vec p) {
    const Vec from = p - wall.base;
    const Vec radial = from - dot(from, wall.facing) * wall.facing;
    const double length = norm(radial);
    // On the axis the direction is arbitrary, since there is no contact.
    const Vec outward = length > 0 ? (1.0 / length) * radial : Vec{1, 0, 0};
    if (wall.inside) return {outward, wall.radius - length};
    return {-outward, length - wall.radius};
  }
  // The largest number of contacts with a convex body: a face inside a cylinder touches along two lines.
  static std::size_t contacts(const Wall& wall) { return wall.inside ? 2 : 1; }
  // Contact `number` with a body that is not a sphere. `radius` is that of its bounding sphere.
  static Contact contact(const Wall& wall, const Posed& body, double radius, std::size_t number) {
    return wall.inside ? from_inside(wall, body, radius, number) : from_outside(wall, body, radius);
  }
  // The feature of the wall at a contact: a line along the axis, longer than the body.
  static Feature feature(const Wall& wall, const Contact& contact, double radius) {
    const Vec along = 2 * radius * wall.facing;
    return Feature::edge(contact.point - along, contact.point + along);
  }

 private:
  // Two searches for the deepest point start from opposite sides of the body. If both find the same point, there is
  // only the first contact.
  static Contact from_inside(const Wall& wall, const Posed& body, double radius, std::size_t number) {
    constexpr double same = 0.05;  // relative to the radius of the sphere of equal volume
    const Vec across = cross(wall.facing, nearest(wall, body.frame.centre).normal);
    const Contact one = deepest_from(wall, body, -across), other = deepest_from(wall, body, across);
    // The two ends of an edge along the axis count as one contact.
    const Vec between = other.point - one.point, apart = between - dot(between, wall.facing) * wall.facing;
    const double least = same * body.shape->radius;
    const bool two = dot(apart, apart) > least * least;
    if (two) return number == 0 ? one : other;
    if (number == 0) return other.overlap > one.overlap ? other : one;
    return {one.point, one.normal, -radius};
  }
  // Fixed-point iteration: the direction points to the deepest point of the last round. It converges quickly if the
  // body is smaller than the cylinder.
  static Contact deepest_from(const Wall& wall, const Posed& body, Vec start) {
    constexpr int rounds = 8;
    Nearest near = nearest(wall, body.farthest(start));
    Vec deepest;
    for (int round = 0; round < rounds; ++round) {
      const Vec before = near.normal;
      deepest = body.farthest(near.normal) + body.shape->margin * near.normal;
      near = nearest(wall, deepest);
      const Vec turned = near.normal - before;
      if (dot(turned, turned) == 0) break;
    }
    return {deepest + near.distance * near.normal, near.normal, -near.distance};
  }
  // From the shortest connection of the body and the axis.
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
