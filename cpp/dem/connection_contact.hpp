// The contact of two rounded shapes, from the shortest connection of their cores.
#pragma once

#include "dem/contact.hpp"
#include "dem/surface_parts.hpp"
#include "dem/vec.hpp"

namespace vicinal::dem {

// `otherwise` is the normal to use if the cores meet, that is, if the overlap is at least the sum of both margins.
inline Contact contact_of(const Connection& connection, double reach_first, double reach_second, Vec otherwise) {
  Contact contact;
  if (connection.distance > 0) {
    contact.normal = (1.0 / connection.distance) * (connection.second - connection.first);
    contact.overlap = reach_first + reach_second - connection.distance;
    // The point of contact is halfway between the two surfaces.
    contact.point = connection.first + (reach_first - 0.5 * contact.overlap) * contact.normal;
  } else {
    contact.normal = otherwise;
    contact.overlap = reach_first + reach_second;
  }
  return contact;
}

}  // namespace vicinal::dem
