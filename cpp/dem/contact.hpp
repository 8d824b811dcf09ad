// One contact of any kind.
#pragma once

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/vec.hpp"

namespace vicinal::dem {

// How a side of a contact moves at the point of contact: during the step, and at its end.
struct Side {
  Vec during, at_end;
  Vec spin_during, spin_at_end;
};

inline Side side_of(const Motion& m, Vec arm) {
  const Vec w = m.w + m.dw;
  return {m.v + cross(m.w, arm), (m.v + m.dv) + cross(w, arm), m.w, w};
}

struct Contact {
  Vec point, normal;  // from the first to the second
  double overlap = 0, mass = 0, radius = 0;
};

// A contact as the loops over them want it. `before`: see PointContact.
inline PointContact point_contact(const Contact& contact, Vec before, const Side& second) {
  const auto put = [](double (&to)[4], Vec a, double fourth) { to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = fourth; };
  PointContact made;
  put(made.point, contact.point, contact.overlap);
  put(made.normal, contact.normal, contact.mass);
  put(made.before, before, contact.radius);
  put(made.speed_during, second.during, 0);
  put(made.speed_at_end, second.at_end, 0);
  put(made.spin_during, second.spin_during, 0);
  put(made.spin_at_end, second.spin_at_end, 0);
  return made;
}

inline Vec vec_of(const double (&from)[4]) { return {from[0], from[1], from[2]}; }

}  // namespace vicinal::dem
