// An assembly of grains: bodies, walls, the contact law and the space they are in. Its state at one moment; lists of
// possible contacts (lists.hpp), forces (forces.hpp) and the clock (clock.hpp) work on it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dem/arrays.hpp"
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
  Bodies bodies;
  Elements elements;
  std::vector<Shape> shapes;  // by the numbers that bodies have
  bool any_convex = false;    // some body is neither a sphere nor a clump
  std::vector<Wall> walls;
  std::vector<WallMesh> meshes;  // by wall; empty for other kinds
  // A contact with a wall, or one face of a mesh; the entries of wall rows are numbers of these.
  struct Primitive {
    Number wall, face;
  };
  std::vector<Primitive> primitives;
  void number_primitives();
  // The largest speed at which the surface of a wall may approach bodies.
  double wall_speed = 0;
  LawTable law;
  Vec gravity;
  Period period;

  // Elements: the bodies themselves unless some are clumps.
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

  // Keeps the given rows of bodies, in the given order.
  void take(std::span<const Number> rows);
  // The rows of elements of these rows of bodies.
  [[nodiscard]] std::vector<Number> element_rows(std::span<const Number> rows) const;
  // Rows of bodies in the order of a space-filling curve.
  [[nodiscard]] std::vector<Number> curve_order(double cell) const;
  // Moves centres into the periodic box.
  void wrap();

  // An upper bound of the speed of any point of a body in the next half step.
  [[nodiscard]] double speed_of(std::size_t body) const;

  // Notes the kind and size of every element; to be called when bodies or shapes have changed.
  void describe_elements();
  // Notes how elements are turned.
  void pose_elements();
  [[nodiscard]] bool is_convex(std::size_t element) const { return kinds_[element].convex; }  // not a ball
  [[nodiscard]] bool is_curved(std::size_t element) const { return kinds_[element].curved; }
  [[nodiscard]] const Shape& shape_of(std::size_t element) const;
  [[nodiscard]] Posed posed(std::size_t element) const;
  [[nodiscard]] const Pose* poses() const { return poses_.data(); }

  // Contacts (contacts.cpp). Effective mass and radius of two elements, wherever they touch.
  [[nodiscard]] Contact pair_of(std::size_t i, std::size_t j) const;
  // From the centre of the second element to a point that is given from the centre of the first.
  [[nodiscard]] Vec arm_of_second(std::size_t i, std::size_t j, Vec arm) const {
    return arm - period.shortest(centre(element_places()[j]) - centre(element_places()[i]));
  }
  [[nodiscard]] Contact sphere_contact(std::size_t i, std::size_t j) const;
  // Of any two elements. `guess` of the normal, or zero.
  [[nodiscard]] Contact pair_contact(std::size_t i, std::size_t j, Vec guess) const;
  // Whether a plane with this normal is surely between two elements.
  [[nodiscard]] bool are_separated(std::size_t i, std::size_t j, Vec normal) const;
  // The points of a contact of two elements.
  [[nodiscard]] Patch pair_patch(std::size_t i, std::size_t j, const Contact& contact) const;
  // The points of a contact with a plane or cylinder.
  [[nodiscard]] Patch surface_patch(std::size_t row, const Wall& wall, const Contact& contact) const;
  // The plane of a contact, fixed to one of the elements of a pair, or to the only one.
  [[nodiscard]] ContactPlane plane_of(const Contact& contact, std::size_t i, std::size_t j) const;
  [[nodiscard]] ContactPlane plane_of(const Contact& contact, std::size_t i) const;
  // Of an element that is not a sphere with a plane or cylinder.
  [[nodiscard]] Contact shape_on_surface(std::size_t row, const Wall& wall, std::size_t number) const;

 private:
  // Whether the feature that faces a direction, or its opposite, is known to be a point: balls, and curved shapes
  // except where the direction is across their axis.
  [[nodiscard]] bool faces_with_point(std::size_t element, Vec d) const {
    if (!is_curved(element)) return false;
    const AxisAndMargin& axis = poses_[element].axis;
    return !is_convex(element) || !(std::abs(dot(d, {axis.x, axis.y, axis.z})) < flat_sine);
  }

  struct Kind {
    bool convex, curved;
  };
  std::vector<Kind> kinds_;  // of every element
  HugeVector<Pose> poses_;   // of every element, if any is convex
};

}  // namespace vicinal::dem
