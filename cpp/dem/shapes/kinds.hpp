// The list of kinds of shapes. A new kind needs one file and one line here.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>

#include "dem/names.hpp"
#include "dem/shapes/ball.hpp"
#include "dem/shapes/polyhedron.hpp"
#include "dem/shapes/shape.hpp"
#include "dem/shapes/tablet.hpp"

namespace vicinal::dem {

using ShapeKinds = std::variant<Ball,  // the first: bodies without a shape are balls
                                Tablet, Polyhedron>;

// The members that a kind must have.
template <class K>
concept ShapeKind = requires(const K& kind, const ShapeValues& values, const ShapePose& frame) {
  K::name;
  { K::make(values) } -> std::same_as<K>;                   // from a description
  { kind.feature(frame, Vec{}) } -> std::same_as<Feature>;  // of the core that faces a direction of length 1
  { kind.farthest(frame, Vec{}) } -> std::same_as<Vec>;     // point of the core in a direction
};

// A kind whose surface consists of parts with closed formulas. Vector loops (curved.hpp) find the connection of two
// such shapes; `core` describes the kind to them.
template <class K>
concept CurvedKind = requires(const K& kind, const ShapePose& frame) {
  { kind.part(frame, Vec{}) } -> std::same_as<SurfacePart>;  // that contains the farthest point
  { kind.core() } -> std::same_as<TabletCore>;
};

struct GrainShape {
  ShapeKinds kind;
  double margin = 0;  // radius of the ball that rounds the core
  double radius = 0;  // for the law: radius of the sphere of equal volume

  [[nodiscard]] bool is_ball() const { return kind.index() == 0; }
  [[nodiscard]] bool is_curved() const {
    return std::visit([]<ShapeKind K>(const K&) { return CurvedKind<K>; }, kind);
  }
  // The dimensions that the vector loops read; zero for kinds that are not curved.
  [[nodiscard]] TabletCore core() const {
    return std::visit(
        []<ShapeKind K>(const K& k) {
          if constexpr (CurvedKind<K>) return k.core();
          else return TabletCore{};
        },
        kind);
  }
};

// The core of a shape of one kind in a pose.
template <ShapeKind K>
struct PosedCore {
  const K& kind;
  const ShapePose& frame;
  [[nodiscard]] Vec farthest(Vec d) const { return kind.farthest(frame, d); }
  [[nodiscard]] SurfacePart part(Vec d) const
    requires CurvedKind<K>
  {
    return kind.part(frame, d);
  }
};

// A shape in a pose.
struct Posed {
  const GrainShape* shape;
  ShapePose frame;

  [[nodiscard]] Vec farthest(Vec d) const {
    return std::visit([&](const auto& kind) { return kind.farthest(frame, d); }, shape->kind);
  }
  [[nodiscard]] Feature feature(Vec d) const {
    return std::visit([&](const auto& kind) { return kind.feature(frame, d); }, shape->kind);
  }
  // Calls f with the core, whose type depends on the kind.
  template <class F>
  auto with_core(F&& f) const {
    return std::visit([&]<ShapeKind K>(const K& kind) { return f(PosedCore<K>{kind, frame}); }, shape->kind);
  }
};

// Makes a shape from the name of its kind. Throws std::invalid_argument, which lists all names, if there is no kind of
// this name.
inline GrainShape make_shape(std::string_view name, const ShapeValues& values) {
  return [&]<std::size_t... k>(std::index_sequence<k...>) {
    const std::string_view names[] = {std::variant_alternative_t<k, ShapeKinds>::name...};
    const std::size_t place = place_of(name, names, "kind of a shape");
    GrainShape shape;
    (void)((place == k ? (shape.kind = std::variant_alternative_t<k, ShapeKinds>::make(values), true) : false) || ...);
    return shape;
  }(std::make_index_sequence<std::variant_size_v<ShapeKinds>>{});
}

}  // namespace vicinal::dem
