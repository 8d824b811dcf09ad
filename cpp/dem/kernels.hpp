// The loops that take most of the time, and all they need. Each is compiled for several processors (kernels.cpp,
// kernels_avx2.cpp); which one runs changes speed only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dem/arrays.hpp"
#include "dem/coefficients.hpp"

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
  const Coefficients* table = nullptr;  // materials × materials
  std::size_t table_edge = 1;
  const Coefficients* uniform = nullptr;  // those of all contacts, if they are all the same
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

// A contact at some point, with a wall or between bodies of any shape. The fourth numbers of rows of four: overlap,
// effective mass, effective radius.
struct alignas(32) PointContact {
  double point[4];
  double normal[4];  // from the first, which is a body, to the second
  double before[4];  // the normal in the step before; 0 for a contact that began in this step
  // How the second moves at the point: during the step, and at its end.
  double speed_during[4], speed_at_end[4];
  double spin_during[4], spin_at_end[4];
  double force[4], moment[4];  // on the first: the result
  Number row, entry, second, coefficients;
};

struct PointJob {
  std::size_t size = 0;
  PointContact* contacts = nullptr;
  const Place* places = nullptr;
  const Motion* motions = nullptr;
  const Coefficients* table = nullptr;
  Terms terms;
  double dt = 0;
  Spring* springs = nullptr;  // by entry
  Spring* rollings = nullptr;
};

// Pairs of tablets and spheres of which a normal is known.
struct CurvedContact {
  double arm[4];     // from the centre of the first to the point; the fourth number is the overlap
  double normal[4];  // the fourth number: 1 if all this was found
};
struct CurvedJob {
  std::size_t size = 0;
  const Number *i = nullptr, *j = nullptr, *entry = nullptr;
  const Place* places = nullptr;
  const Pose* poses = nullptr;
  const Vec* normals = nullptr;  // by entry, of the step before
  Period period;
};

// Half steps of neighbouring bodies, all of one kind.
struct HalfStepJob {
  std::size_t size = 0;
  bool round = true;  // moments of inertia are all the same, as those of spheres
  Place* places = nullptr;
  Motion* motions = nullptr;
  Quat* orientations = nullptr;
  const Vec* inertias = nullptr;
  Vec *momenta = nullptr, *half_impulses = nullptr;  // of those that are not round
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
  // Laws by their number (laws/laws.hpp).
  void (*sphere_contacts)(const SphereJob&, std::size_t law);
  void (*point_contacts)(const PointJob&, std::size_t law);
  // Whether planes with the normals are surely between the two: 1 or 0.
  void (*parted)(const CurvedJob&, std::uint8_t* found);
  // Where they touch, from the normals of the step before.
  void (*curved_contacts)(const CurvedJob&, CurvedContact* found);
  void (*drift)(const HalfStepJob&);
  void (*kick)(HalfStepJob&);
};

// Those for the processor at hand.
const Kernels& kernels();

extern const Kernels baseline_kernels, avx2_kernels;

}  // namespace vicinal::dem
