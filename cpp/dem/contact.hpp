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

// A contact as the loops read it. `before`: see PointContact.
inline PointContact point_contact(const Contact& contact, Vec before, const Side& second) {
  const auto four = [](Vec a) { return Vec4{a.x, a.y, a.z, 0}; };
  const Vec p = contact.point, n = contact.normal;
  PointContact made;
  made.point = {p.x, p.y, p.z, contact.overlap};
  made.normal = {n.x, n.y, n.z, contact.mass};
  made.before = {before.x, before.y, before.z, contact.radius};
  made.speed_during = four(second.during);
  made.speed_at_end = four(second.at_end);
  made.spin_during = four(second.spin_during);
  made.spin_at_end = four(second.spin_at_end);
  return made;
}

}  // namespace vicinal::dem
