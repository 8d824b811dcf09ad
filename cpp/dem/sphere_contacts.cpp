// Contacts between spheres, one at a time.
#include "dem/sphere_contacts.hpp"

namespace vicinal::dem {

void sphere_contacts_baseline(const ContactJob& job, Law law) {
  if (law == Law::linear) sphere_contacts_from<Law::linear, OneLane>(job, 0);
  else sphere_contacts_from<Law::hertz, OneLane>(job, 0);
}

}  // namespace vicinal::dem
