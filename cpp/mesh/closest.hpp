// The point of a triangle that is closest to a position, and the feature of the surface that contains it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "mesh/surface.hpp"
#include "mesh/vec3.hpp"

namespace vicinal::mesh {

struct Closest {
  Vec3 offset;  // from the position to the point
  double square;
  FeatureKind kind;
  std::int32_t feature;
};

namespace detail {

// The closest point of an edge, computed from its vertex with the smaller number, so that all faces that share it get
// the same bits.
inline Closest closest_on_edge(const Surface& surface, std::size_t face, std::size_t k, const Vec3& place) {
  std::int32_t from = surface.faces[face][k], to = surface.faces[face][(k + 1) % 3];
  if (to < from) std::swap(from, to);
  const Vec3& start = surface.vertices[static_cast<std::size_t>(from)];
  const Vec3& end = surface.vertices[static_cast<std::size_t>(to)];
  const Vec3 along = end - start, a = start - place, b = end - place;
  const double ahead = -dot(a, along), behind = dot(b, along);
  // Also holds for an edge of length 0.
  if (!(ahead > 0)) return {a, dot(a, a), FeatureKind::vertex, surface.vertex_feature(from)};
  if (!(behind > 0)) return {b, dot(b, b), FeatureKind::vertex, surface.vertex_feature(to)};
  // Computed from the nearer end, so that the point is accurate close to a vertex.
  const double square = dot(along, along);
  const Vec3 offset = ahead <= behind ? a + (ahead / square) * along : b - (behind / square) * along;
  return {offset, dot(offset, offset), FeatureKind::edge, surface.edge_feature(face, k)};
}

}  // namespace detail

inline Closest closest_point(const Surface& surface, std::size_t face, const Vec3& place) {
  const Vec3 normal = surface.normal(face);
  if (has_face(surface, face, normal)) {
    bool inside = true;
    // The height above the plane is computed from the nearest corner, where rounding is smallest.
    double nearest = std::numeric_limits<double>::infinity(), height = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 along = surface.corner(face, (k + 1) % 3) - surface.corner(face, k);
      const Vec3 a = surface.corner(face, k) - place;
      inside = inside && dot(cross(along, normal), a) > 0;
      const double square = dot(a, a);
      if (square < nearest) {
        nearest = square;
        height = dot(normal, a);
      }
    }
    if (inside) {
      const Vec3 offset = (height / dot(normal, normal)) * normal;
      return {offset, dot(offset, offset), FeatureKind::face, static_cast<std::int32_t>(face)};
    }
  }
  Closest best = detail::closest_on_edge(surface, face, 0, place);
  for (std::size_t k = 1; k < 3; ++k) {
    const Closest other = detail::closest_on_edge(surface, face, k, place);
    if (other.square < best.square) best = other;
  }
  return best;
}

}  // namespace vicinal::mesh
