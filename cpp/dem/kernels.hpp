// The loops that take most of the time, and all they need. Each is compiled for several processors (kernels.cpp,
// kernels_avx2.cpp); which one runs changes speed only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dem/arrays.hpp"
#include "dem/parameters.hpp"

namespace vicinal::dem {

// Which entries of a list of spheres touch.
struct SearchJob {
  std::size_t begin = 0, end = 0;  // entries
  const Number* first = nullptr;   // bodies, by entry
  const Number* second = nullptr;
  const Place* places = nullptr;
  Period period;
  std::uint8_t* active = nullptr;  // by entry: whether it touched in the step before, and then in this one
  // Results, with room for all entries and a register more.
  Number *i = nullptr, *j = nullptr, *entry = nullptr;  // those that touch
  Number* ended = nullptr;                              // entries that do so no longer
  std::size_t found = 0, endings = 0;
};

// Contacts between spheres.
struct SphereJob {
  std::size_t size = 0;
  const Number* i = nullptr;      // the first body, in the block
  const Number* j = nullptr;      // the second
  const Number* entry = nullptr;  // number in the list
  const Place* places = nullptr;
  const Motion* motions = nullptr;
  const std::uint8_t* materials = nullptr;
  const Parameters* table = nullptr;  // materials × materials
  std::size_t table_edge = 1;
  const Parameters* uniform = nullptr;  // those of all contacts, if they are the same
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

// A contact with a wall. The fourth numbers of rows of four: overlap, effective mass, effective radius.
struct alignas(32) WallContact {
  double point[4];
  double normal[4];        // towards the wall
  double before[4];        // the normal in the step before; 0 for a contact that began in this step
  double speed[4];         // of the wall at the point,
  double speed_before[4];  // and halfway through the step
  double spin[4];
  double force[4], moment[4];  // on the body: the result
  Number row, entry, wall, parameters;
};

struct WallJob {
  std::size_t size = 0;
  WallContact* contacts = nullptr;
  const Place* places = nullptr;
  const Motion* motions = nullptr;
  const Parameters* table = nullptr;
  Terms terms;
  double dt = 0;
  Spring* springs = nullptr;  // by entry
  Spring* rollings = nullptr;
};

// Half steps of neighbouring bodies whose moments of inertia are all the same, as those of spheres (see integrate.hpp
// for others).
struct HalfStepJob {
  std::size_t size = 0;
  Place* places = nullptr;
  Motion* motions = nullptr;
  Quat* orientations = nullptr;
  const Vec* inertias = nullptr;
  const Load* loads = nullptr;
  const double* inverse_margins = nullptr;  // of World::set_lists
  Vec gravity;
  double dt = 0;
  bool priming = false;  // only what will be gained; nothing moves
  // Results of the kick: squares of the largest speed in the next half step, and of the largest in margins per time.
  double fastest = 0, fastest_in_margins = 0;
};

struct Kernels {
  void (*search)(SearchJob&);
  void (*sphere_contacts)(const SphereJob&, Law);
  void (*wall_contacts)(const WallJob&, Law);
  void (*drift)(const HalfStepJob&);
  void (*kick)(HalfStepJob&);
};

// Those for the processor at hand.
const Kernels& kernels();

extern const Kernels baseline_kernels, avx2_kernels;

}  // namespace vicinal::dem
