// The state of an assembly of grains at one moment: bodies, walls, the contact law and the periodic cell. The lists of
// possible contacts (lists.hpp), the forces (forces.hpp) and the clock (clock.hpp) work on it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/blocks.hpp"
#include "dem/bodies.hpp"
#include "dem/contact.hpp"
#include "dem/elements.hpp"
#include "dem/law_table.hpp"
#include "dem/patch.hpp"
#include "dem/shapes/kinds.hpp"
#include "dem/wall_mesh.hpp"
#include "dem/walls.hpp"

namespace vicinal::dem {

class Assembly {
 public:
  GrainBodies bodies;
  Elements elements;
  KeyBlocks blocks;
  std::vector<GrainShape> shapes;  // GrainBodies::shapes refers to these
  bool any_convex = false;         // whether a body is neither a sphere nor a clump
  std::vector<Wall> walls;
  std::vector<WallMesh> meshes;  // one per wall; empty unless the wall is a mesh
  // A possible contact with a wall, or one face of a mesh. The rows of walls contain numbers of primitives.
  struct Primitive {
    Number wall, face;
  };
  std::vector<Primitive> primitives;
  void number_primitives();
  // An upper bound of the speed at which the surface of a wall approaches bodies.
  double wall_speed = 0;
  LawTable law;
  Vec gravity;
  Period period;

  // The elements on which forces act: the bodies themselves, or their spheres if some bodies are clumps.
  struct Acting {
    const Place* places;
    const Motion* motions;
    const std::uint8_t* materials;
    std::size_t size;
  };
  [[nodiscard]] Acting acting() const;
  [[nodiscard]] const HugeVector<Place>& element_places() const {
    return elements.used() ? elements.places : bodies.places;
  }
  void place_elements() {
    if (elements.used()) elements.place(bodies);
  }
  [[nodiscard]] std::size_t body_of(std::size_t element) const {
    return elements.used() ? elements.owners[element] : element;
  }

  // Reorders the bodies: keeps the given rows in the given order.
  void take(std::span<const Number> rows);
  // The rows of the elements that belong to these rows of bodies.
  [[nodiscard]] std::vector<Number> element_rows(std::span<const Number> rows) const;
  // Gives every body its place along a space-filling curve through cells of this size, of which one begins at `low`.
  void set_keys(Vec low, double cell);
  // The rows of bodies, sorted by key, then by id.
  [[nodiscard]] std::vector<Number> key_order() const;
  // Blocks of elements: the first element of every block, and the number of elements.
  [[nodiscard]] std::vector<std::size_t> block_offsets() const;
  // Wraps centres into the periodic cell.
  void wrap();

  // Upper bounds of the speeds of the elements of a body, and of any point of it, in the next half step.
  [[nodiscard]] double speed_of(std::size_t body) const;
  [[nodiscard]] double surface_speed_of(std::size_t body) const;
  // The largest speed that the spin of bodies begin to end - 1 adds to that of their centres.
  [[nodiscard]] double tip_speed(std::size_t begin, std::size_t end) const;

  // Stores the kind and size of every element. Must be called after bodies or shapes have changed.
  void describe_elements();
  // Stores the present orientation of every element.
  void pose_elements();
  [[nodiscard]] bool is_convex(std::size_t element) const {
    return kinds_[element].convex;
  }  // neither a sphere nor part of a clump
  [[nodiscard]] bool is_curved(std::size_t element) const { return kinds_[element].curved; }
  [[nodiscard]] const GrainShape& shape_of(std::size_t element) const;
  [[nodiscard]] Posed posed(std::size_t element) const;
  [[nodiscard]] const TabletPose* poses() const { return poses_.data(); }
  [[nodiscard]] const double* sizes() const { return sizes_.data(); }  // per element: the radius for the law

  // Contacts (contacts.cpp). The effective mass and radius of two elements; both are independent of the point of
  // contact.
  [[nodiscard]] Contact pair_of(std::size_t i, std::size_t j) const;
  // Converts a vector from the centre of the first element to a point into the vector from the centre of the second.
  [[nodiscard]] Vec arm_of_second(std::size_t i, std::size_t j, Vec arm) const {
    return arm - period.shortest(centre(element_places()[j]) - centre(element_places()[i]));
  }
  [[nodiscard]] Contact sphere_contact(std::size_t i, std::size_t j) const;
  // The contact of any two elements. `guess` is an estimate of the normal, or zero. If the two are apart, the normal is
  // that of a separating plane, with a gap of at least `gap` if there is one.
  [[nodiscard]] Contact pair_contact(std::size_t i, std::size_t j, Vec guess, double gap = 0) const;
  // The gap between two planes with this normal that touch one element each: a lower bound of their distance.
  [[nodiscard]] double gap_along(std::size_t i, std::size_t j, Vec normal) const;
  // The points of a contact of two elements.
  [[nodiscard]] Patch pair_patch(std::size_t i, std::size_t j, const Contact& contact) const;
  // The points of a contact with a plane or cylinder.
  [[nodiscard]] Patch surface_patch(std::size_t row, const Wall& wall, const Contact& contact) const;
  // The plane of a contact. Its axes are fixed to one of the two elements, or to the only one.
  [[nodiscard]] ContactPlane plane_of(const Contact& contact, std::size_t i, std::size_t j) const;
  [[nodiscard]] ContactPlane plane_of(const Contact& contact, std::size_t i) const;
  // Contact `number` of a non-spherical element with a plane or cylinder.
  [[nodiscard]] Contact shape_on_surface(std::size_t row, const Wall& wall, std::size_t number) const;

 private:
  // Whether the feature that faces a direction, or its opposite, is known to be a point. This holds for balls, and for
  // curved shapes unless the direction is nearly perpendicular to their axis.
  [[nodiscard]] bool faces_with_point(std::size_t element, Vec d) const {
    if (!is_curved(element)) return false;
    const AxisAndMargin& axis = poses_[element].axis;
    return !is_convex(element) || !(std::abs(dot(d, {axis.x, axis.y, axis.z})) < flat_sine);
  }

  struct Kind {
    bool convex, curved;
  };
  std::vector<Kind> kinds_;  // one per element
  std::vector<double> sizes_;
  HugeVector<TabletPose> poses_;  // one per element if any is convex, else empty
};

}  // namespace vicinal::dem
