// Contacts of shapes other than spheres: with each other, with spheres, and with walls.
#include <algorithm>
#include <cmath>
#include <limits>

#include "dem/gjk.hpp"
#include "dem/world.hpp"
#include "mesh/closest.hpp"

namespace vicinal::dem {
namespace {

// Elements of a mesh contact that are closer together than this part of a body's radius are one.
constexpr double same_point = 1e-3;

Contact contact_of(const Connection& connection, double reach_first, double reach_second, Vec otherwise) {
  Contact contact;
  if (connection.distance > 0) {
    contact.normal = (1.0 / connection.distance) * (connection.second - connection.first);
    contact.overlap = reach_first + reach_second - connection.distance;
    // Half the overlap beyond the first surface, half beyond the second.
    contact.point = connection.first + (reach_first - 0.5 * contact.overlap) * contact.normal;
  } else {  // deeper than their rounding: the best that is known is the line of centres
    contact.normal = otherwise;
    contact.overlap = reach_first + reach_second;
  }
  return contact;
}

}  // namespace

const Shape& World::shape_of(std::size_t element) const {
  static const Shape ball;
  const std::int32_t number = bodies.shapes[elements.used() ? elements.owners[element] : element];
  if (number < 0) return ball;
  const Shape& shape = shapes[static_cast<std::size_t>(number)];
  return shape.kind == Shape::Kind::sphere ? ball : shape;
}

Posed World::posed(std::size_t element) const {
  const std::size_t body = elements.used() ? elements.owners[element] : element;
  return {&shape_of(element), centre(element_places()[element]), bodies.orientations[body]};
}

Contact World::pair_of(std::size_t i, std::size_t j) const {
  const Acting act = acting();
  const auto size = [&](std::size_t e) { return is_convex(e) ? shape_of(e).radius : act.places[e].r; };
  const double a = size(i), b = size(j);
  return {{}, {}, 0, 1.0 / (act.motions[i].w.inverse_mass + act.motions[j].w.inverse_mass), a * b / (a + b)};
}

Contact World::pair_contact(std::size_t i, std::size_t j, Vec guess) const {
  if (!is_convex(i) && !is_convex(j)) return sphere_contact(i, j);
  const Posed a = posed(i);
  Posed b = posed(j);
  const Vec apart = period.shortest(b.centre - a.centre);
  b.centre = a.centre + apart;
  const double distance = norm(apart);
  const Vec line = distance > 0 ? (1.0 / distance) * apart : Vec{1, 0, 0};
  const double reach_first = poses_[i].axis.margin, reach_second = poses_[j].axis.margin;
  const Connection connection = connect(a, b, dot(guess, guess) > 0 ? guess : line, reach_first + reach_second);
  Contact contact = contact_of(connection, reach_first, reach_second, line);
  if (connection.distance == 0) contact.point = a.centre + 0.5 * apart;
  const Contact both = pair_of(i, j);
  contact.mass = both.mass;
  contact.radius = both.radius;
  return contact;
}

Contact World::shape_on_surface(std::size_t row, const Wall& wall) const {
  const Posed body = posed(row);
  Nearest near;
  Vec deepest;
  const auto look = [&](Vec towards) {
    deepest = body.farthest(towards) + body.shape->margin * towards;
    near = nearest_of(wall, deepest);
  };
  near = nearest_of(wall, body.centre);
  if (wall.kind == WallKind::cylinder && !wall.inside) {
    // Outside a cylinder: the nearest pair of the body and the axis.
    const Vec axis = wall.facing, from = wall.base;
    const double along = dot(body.centre - from, axis), half = element_places()[row].r + wall.radius;
    const Face line{{from + (along - half) * axis, from + (along + half) * axis, from + (along + half) * axis}};
    const Connection connection = connect(body, line, near.normal, body.shape->margin + wall.radius);
    Contact contact = contact_of(connection, body.shape->margin, wall.radius, near.normal);
    contact.point = connection.second - wall.radius * contact.normal;
    return contact;
  }
  // A plane has one direction; in a cylinder the direction follows the point, and settles quickly while the body is
  // smaller than the cylinder.
  constexpr int rounds = 8;
  for (int round = 0; round < (wall.kind == WallKind::plane ? 1 : rounds); ++round) look(near.normal);
  Contact contact;
  contact.normal = near.normal;
  contact.overlap = -near.distance;
  contact.point = deepest + near.distance * near.normal;
  return contact;
}

void World::touch_mesh_by_shape(std::size_t row, std::size_t number, std::span<const std::size_t> entries,
                                std::vector<WallTouch>& touches) const {
  const Acting act = acting();
  const Posed body = posed(row);
  const Wall& wall = walls[number];
  const mesh::Surface surface = meshes[number].surface();
  const auto world = [&](const mesh::Vec3& p) { return wall.to_world({p.x, p.y, p.z}); };
  std::vector<WallTouch> found;
  std::vector<std::size_t> faces;
  for (const std::size_t k : entries) {
    const std::size_t face = primitives[wall_rows_.indices()[k]].face;
    const Face corners{
        {world(surface.corner(face, 0)), world(surface.corner(face, 1)), world(surface.corner(face, 2))}};
    const Vec middle = (1.0 / 3) * (corners.corners[0] + corners.corners[1] + corners.corners[2]);
    Connection connection = connect(body, corners, middle - body.centre, body.shape->margin);
    Contact contact = contact_of(connection, body.shape->margin, 0, middle - body.centre);
    if (connection.distance == 0 || contact.overlap <= 0) continue;
    contact.point = connection.second;
    contact.mass = 1.0 / act.motions[row].w.inverse_mass;
    contact.radius = body.shape->radius;
    found.push_back({k, number, contact});
  }
  std::sort(found.begin(), found.end(), [](const WallTouch& a, const WallTouch& b) {
    return a.contact.overlap > b.contact.overlap || (a.contact.overlap == b.contact.overlap && a.entry < b.entry);
  });
  // A contact that lies on a face touched more deeply is merely where its own triangle ends.
  const double tolerance = same_point * act.places[row].r;
  for (const WallTouch& touch : found) {
    const Vec at = wall.to_description(touch.contact.point);
    const bool known = std::any_of(faces.begin(), faces.end(), [&](std::size_t face) {
      return mesh::closest_point(surface, face, {at.x, at.y, at.z}).square <= tolerance * tolerance;
    });
    faces.push_back(primitives[wall_rows_.indices()[touch.entry]].face);
    if (!known) touches.push_back(touch);
  }
}

}  // namespace vicinal::dem
