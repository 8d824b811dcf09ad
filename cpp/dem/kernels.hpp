// The loops that take most of the time, and their input. Each is compiled for several instruction sets (kernels*.cpp),
// which give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dem/arrays.hpp"
#include "dem/coefficients.hpp"

namespace vicinal::dem {

class ContactRows;

// Loops store and compute whole registers: arrays of contacts have room for this many more.
inline constexpr std::size_t spare_contacts = 8;

// Only part of a gap between two bodies counts, to allow for rounding; both bodies may move.
inline constexpr double usable_gap = 0.9 * 0.5;
// Smaller gaps, in units of the sum of the radii, may be rounding errors.
inline constexpr double least_gap = 1e-6;

// Finds the entries of a list whose spheres overlap, except those known to touch. For other shapes the spheres are
// those around them.
struct SearchJob {
  // Entries are tested in groups of this size.
  static constexpr std::size_t group = 8;
  std::size_t begin = 0, end = 0;  // entries
  const Number* first = nullptr;   // elements, per entry
  const Number* second = nullptr;
  const Place* places = nullptr;
  Period period;
  const std::uint8_t* active = nullptr;  // per entry: whether it is known to touch
  double odometer = 0;                   // an upper bound of how far any body has moved
  double* wakes = nullptr;               // per group: the reading of the odometer up to which it need not be tested
  // Results: the entries found; has room for all entries.
  Number* found = nullptr;
  std::size_t count = 0;
};

// Lists the entries that touch.
struct CollectJob {
  std::size_t begin = 0, end = 0;  // entries
  const Number* first = nullptr;
  const Number* second = nullptr;
  const std::uint8_t* active = nullptr;
  // Results. Each array has room for all entries and spare_contacts.
  Number *i = nullptr, *j = nullptr, *entry = nullptr;
  std::size_t found = 0;
};

// Adds shares to loads, in the given order, and sets them to 0.
struct ShareJob {
  std::size_t size = 0;
  Load* loads = nullptr;
  Load* shares = nullptr;
  const Number* receivers = nullptr;  // per share: the load to which it is added
};

// What the law reads and changes.
struct ContactJob {
  const Place* places = nullptr;
  const Motion* motions = nullptr;
  const Coefficients* table = nullptr;  // materials × materials
  Terms terms;
  double dt = 0;
  Spring* springs = nullptr;
  Turning* turnings = nullptr;
};

// Contacts between spheres that touched in the step before, or begin to touch. Springs and turnings: per entry.
struct SphereJob : ContactJob {
  std::size_t size = 0;
  // Elements, and numbers in the list. spare_contacts copies of the last contact follow.
  const Number* i = nullptr;
  const Number* j = nullptr;
  const Number* entry = nullptr;
  const std::uint8_t* materials = nullptr;
  std::size_t table_edge = 1;             // number of materials
  const Coefficients* uniform = nullptr;  // the coefficients of all contacts if they are equal, or null
  Period period;
  Load* loads = nullptr;
  const Number* targets = nullptr;  // per entry: the load of its second element
  // Results: entries that no longer touch. They exert no force, and their springs are undefined.
  Number* ended = nullptr;  // has room for all contacts
  std::size_t endings = 0;
};

// Types of four numbers that describe a contact.
struct alignas(32) PointAndOverlap {
  double x = 0, y = 0, z = 0, overlap = 0;
  operator Vec() const { return {x, y, z}; }
};
struct alignas(32) NormalAndOverlap {
  double x = 0, y = 0, z = 0, overlap = 0;
};
struct alignas(32) NormalAndMass {
  double x = 0, y = 0, z = 0, mass = 0;  // effective mass
};
struct alignas(32) NormalAndRadius {
  double x = 0, y = 0, z = 0, radius = 0;  // effective radius
};
struct alignas(32) ArmAndRadius {
  double x = 0, y = 0, z = 0, radius = 0;  // the radius for the law
};
static_assert(FourWide<ArmAndRadius> && FourWide<PointAndOverlap> && FourWide<NormalAndOverlap> &&
              FourWide<NormalAndMass> && FourWide<NormalAndRadius>);

// A contact at a given point, with a wall or between bodies of any shape.
struct PointContact {
  PointAndOverlap point;
  NormalAndMass normal;    // from the first, which is an element, to the second
  NormalAndRadius before;  // the normal of the step before; 0 for a contact that began in this step
  // Motion of the second at the point, during the step and at its end.
  Vec4 speed_during, speed_at_end;
  Vec4 spin_during, spin_at_end;
  Vec4 force, moment;  // the results, on the first
  double weight = 1;   // fraction of the law's force that acts at this point
  Number row = 0, entry = 0, second = 0, coefficients = 0;
  Number spring = 0;  // index into the springs
};

struct PointJob : ContactJob {  // springs and turnings: by PointContact::spring
  std::size_t size = 0;
  PointContact* contacts = nullptr;
};

// A contact with a wall, at one point.
struct alignas(64) WallContact {
  NormalAndOverlap normal;  // from the body to the wall
  Number row = 0, entry = 0, wall = 0, coefficients = 0;
  Number face = 0;  // of a mesh
};
struct WallMotion {
  Vec4 velocity, spin, middle;
};
struct WallJob : ContactJob {  // springs and turnings: per entry
  std::size_t size = 0;
  const WallContact* contacts = nullptr;  // spare_contacts copies of the last one follow
  const ArmAndRadius* arms = nullptr;     // likewise, from the centre of the body to the point; null for spheres
  const WallMotion* walls = nullptr;
  const Coefficients* uniform = nullptr;  // see SphereJob
  Vec4* normals = nullptr;                // per entry, of the step before, or 0; the present ones replace them
  Load* loads = nullptr;
  Load* on_walls = nullptr;  // results, per contact: force on the wall, and torque about its middle
};

// The plane of a wall in its present pose.
struct WallPlane {
  Vec4 facing, base;
};
// What the contact of a sphere with the inside of a triangle needs. All numbers are 0 if the triangle is too thin to
// have an inside.
struct alignas(32) NormalAndSquare {
  double x = 0, y = 0, z = 0, square = 0;
};
struct FlatFace {  // in the pose of the description
  Vec4 corners[3];
  Vec4 outward[3];  // per edge: perpendicular to it, in the plane of the triangle
  NormalAndSquare normal;
};
static_assert(FourWide<NormalAndSquare>);
// The present pose of a mesh.
struct MeshPose {
  Quat turned;
  Vec4 centre, middle;
  const FlatFace* faces = nullptr;
};
// A sphere that moves by less than this fraction of its radius in a step, and whose overlap is less than the rest of
// the radius, has not passed through a wall: its centre would have crossed the surface.
inline constexpr double short_way = 0.1;

// Contacts with walls that were there in the step before, while nothing else of the walls is close (see
// Forces::wall_forces). Computes their normals and overlaps, and for tablets their arms (see WallJob).
struct LastingJob {
  std::size_t size = 0;
  WallContact* contacts = nullptr;
  const Place* places = nullptr;
  const Motion* motions = nullptr;
  const TabletPose* poses = nullptr;  // per element, if there are tablets
  const double* sizes = nullptr;      // likewise: the radius for the law
  const WallPlane* planes = nullptr;  // per wall
  const MeshPose* meshes = nullptr;
  double step = 0, wall_speed = 0;
  ArmAndRadius* arms = nullptr;  // per contact, for tablets
  // Results: the numbers of contacts that may have ended, moved to an edge or passed through the wall.
  Number* doubtful = nullptr;  // has room for all
  std::size_t doubts = 0;
};

// Pairs of tablets and spheres with a known approximate normal.
struct CurvedJob {
  std::size_t size = 0;
  const Number *i = nullptr, *j = nullptr, *entry = nullptr;
  const Place* places = nullptr;
  const TabletPose* poses = nullptr;
  const Vec4* normals = nullptr;  // per entry, of the step before
  Period period;
};
// A contact that is not at one point.
struct LeftContact {
  PointAndOverlap arm;  // from the centre of the first to the point
  Vec4 normal;
  Number contact = 0;  // number in the job
  bool known = false;  // whether arm and normal are valid
};
// Contacts of these pairs, at one point each: geometry and law. Springs and turnings: per entry.
struct CurvedContactJob : ContactJob {
  CurvedJob pairs;
  Vec4* normals = nullptr;               // those of `pairs`; the present ones replace them
  const std::uint8_t* spread = nullptr;  // per entry: whether the contact has several points
  ContactRows* rows = nullptr;           // makes a contact with several points one at a single point:
  void (*gather)(ContactRows& rows, std::size_t entry) = nullptr;
  const double* sizes = nullptr;  // per element: the radius for the law
  const std::uint8_t* materials = nullptr;
  std::size_t table_edge = 1;             // number of materials
  const Coefficients* uniform = nullptr;  // see SphereJob
  Load* loads = nullptr;
  const Number* targets = nullptr;  // per entry: the load of its second element
  // Results: contacts that are left to the general code. They exert no force, and their history is unchanged.
  LeftContact* left = nullptr;  // has room for all contacts
  std::size_t leavings = 0;
};

// The spheres of clumps after a drift of the bodies begin to end - 1: they get positions, arms (`levers`) and
// velocities. That of the half step is the displacement divided by dt.
struct FollowJob {
  std::size_t begin = 0, end = 0;
  struct {
    const Place* places = nullptr;
    const Motion* motions = nullptr;
    const Quat* orientations = nullptr;
  } bodies;
  const std::size_t* offsets = nullptr;  // first sphere of every body, and the end
  const Vec4* arms = nullptr;            // from the centre of the body, in the frame of the body
  Place* places = nullptr;
  Motion* motions = nullptr;
  Vec4* levers = nullptr;  // the arms in the world frame
  double dt = 0;
};
// The loads of bodies from those of their spheres, whose torques are changed: they are those about the centre of the
// body afterwards.
struct ElementSumJob {
  std::size_t size = 0;                  // bodies
  const std::size_t* offsets = nullptr;  // first sphere of every body, and the end
  std::size_t first = 0, last = 0;       // spheres
  const Vec4* levers = nullptr;
  Load* loads = nullptr;
  Load* sums = nullptr;  // per body
};

// Half steps of consecutive bodies, all of them round or none.
struct HalfStepJob {
  std::size_t size = 0;
  bool round = true;  // the principal moments of inertia are equal, as for spheres
  Place* places = nullptr;
  Motion* motions = nullptr;
  Quat* orientations = nullptr;
  const Vec* inertias = nullptr;
  Vec4 *momenta = nullptr, *half_impulses = nullptr;  // used if not round
  const Load* loads = nullptr;
  const double* inverse_margins = nullptr;  // per body; see Lists. The speed of a body with 0 does not count
  Vec gravity;
  double dt = 0;
  bool priming = false;  // compute dv and dw only, and leave v and w unchanged
  // Results of the kick: the squares of the largest speeds in the next half step, in lengths and in margins per time.
  double fastest = 0, fastest_in_margins = 0;
  // A sum over velocities and spins; it is finite only if all of them are.
  double sum = 0;
};

struct GrainKernels {
  void (*search)(SearchJob&);
  void (*collect)(CollectJob&);
  // `law` is the number of the law (laws/laws.hpp).
  void (*sphere_contacts)(SphereJob&, std::size_t law);
  void (*add_shares)(const ShareJob&);
  void (*lasting_planes)(LastingJob&);
  void (*lasting_faces)(LastingJob&);
  void (*lasting_tablets)(LastingJob&);
  void (*wall_contacts)(const WallJob&, std::size_t law);
  void (*point_contacts)(const PointJob&, std::size_t law);
  // Computes the gap between two planes with the given normal that touch one element each. It is a lower bound of the
  // distance of the elements, and may be negative.
  void (*gaps)(const CurvedJob&, double* gaps);
  void (*curved_contacts)(CurvedContactJob&, std::size_t law);
  void (*follow)(const FollowJob&);
  void (*sum_elements)(const ElementSumJob&);
  void (*drift)(const HalfStepJob&);
  void (*kick)(HalfStepJob&);
};

// The loops for the present processor.
const GrainKernels& kernels();

extern const GrainKernels baseline_kernels, avx2_kernels, avx512_kernels, neon_kernels;

}  // namespace vicinal::dem
