// Contacts between spheres, four at a time. Compiled for AVX2, called only where the processor has it.
#include "dem/lanes_avx2.hpp"
#include "dem/sphere_contacts.hpp"

namespace vicinal::dem {
namespace {

template <Law law>
void all(const ContactJob& job) {
  const std::size_t done = sphere_contacts_from<law, FourLanes>(job, 0);
  sphere_contacts_from<law, OneLane>(job, done);
}

}  // namespace

void sphere_contacts_avx2(const ContactJob& job, Law law) {
  if (law == Law::linear) all<Law::linear>(job);
  else all<Law::hertz>(job);
}

}  // namespace vicinal::dem
