// Forces of one step, computed in blocks of rows. The sums of a block do not depend on the thread that computes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dem/assembly.hpp"
#include "dem/crossings.hpp"
#include "dem/face.hpp"
#include "dem/kernels.hpp"
#include "dem/lists.hpp"
#include "dem/parallel.hpp"
#include "exec/memory.hpp"
#include "pairs/exact_sum.hpp"

namespace vicinal::dem {

// One contact in detail.
struct Detail {
  std::int64_t i = -1, j = -1;  // ids of bodies
  std::int32_t wall = -1;
  Vec point, normal, force;
  double overlap = 0, normal_force = 0, tangential_force = 0, energy = 0;
};

// A contact of an element with a wall. `entry` is its entry in the list; `fresh` marks a contact that begins in this
// step.
struct WallTouch {
  std::size_t entry = 0, wall = 0;
  Contact contact;
  Patch patch;
  bool fresh = false;
  bool lasts = false;  // see Forces::wall_forces
};

// Contacts of elements with walls at one point each, in columns. `arms`: see WallJob; empty for spheres.
struct WallContacts {
  std::vector<WallContact> contacts;
  std::vector<ArmAndRadius> arms;

  void clear() {
    contacts.clear();
    arms.clear();
  }
  void push(const WallContact& contact) { contacts.push_back(contact); }
  void push(const WallContact& contact, const ArmAndRadius& arm) {
    contacts.push_back(contact);
    arms.push_back(arm);
  }
  void append(const WallContacts& more) {
    contacts.insert(contacts.end(), more.contacts.begin(), more.contacts.end());
    arms.insert(arms.end(), more.arms.begin(), more.arms.end());
  }
  template <class Condition>
  void erase_if(Condition&& condition) {
    std::size_t kept = 0;
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      if (condition(contacts[c])) continue;
      contacts[kept] = contacts[c];
      if (!arms.empty()) arms[kept] = arms[c];
      ++kept;
    }
    contacts.resize(kept);
    if (!arms.empty()) arms.resize(kept);
  }
  // Repeats the last contact, as the loops need it.
  void pad() {
    contacts.resize(contacts.size() + spare_contacts, contacts.back());
    if (!arms.empty()) arms.resize(arms.size() + spare_contacts, arms.back());
  }
};
// Those that were there in the step before and are followed by short loops.
struct LastingWalls {
  WallContacts planes, faces, tablets;
};
// Those of elements that have been visited, and of all; `patches` are points of contacts at several points.
struct MetWalls {
  WallContacts spheres, shapes;
  std::vector<PointContact> patches;
};

// Entries of a list of pairs, in columns.
struct Entries {
  std::vector<Number> i, j, entry;
  [[nodiscard]] std::size_t size() const { return i.size(); }
  void clear() {
    for (auto* column : {&i, &j, &entry}) column->clear();
  }
  void push(Number a, Number b, std::size_t k) {
    i.push_back(a);
    j.push_back(b);
    entry.push_back(static_cast<Number>(k));
  }
};

// The pairs of every block that touch: those of spheres, then those of curved shapes, then the others; each ascending.
// They are kept from step to step and change only if a contact begins or ends.
struct TouchingPairs {
  // Some of the pairs; spare_contacts copies of the last one follow.
  struct Part {
    std::size_t size = 0;
    Number *i = nullptr, *j = nullptr, *entry = nullptr;
  };
  struct Sizes {
    std::size_t spheres = 0, curved = 0, others = 0;
  };
  Buffer<Number> i, j, entry;      // the pairs of a block begin at from(its number, its first entry in the list)
  std::vector<Sizes> sizes;        // per block
  std::vector<std::size_t> stale;  // per block: the first entry that has begun or ended since the pairs were collected

  static std::size_t from(std::size_t block, std::size_t first_entry) {
    return first_entry + 3 * block * spare_contacts;
  }
  void reset(std::size_t entries, std::size_t blocks) {
    for (auto* column : {&i, &j, &entry}) column->reset(from(blocks, entries));
    sizes.assign(blocks, {});
    stale.assign(blocks, 0);
  }
  void change(std::size_t block, Number entry) { stale[block] = std::min<std::size_t>(stale[block], entry); }
  [[nodiscard]] Part part(std::size_t from, std::size_t size) {
    return {size, i.data() + from, j.data() + from, entry.data() + from};
  }
  [[nodiscard]] Part spheres(std::size_t block, std::size_t first_entry) {
    return part(from(block, first_entry), sizes[block].spheres);
  }
  [[nodiscard]] Part curved(std::size_t block, std::size_t first_entry) {
    return part(from(block, first_entry) + sizes[block].spheres + spare_contacts, sizes[block].curved);
  }
  [[nodiscard]] Part others(std::size_t block, std::size_t first_entry) {
    const Sizes& before = sizes[block];
    return part(from(block, first_entry) + before.spheres + before.curved + 2 * spare_contacts, before.others);
  }
};

