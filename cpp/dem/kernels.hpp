// The loops that take most of the time, and all they need. Each is compiled for several processors (kernels.cpp,
// kernels_avx2.cpp, kernels_avx512.cpp); which one runs changes speed only.
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
  Turning* turnings = nullptr;
  Load* loads = nullptr;          // of all bodies; those of the block are added to
  std::size_t block_end = 0;      // second bodies from here on belong to other blocks:
  Load* remote = nullptr;         // what they get is written here,
  const Number* slots = nullptr;  // by entry
};

// Rows of four of a contact.
struct alignas(32) PointAndOverlap {
  double x = 0, y = 0, z = 0, overlap = 0;
  operator Vec() const { return {x, y, z}; }
};
struct alignas(32) NormalAndMass {
  double x = 0, y = 0, z = 0, mass = 0;  // effective mass
};
struct alignas(32) NormalAndRadius {
  double x = 0, y = 0, z = 0, radius = 0;  // effective radius
};
static_assert(FourWide<PointAndOverlap> && FourWide<NormalAndMass> && FourWide<NormalAndRadius>);

// A contact at some point, with a wall or between bodies of any shape.
struct PointContact {
  PointAndOverlap point;
  NormalAndMass normal;    // from the first, which is a body, to the second
  NormalAndRadius before;  // the normal of the step before; 0 for a contact that began in this step
  // Motion of the second at the point: during the step, and at its end.
  Vec4 speed_during, speed_at_end;
  Vec4 spin_during, spin_at_end;
  Vec4 force, moment;  // on the first: the result
  double weight = 1;   // the part of the law's force that acts at this point
  Number row = 0, entry = 0, second = 0, coefficients = 0;
  Number spring = 0;  // its place in the springs
};

struct PointJob {
  std::size_t size = 0;
  PointContact* contacts = nullptr;
  const Place* places = nullptr;
  const Motion* motions = nullptr;
  const Coefficients* table = nullptr;
  Terms terms;
  double dt = 0;
  Spring* springs = nullptr;  // by PointContact::spring
  Turning* turnings = nullptr;
};

// Pairs of tablets and spheres of which a normal is known.
struct CurvedContact {
  PointAndOverlap arm;  // from the centre of the first to the point
  Vec4 normal;
  bool converged;  // whether the rest is valid
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
  const double* inverse_margins = nullptr;  // of bodies; see Lists
  Vec gravity;
  double dt = 0;
  bool priming = false;  // only what will be gained; nothing moves
  // Results of the kick: squares of the largest speed in the next half step, and of the largest in margins per time.
  double fastest = 0, fastest_in_margins = 0;
  // A sum over speeds and spins that is finite only if all of them are.
  double sum = 0;
};

struct Kernels {
  void (*search)(SearchJob&);
  // Laws by their number (laws/laws.hpp).
  void (*sphere_contacts)(const SphereJob&, std::size_t law);
  void (*point_contacts)(const PointJob&, std::size_t law);
  // Whether planes with the normals certainly separate the two: 1 or 0.
  void (*separated)(const CurvedJob&, std::uint8_t* separated);
  // Points of contact, starting from the normals of the step before.
  void (*curved_contacts)(const CurvedJob&, CurvedContact* contacts);
  void (*drift)(const HalfStepJob&);
  void (*kick)(HalfStepJob&);
};

// Those for the processor at hand.
const Kernels& kernels();

extern const Kernels baseline_kernels, avx2_kernels, avx512_kernels;

}  // namespace vicinal::dem
