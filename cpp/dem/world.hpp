// A world of grains: bodies, walls, laws, the lists of who may touch whom, and the step of time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/bodies.hpp"
#include "dem/contact.hpp"
#include "dem/elements.hpp"
#include "dem/kernels.hpp"
#include "dem/law_table.hpp"
#include "dem/pair_list.hpp"
#include "dem/shape.hpp"
#include "dem/wall_mesh.hpp"
#include "dem/walls.hpp"
#include "rows/drift.hpp"
#include "rows/rows.hpp"

namespace vicinal::dem {

// One contact in detail, as of now.
struct Detail {
  std::int64_t i = -1, j = -1;  // ids of bodies
  std::int32_t wall = -1;
  Vec point, normal, force;
  double overlap = 0, normal_force = 0, tangential_force = 0, energy = 0;
};

// A contact of an element with a wall, by its entry in the list.
struct WallTouch {
  std::size_t entry = 0, wall = 0;
  Contact contact;
  bool fresh = false;
};

class World {
 public:
  Bodies bodies;
  Elements elements;
  std::vector<Shape> shapes;  // by the numbers bodies have
  bool any_convex = false;    // some body is neither a sphere nor a clump
  std::vector<Wall> walls;
  std::vector<WallMesh> meshes;  // by wall; empty for other kinds
  // What the rows of walls hold: walls, and of meshes their faces, numbered through.
  struct Primitive {
    Number wall, face;
  };
  std::vector<Primitive> primitives;
  void number_primitives();
  LawTable law;
  Vec gravity;
  double dt = 0;
  Period period;
  bool primed = false;  // dv and dw belong to the present forces
  std::int64_t steps = 0;

  // Puts what contacts remember aside; they find their places again in the next lists.
  void stash();
  ContactHistory stashed_pairs, stashed_walls;  // second: an element, or a primitive of the walls

  // The row numbers that stay, in their new order. The lists are void afterwards.
  void take(std::span<const Number> rows);
  // Bodies in the order of a space-filling curve.
  [[nodiscard]] std::vector<Number> curve_order(double cell) const;
  // Centres back into the periodic box.
  void wrap();

  // Rows of elements that may touch (indices above the row, ascending), and of primitives of walls. `centres` are the
  // positions for which the lists were made, and `margins` how far each element may move from there before the lists
  // must be made again. All elements of a body have the same margin. Walls have one together, and have used
  // `wall_drift` of it already.
  void set_lists(const RowsView& pairs, const RowsView& wall_rows, std::span<const double> centres,
                 std::span<const double> margins, double wall_margin, double wall_drift);
  [[nodiscard]] bool has_lists() const { return has_lists_; }
  // The centres and margins of the lists.
  [[nodiscard]] std::span<const double> built_centres() const { return watch_.positions(); }
  [[nodiscard]] std::span<const double> margins() const { return margins_.span(); }
  [[nodiscard]] double wall_margin() const { return wall_margin_; }
  [[nodiscard]] double wall_drift() const { return wall_drift_; }
  // How fast the surface of a wall may move towards bodies; the largest of all walls.
  double wall_speed = 0;

  // Goes on until the steps are done or the lists no longer serve. Returns how many were done.
  std::int64_t advance(std::int64_t most);

  // Contacts as they are now; nothing changes.
  [[nodiscard]] std::vector<Detail> details();
  [[nodiscard]] std::size_t contacts() const;
  [[nodiscard]] std::size_t listed() const { return pairs_.size() + wall_rows_.size(); }
  // Of every body in the next half step, at most.
  [[nodiscard]] std::vector<double> speeds() const;
  // What contacts remember: of pairs, and of walls.
  [[nodiscard]] ContactHistory pair_history() const { return has_lists_ ? pairs_.history() : stashed_pairs; }
  [[nodiscard]] ContactHistory wall_history() const { return has_lists_ ? wall_rows_.history() : stashed_walls; }

  // Elements: the bodies themselves unless some are clumps.
  [[nodiscard]] const HugeVector<Place>& element_places() const {
    return elements.used() ? elements.places : bodies.places;
  }
  void place_elements() {
    if (elements.used()) elements.place(bodies);
  }