class Forces {
 public:
  Forces(Assembly& assembly, Lists& lists) : assembly_(assembly), lists_(lists) {}

  // Must be called after new lists have been set.
  void prepare();
  // Computes the loads of elements and walls. `step` is the time since the last call, or 0. complete(block) is called
  // once for every block when its elements have all loads, some of which `gather` adds. The loop over contacts reads no
  // place or motion of the block after that: contacts belong to the block of their first element, which is the one with
  // the lower number, and this block and those before it that read it are done.
  template <class F>
  void compute(double step, F&& complete) {
    begin_step();
    each_block_then(reads_, blocks_.back(), [&](std::size_t block) { block_forces(block, step); }, complete);
  }
  // The first element of every block, and the number of elements.
  [[nodiscard]] std::span<const std::size_t> blocks() const { return blocks_; }
  // Records that bodies and walls have moved for one step. `blocks`: the largest speed of each block of elements, or
  // nothing if only that of all is known.
  void moved(Speed all, std::span<const Speed> blocks, double dt);
  // Makes the next step test all entries of walls; needed after walls have changed.
  void wake_all();

  // Adds the loads that belong to a range of elements but were computed in other blocks.
  void gather(std::size_t first, std::size_t last) { kernels().add_shares(remote_.shares(loads_.data(), first, last)); }
  // Sets loads to 0 for the next step, after they have been used: they are still in the level-1 cache then.
  void clear(std::size_t first, std::size_t last) {
    std::fill(loads_.begin() + static_cast<std::ptrdiff_t>(first), loads_.begin() + static_cast<std::ptrdiff_t>(last),
              Load{});
  }
  // Loads of all elements.
  [[nodiscard]] const Load* loads() const { return loads_.data(); }
  // Gathers the loads of the elements of bodies begin to end - 1, sums them to those of the bodies, and clears them.
  void sum_elements(std::size_t begin, std::size_t end, Load* sums);
  // Force and torque that bodies exert on each wall in the last step, three sums each; torques are about the centre.
  [[nodiscard]] std::vector<ExactSum> wall_loads() const;

  // Bodies that have passed through walls since the last Crossings::take.
  Crossings crossings;

  // The present contacts, with forces from the present springs: those of bodies, then those with walls, each in the
  // order of rows and in parts, which threads have made. The state does not change.
  [[nodiscard]] std::vector<HugeVector<Detail>> details();

 private:
  // What points of contact exert on walls.
  struct WallShares {
    std::vector<Number> walls;
    std::vector<Load> loads;
  };

