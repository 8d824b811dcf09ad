// The triangles of a wall, in the pose of its description.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dem/kernels.hpp"
#include "mesh/surface.hpp"
#include "mesh/vec3.hpp"

namespace vicinal::dem {

// Four planes around a triangle: its own plane, and the planes through its edges perpendicular to it, which face
// outwards. The distances of a point from them give a cheap lower bound of its distance from the triangle.
struct Fence {
  double x[4], y[4], z[4], offset[4];

  [[nodiscard]] double least_square(const mesh::Vec3& place) const {
    double d[4];
    for (std::size_t k = 0; k < 4; ++k) d[k] = ((x[k] * place.x + y[k] * place.y) + z[k] * place.z) - offset[k];
    const double outside = std::max(std::max(d[1], d[2]), std::max(d[3], 0.0));
    return d[0] * d[0] + outside * outside;
  }
};

struct WallMesh {
  std::vector<mesh::Vec3> vertices;
  std::vector<mesh::Corners> faces, face_edges;
  std::size_t edges = 0;
  std::vector<std::int32_t> keys;
  std::vector<Fence> fences;
  std::vector<FlatFace> flats;
  double slack = 0;  // bound of the rounding error of distances from fences

  [[nodiscard]] mesh::Surface surface() const { return {vertices, faces, face_edges, edges}; }

  void raise_fences() {
    // The normal of a triangle thinner than this is too inaccurate; its fence is all zeros, a lower bound of 0.
    constexpr double thinnest = 1e-3, rounding = 1e-11;
    const mesh::Surface all = surface();
    fences.assign(faces.size(), {});
    double largest = 0;
    for (const mesh::Vec3& v : vertices) largest = std::max({largest, std::abs(v.x), std::abs(v.y), std::abs(v.z)});
    slack = rounding * largest;
    for (std::size_t f = 0; f < faces.size(); ++f) {
      const mesh::Vec3 normal = all.normal(f);
      mesh::Vec3 along[3];
      double longest = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        along[k] = all.corner(f, (k + 1) % 3) - all.corner(f, k);
        longest = std::max(longest, dot(along[k], along[k]));
      }
      if (!(length(normal) > thinnest * longest)) continue;
      const auto set = [&](std::size_t k, const mesh::Vec3& direction, const mesh::Vec3& through) {
        const mesh::Vec3 unit = (1 / length(direction)) * direction;
        fences[f].x[k] = unit.x, fences[f].y[k] = unit.y, fences[f].z[k] = unit.z;
        fences[f].offset[k] = dot(unit, through);
      };
      set(0, normal, all.corner(f, 0));
      for (std::size_t k = 0; k < 3; ++k) set(k + 1, cross(along[k], normal), all.corner(f, k));
    }
  }
  // With the operations of mesh::closest_point, so that both give the same bits.
  void set_flats() {
    const mesh::Surface all = surface();
    flats.assign(faces.size(), {});
    for (std::size_t f = 0; f < faces.size(); ++f) {
      const mesh::Vec3 normal = all.normal(f);
      if (!mesh::has_face(all, f, normal)) continue;
      FlatFace& flat = flats[f];
      for (std::size_t k = 0; k < 3; ++k) {
        const mesh::Vec3& corner = all.corner(f, k);
        const mesh::Vec3 outward = cross(all.corner(f, (k + 1) % 3) - corner, normal);
        flat.corners[k] = Vec{corner.x, corner.y, corner.z};
        flat.outward[k] = Vec{outward.x, outward.y, outward.z};
      }
      flat.normal = {normal.x, normal.y, normal.z, dot(normal, normal)};
    }
  }
};

}  // namespace vicinal::dem
