// The triangles of a wall, in the pose of its description.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mesh/surface.hpp"
#include "mesh/vec3.hpp"

namespace vicinal::dem {

struct WallMesh {
  std::vector<mesh::Vec3> vertices;
  std::vector<mesh::Corners> faces, face_edges;
  std::size_t edges = 0;
  std::vector<std::int32_t> keys;

  [[nodiscard]] mesh::Surface surface() const { return {vertices, faces, face_edges, edges}; }
};

}  // namespace vicinal::dem
