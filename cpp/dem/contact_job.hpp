// The work of one block: contacts between spheres, and all they need.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dem/arrays.hpp"
#include "dem/parameters.hpp"

namespace vicinal::dem {

struct ContactJob {
  std::size_t size = 0;
  const Number* i = nullptr;      // the first body, in the block
  const Number* j = nullptr;      // the second
  const Number* entry = nullptr;  // number in the list
  const Place* places = nullptr;
  const Motion* motions = nullptr;
  const double* inverse_masses = nullptr;
  const std::uint8_t* materials = nullptr;
  const Parameters* table = nullptr;  // materials × materials
  std::size_t table_edge = 1;
  Terms terms;
  double dt = 0;
  Period period;
  Spring* springs = nullptr;  // by entry
  Spring* rollings = nullptr;
  Load* loads = nullptr;          // of all bodies; those of the block are added to
  std::size_t block_end = 0;      // second bodies from here on belong to other blocks:
  Load* remote = nullptr;         // what they get is written here,
  const Number* slots = nullptr;  // by entry
};

// The contacts of a job, as the processor at hand does them best (sphere_contacts.cpp, sphere_contacts_avx2.cpp).
void sphere_contacts_baseline(const ContactJob& job, Law law);
void sphere_contacts_avx2(const ContactJob& job, Law law);

}  // namespace vicinal::dem
