// Triangles with shared corners and edges: the features of a surface and the triangles that they belong to.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mesh/vec3.hpp"

namespace vicinal::mesh {

enum class FeatureKind : std::uint8_t { face, edge, vertex };

using Corners = std::array<std::int32_t, 3>;

// Edge k of a face connects its corner k with the next one. Features are numbered consecutively: faces, edges,
// vertices.
struct Surface {
  std::span<const Vec3> vertices;
  std::span<const Corners> faces;
  std::span<const Corners> face_edges;
  std::size_t edges = 0;

  [[nodiscard]] std::size_t features() const { return faces.size() + edges + vertices.size(); }
  [[nodiscard]] std::int32_t edge_feature(std::size_t face, std::size_t k) const {
    return static_cast<std::int32_t>(faces.size()) + face_edges[face][k];
  }
  [[nodiscard]] std::int32_t vertex_feature(std::int32_t vertex) const {
    return static_cast<std::int32_t>(faces.size() + edges) + vertex;
  }
  [[nodiscard]] const Vec3& corner(std::size_t face, std::size_t k) const {
    return vertices[static_cast<std::size_t>(faces[face][k])];
  }
  // A vector perpendicular to the face, whose length is twice the area.
  [[nodiscard]] Vec3 normal(std::size_t face) const {
    return cross(corner(face, 1) - corner(face, 0), corner(face, 2) - corner(face, 0));
  }
};

// A triangle whose height is less than this fraction of its longest edge counts as edges only: its normal would be
// dominated by rounding, and its face is not significantly closer than its edges.
inline constexpr double thinnest = 1e-12;

inline bool has_face(const Surface& surface, std::size_t face, const Vec3& normal) {
  double longest = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 edge = surface.corner(face, (k + 1) % 3) - surface.corner(face, k);
    longest = std::max(longest, dot(edge, edge));
  }
  return length(normal) > thinnest * longest;
}

}  // namespace vicinal::mesh
