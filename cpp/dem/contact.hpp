// A contact of two bodies, or of a body and a wall.
#pragma once

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/vec.hpp"

namespace vicinal::dem {

// The motion of one side of a contact at the point of contact: during the step, and at its end.
struct Side {
  Vec during, at_end;
  Vec spin_during, spin_at_end;
};

inline Side side_of(const Motion& m, Vec arm) {
  const Vec w = m.w + m.dw;
  return {m.v + cross(m.w, arm), (m.v + m.dv) + cross(w, arm), m.w, w};
}

struct Contact {
  Vec point, normal;  // the normal points from the first to the second
  double overlap = 0, mass = 0, radius = 0;
};

inline void set_second(PointContact& contact, const Side& second) {
  contact.speed_during = second.during;
  contact.speed_at_end = second.at_end;
  contact.spin_during = second.spin_during;
  contact.spin_at_end = second.spin_at_end;
}

// Converts a contact to the form that the loops read. `before`: see PointContact.
inline void set_contact(PointContact& made, const Contact& contact, Vec before) {
  const Vec n = contact.normal;
  made.normal = {n.x, n.y, n.z, contact.mass};
  made.before = {before.x, before.y, before.z, contact.radius};
}

}  // namespace vicinal::dem