  void begin_step();
  void block_forces(std::size_t block, double step);
  // Loads what the loops over these rows read and write, in the order in which it lies in memory. The loops themselves
  // follow contacts from body to body, so processors would fetch every line only when it is needed.
  void load_rows(std::size_t begin, std::size_t end) const;
  // Updates the list of touching pairs of a block. Pairs that touched in the step before are tested later, by the loops
  // over contacts.
  void find_contacts(std::size_t begin, std::size_t end, std::size_t block);
  // Tests pairs of which some are not spheres, and whose bounding spheres overlap. Those that touch become contacts,
  // the others sleep.
  void begin_contacts(std::span<const Number> entries, std::size_t block);
  void begin_contact(Number entry, std::size_t block);
  void sleep(Number entry, std::size_t block, double gap);
  // Sorts the pairs of a block that touch by what they are.
  void sort_contacts(TouchingPairs::Part all, std::size_t block);
  void end_contact(Number entry, std::size_t block);
  // The group of entries that sleep together.
  [[nodiscard]] double& pair_wake(Number entry, std::size_t block) {
    const std::size_t first = first_entry(block);
    return pair_wakes(block)[(entry - first) / SearchJob::group];
  }
  [[nodiscard]] double* pair_wakes(std::size_t block) {
    return pair_wakes_.data() + first_entry(block) / SearchJob::group + block;
  }
  [[nodiscard]] std::size_t first_entry(std::size_t block) const { return lists_.pairs.begin(blocks_[block]); }
  // Forces of one block of rows: contacts of spheres, of other shapes, and with walls.
  void sphere_forces(std::size_t block, double step);
  void shape_forces(std::size_t block, double step);
  // Contacts of curved shapes at a single point; appends the others to `contacts`.
  void curved_forces(std::size_t block, double step, std::vector<PointContact>& contacts);
  [[nodiscard]] CurvedJob curved_job(TouchingPairs::Part pairs);
  // Contacts of a sphere with planes last if its list has no mesh; if it has one, its only contact with any wall lasts
  // if that is with a plane or with the inside of a triangle. Contacts of a tablet last if each of them is at one point
  // of a plane. Normal and overlap are then computed by short loops, until another wall comes close or the contact
  // changes.
  void wall_forces(std::size_t block, double step);
  // Finds the contacts of an element with walls. `k` is its place in wall_rows_.
  void visit_walls(std::size_t k, double odometer, double step, MetWalls& met);
  // Appends the contacts of an element that last.
  void take_lasting(std::size_t row, LastingWalls& lasting) const;
  // Computes contacts that last. Removes those of elements that must be visited, and appends these elements to
  // `doubtful`.
  void follow_lasting(void (*loop)(LastingJob&), WallContacts& all, double step, std::vector<Number>& doubtful) const;
  // Applies the law to contacts at one point.
  void one_point_forces(WallContacts& all, double step, WallShares& shares);
  // Finds the contacts of a sphere with planes and cylinders. Returns the reading of the odometer up to which the
  // sphere need not be visited.
  double touch_surfaces(std::size_t row, double odometer, double step, WallContacts& met);
  [[nodiscard]] WallContact wall_contact(std::size_t row, std::size_t entry, Vec normal, double overlap) const;
  // Appends the points of a contact, and stores its normal.
  void take_patch(std::size_t row, const WallTouch& touch, double step, std::vector<PointContact>& contacts);
  // What the law reads and changes, for contacts of pairs or walls.
  [[nodiscard]] ContactJob law_job(ContactRows& rows, double step) const;
  // Applies the law to contacts of pairs or walls.
  void apply_law(std::vector<PointContact>& contacts, ContactRows& rows, double step);
  // Appends the points of contact k to `contacts`, or ends it if the two elements do not overlap; stores its normal.
  void take_contact(const Contact& contact, std::size_t i, std::size_t j, Number k, std::size_t block,
                    std::vector<PointContact>& contacts);
  // The coefficients of all contacts of a block if they are equal, or null.
  [[nodiscard]] const Coefficients* uniform(std::size_t block) const {
    const Number which = block_coefficients_[block];
    return which != no_number ? assembly_.law.table() + which : nullptr;
  }
  // Finds the contacts of an element with walls. `odometer`: the reading of that of its block; `wakes`: per entry, the
  // reading up to which the element cannot touch the wall. Returns whether its centre may be behind a wall.
  bool touch_walls(std::size_t row, double odometer, std::vector<WallTouch>& touches, std::span<double> wakes) const;
  // The same for one mesh, whose faces begin at entry `begin`. Returns the entry after its last face.
  std::size_t touch_mesh(std::size_t row, std::size_t begin, double odometer, std::vector<WallTouch>& touches,
                         std::span<double> wakes) const;
  void touch_mesh_by_shape(std::size_t row, std::size_t number, std::span<const std::size_t> entries,
                           std::vector<WallTouch>& touches) const;
  std::vector<std::size_t> patch_on_triangles(std::size_t row, std::span<const std::size_t> entries,
                                              std::span<const Face> triangles, WallTouch& touch) const;
  // Finds meshes that have a triangle inside the core of a body.
  void pierced_meshes(std::size_t row, std::vector<WallTouch>& found) const;
  // Records the walls through which the centre of an element has passed during the step.
  void note_crossings(std::size_t row, double step);
  // Determines which contacts are new, and clears the history of contacts that have ended.
  void meet_walls(std::size_t row, std::vector<WallTouch>& touches);

  Assembly& assembly_;
  Lists& lists_;
  RemoteShares remote_;
  HugeVector<Load> loads_;  // of all elements; then shares of blocks (RemoteShares)
  std::vector<Number>
      block_coefficients_;  // per block: the coefficients if all its entries have the same, or no_number
  TouchingPairs touching_;
  std::vector<double> pair_wakes_;             // per group of entries; see SearchJob
  std::vector<double> wakes_;                  // per entry of walls; see touch_walls
  std::vector<Number> wall_rows_;              // the rows that have such entries
  std::vector<double> row_wakes_;              // the smallest of each of these rows, without contacts that last
  std::vector<std::uint8_t> plain_rows_;       // whether these rows are spheres near planes and cylinders only
  std::vector<std::size_t> wall_row_offsets_;  // where those of each block begin
  std::vector<double> odometers_;              // per block: upper bound of how far the bodies of its pairs have moved
  std::vector<double> wall_odometers_;         // per block: the same for its own bodies and all walls together
  std::vector<std::size_t> blocks_;            // see blocks()
  std::vector<WallMotion> wall_motions_;       // of the present step
  std::vector<WallPlane> wall_planes_;
  std::vector<MeshPose> mesh_poses_;
  BlockReads reads_;
  std::vector<WallShares> wall_shares_;  // per block
};

}  // namespace vicinal::dem
