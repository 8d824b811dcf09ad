// Contacts of two elements, and of an element with a plane or cylinder.
#include <algorithm>
#include <cmath>

#include "dem/assembly.hpp"
#include "dem/connection_contact.hpp"
#include "dem/gjk.hpp"
#include "dem/walls/kinds.hpp"

namespace vicinal::dem {

Contact Assembly::pair_of(std::size_t i, std::size_t j) const {
  const Acting act = acting();
  const double a = sizes_[i], b = sizes_[j];
  return {{}, {}, 0, 1.0 / (act.motions[i].w.inverse_mass + act.motions[j].w.inverse_mass), a * b / (a + b)};
}

Contact Assembly::sphere_contact(std::size_t i, std::size_t j) const {
  const Acting act = acting();
  const Place &a = act.places[i], &b = act.places[j];
  const Vec apart = period.shortest(centre(b) - centre(a));
  const double distance = norm(apart), overlap = (a.r + b.r) - distance;
  const Vec normal = (1.0 / distance) * apart;
  return {centre(a) + (a.r - 0.5 * overlap) * normal, normal, overlap,
          1.0 / (act.motions[i].w.inverse_mass + act.motions[j].w.inverse_mass), a.r * b.r / (a.r + b.r)};
}

Contact Assembly::pair_contact(std::size_t i, std::size_t j, Vec guess, double gap) const {
  if (!is_convex(i) && !is_convex(j)) return sphere_contact(i, j);
  const Posed a = posed(i);
  Posed b = posed(j);
  const Vec apart = period.shortest(b.frame.centre - a.frame.centre);
  b.frame.centre = a.frame.centre + apart;
  const double distance = norm(apart);
  const Vec line = distance > 0 ? (1.0 / distance) * apart : Vec{1, 0, 0};
  const double reach_first = poses_[i].axis.margin, reach_second = poses_[j].axis.margin;
  const Vec towards = dot(guess, guess) > 0 ? guess : line;
  const Connection connection = a.with_core([&](const auto& first) {
    return b.with_core(
        [&](const auto& second) { return connect(first, second, towards, reach_first + reach_second + gap); });
  });
  Contact contact = contact_of(connection, reach_first, reach_second, line);
  if (connection.distance == 0) contact.point = a.frame.centre + 0.5 * apart;
  const Contact both = pair_of(i, j);
  contact.mass = both.mass;
  contact.radius = both.radius;
  return contact;
}

double Assembly::gap_along(std::size_t i, std::size_t j, Vec normal) const {
  const Posed a = posed(i), b = posed(j);
  const Vec apart = period.shortest(b.frame.centre - a.frame.centre);
  const Vec from = a.farthest(normal) - a.frame.centre, to = b.farthest(-normal) - b.frame.centre;
  return dot(apart + to - from, normal) - (poses_[i].axis.margin + poses_[j].axis.margin);
}

ContactPlane Assembly::plane_of(const Contact& contact, std::size_t i, std::size_t j) const {
  const std::size_t first = body_of(i), second = body_of(j);
  // The body with the smaller id, so that the result does not depend on the order of the rows.
  const bool outwards = bodies.ids[first] < bodies.ids[second];
  return {contact, bodies.orientations[outwards ? first : second], outwards};
}

ContactPlane Assembly::plane_of(const Contact& contact, std::size_t i) const {
  return {contact, bodies.orientations[body_of(i)], true};
}

Patch Assembly::pair_patch(std::size_t i, std::size_t j, const Contact& contact) const {
  if (faces_with_point(i, contact.normal) || faces_with_point(j, contact.normal)) return Patch::single(contact);
  const Posed a = posed(i);
  const Feature first = a.feature(contact.normal);
  if (first.size == 1) return Patch::single(contact);
  Posed b = posed(j);
  b.frame.centre = a.frame.centre + period.shortest(b.frame.centre - a.frame.centre);
  const Feature second = b.feature(-contact.normal);
  return patch_of(contact, plane_of(contact, i, j), first, second, a.shape->margin, b.shape->margin,
                  std::min(a.shape->radius, b.shape->radius));
}

Patch Assembly::surface_patch(std::size_t row, const Wall& wall, const Contact& contact) const {
  if (!is_convex(row) || faces_with_point(row, contact.normal)) return Patch::single(contact);
  const Posed body = posed(row);
  const Feature first = body.feature(contact.normal);
  if (first.size == 1) return Patch::single(contact);
  const double radius = element_places()[row].r;
  const Feature second =
      with_surface(wall, [&](auto surface) { return decltype(surface)::feature(wall, contact, radius); });
  return patch_of(contact, plane_of(contact, row), first, second, body.shape->margin, 0, body.shape->radius);
}

Contact Assembly::shape_on_surface(std::size_t row, const Wall& wall, std::size_t number) const {
  const Posed body = posed(row);
  const double radius = element_places()[row].r;
  return with_surface(wall, [&](auto surface) { return decltype(surface)::contact(wall, body, radius, number); });
}

}  // namespace vicinal::dem