 private:
  void step();
  void prime();
  void forces(double step);
  // Of one block of rows: contacts of spheres, of shapes, of walls.
  void sphere_forces(std::size_t begin, std::size_t end, std::size_t block, double step);
  std::size_t find_contacts(std::size_t begin, std::size_t end);
  void shape_forces(std::size_t begin, std::size_t end, double step);
  void wall_forces(std::size_t begin, std::size_t end, std::size_t block, double step);
  // Applies the law to contacts of pairs or walls.
  void settle(std::vector<PointContact>& contacts, ContactRows& rows, double step);
  // What two elements are to each other wherever they touch: effective mass and radius.
  [[nodiscard]] Contact pair_of(std::size_t i, std::size_t j) const;
  // From the centre of the second to a point, given from the centre of the first.
  [[nodiscard]] Vec arm_of_second(std::size_t i, std::size_t j, Vec arm) const {
    return arm - period.shortest(centre(element_places()[j]) - centre(element_places()[i]));
  }
  [[nodiscard]] Contact sphere_contact(std::size_t i, std::size_t j) const;
  // Shapes other than spheres (shape_contacts.cpp).
  [[nodiscard]] const Shape& shape_of(std::size_t element) const;
  [[nodiscard]] Posed posed(std::size_t element) const;
  [[nodiscard]] bool is_convex(std::size_t element) const { return kinds_[element] != Shape::Kind::sphere; }
  // How the elements are turned.
  void pose_elements();
  // Adds a contact to those that the law is applied to, if they overlap; and notes its normal.
  void take_contact(const Contact& contact, std::size_t i, std::size_t j, std::size_t k,
                    std::vector<PointContact>& contacts);
  // Any two elements; `guess` of the normal, or zero.
  [[nodiscard]] Contact pair_contact(std::size_t i, std::size_t j, Vec guess) const;
  [[nodiscard]] Contact shape_on_surface(std::size_t row, const Wall& wall) const;
  void touch_mesh_by_shape(std::size_t row, std::size_t number, std::span<const std::size_t> entries,
                           std::vector<WallTouch>& touches) const;
  // Contacts of an element with walls. `wakes` by entry: until the odometer shows this it need not be looked at.
  void touch_walls(std::size_t row, std::vector<WallTouch>& touches, std::span<double> wakes) const;
  // Those with one mesh, whose faces begin at an entry; returns where they end.
  std::size_t touch_mesh(std::size_t row, std::size_t begin, std::vector<WallTouch>& touches,
                         std::span<double> wakes) const;
  [[nodiscard]] double wake(double gap, double radius) const;
  // Which of them are new, and which have ended.
  void meet_walls(std::size_t row, std::vector<WallTouch>& touches);
  // The sum of what acts on the elements of a body.
  [[nodiscard]] Load load_of(std::size_t body) const;
  void finish(bool priming);
  struct Speed {
    double most = 0, in_margins = 0;  // lengths per time, and margins per time
  };
  Speed finish_block(std::size_t begin, std::size_t end, const Load* loads, bool priming);
  [[nodiscard]] double speed_of(std::size_t body) const;
  template <class F>
  void half_steps(std::size_t begin, std::size_t end, F&& f);
  // What is the same in whole blocks, found once for a list.
  void describe_blocks();
  [[nodiscard]] bool serves();
  [[nodiscard]] double largest_share_used() const;

  struct Acting {
    const Place* places;
    const Motion* motions;
    const std::uint8_t* materials;
    std::size_t size;
  };
  [[nodiscard]] Acting acting() const;

  ContactRows pairs_, wall_rows_;
  RemoteShares remote_;
  HugeVector<Load> loads_;
  std::vector<Shape::Kind> kinds_;              // of every element
  HugeVector<Pose> poses_;                      // of every element, if any is convex
  std::vector<Number> block_coefficients_;      // of every block: the coefficients that all its entries have, or nobody
  std::vector<std::uint8_t> round_blocks_;      // of every block of bodies: whether moments of inertia are all the same
  std::vector<double> wakes_;                   // of every entry of walls; see touch_walls
  std::vector<double> row_wakes_;               // the first of every row
  double odometer_ = 0;                         // how far bodies and walls can have come towards each other
  DriftWatch<double, 3> watch_;                 // of every element
  Buffer<double> margins_;                      // of every element
  DriftBound bound_;                            // of the share of a margin that is used up
  HugeVector<double> inverse_margins_;          // of every body
  std::vector<Speed> speeds_;                   // fastest of every block
  std::vector<std::array<Vec, 2>> wall_loads_;  // force and torque on every wall, block by block
  bool has_lists_ = false;
  double wall_margin_ = 0;  // of walls,
  double wall_drift_ = 0;   // and how far they have come
  Speed next_;              // of the next half step, at most
};

}  // namespace vicinal::dem
