// The contact that the shortest connection of two cores gives.
#pragma once

#include "dem/contact.hpp"
#include "dem/surface_parts.hpp"
#include "dem/vec.hpp"

namespace vicinal::dem {

// `otherwise`: the normal to use if cores meet, that is, if the overlap exceeds the rounding of both.
inline Contact contact_of(const Connection& connection, double reach_first, double reach_second, Vec otherwise) {
  Contact contact;
  if (connection.distance > 0) {
    contact.normal = (1.0 / connection.distance) * (connection.second - connection.first);
    contact.overlap = reach_first + reach_second - connection.distance;
    // Half the overlap beyond the first surface, half beyond the second.
    contact.point = connection.first + (reach_first - 0.5 * contact.overlap) * contact.normal;
  } else {
    contact.normal = otherwise;
    contact.overlap = reach_first + reach_second;
  }
  return contact;
}

}  // namespace vicinal::dem
