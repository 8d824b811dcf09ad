// Groups of features: faces that are connected (nearly) smoothly form a patch, together with the edges and vertices
// between them. A contact that rolls over a patch stays the same contact.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "mesh/surface.hpp"

namespace vicinal::mesh {

namespace detail {

class Groups {
 public:
  explicit Groups(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t leader(std::size_t k) {
    while (parent_[k] != k) k = parent_[k] = parent_[parent_[k]];
    return k;
  }
  void join(std::size_t a, std::size_t b) {
    a = leader(a);
    b = leader(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

// Whether two faces that share edge k of the first are connected smoothly, up to an angle with the given cosine. The
// orientation of the faces does not matter.
inline bool continues(const Surface& surface, std::size_t face, std::size_t k, std::size_t other, double cosine) {
  const Vec3& start = surface.corner(face, k);
  const Vec3 along = surface.corner(face, (k + 1) % 3) - start;
  const std::int32_t edge = surface.face_edges[face][k];
  const auto at = std::find(surface.face_edges[other].begin(), surface.face_edges[other].end(), edge);
  const auto k_other = static_cast<std::size_t>(at - surface.face_edges[other].begin());
  const Vec3 a = cross(along, surface.corner(face, (k + 2) % 3) - start);
  const Vec3 b = cross(surface.corner(other, (k_other + 2) % 3) - start, along);
  return dot(a, b) >= cosine * (length(a) * length(b));
}

}  // namespace detail

// Returns the key of every feature, and the number of patches. The key of a feature outside of patches is its number;
// the keys of patches follow the numbers of all features.
inline std::pair<std::vector<std::int32_t>, std::size_t> patch_keys(const Surface& surface, double cosine) {
  const std::size_t faces = surface.faces.size();
  // Faces by edge: an edge between exactly two faces may join them.
  std::vector<std::pair<std::int32_t, std::size_t>> sides;  // (edge, 3 face + k)
  for (std::size_t face = 0; face < faces; ++face) {
    if (!has_face(surface, face, surface.normal(face))) continue;
    for (std::size_t k = 0; k < 3; ++k) sides.emplace_back(surface.face_edges[face][k], 3 * face + k);
  }
  std::sort(sides.begin(), sides.end());
  detail::Groups groups(faces);
  std::vector<std::int32_t> patch_of_edge(surface.edges, -1);  // a face of the patch
  for (std::size_t begin = 0, end = 0; begin < sides.size(); begin = end) {
    while (end < sides.size() && sides[end].first == sides[begin].first) ++end;
    const std::size_t face = sides[begin].second / 3;
    if (end - begin != 2) continue;
    const std::size_t other = sides[begin + 1].second / 3;
    if (!detail::continues(surface, face, sides[begin].second % 3, other, cosine)) continue;
    groups.join(face, other);
    patch_of_edge[static_cast<std::size_t>(sides[begin].first)] = static_cast<std::int32_t>(face);
  }

  // A vertex belongs to a patch if all its edges do.
  constexpr std::int32_t unseen = -2, none = -1;
  std::vector<std::int32_t> patch_of_vertex(surface.vertices.size(), unseen);
  for (std::size_t face = 0; face < faces; ++face)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int32_t edge = patch_of_edge[static_cast<std::size_t>(surface.face_edges[face][k])];
      const auto patch = edge < 0 ? none : static_cast<std::int32_t>(groups.leader(static_cast<std::size_t>(edge)));
      for (const std::size_t end : {k, (k + 1) % 3}) {
        auto& known = patch_of_vertex[static_cast<std::size_t>(surface.faces[face][end])];
        if (known == unseen) known = patch;
        else if (known != patch) known = none;
      }
    }

  std::vector<std::int32_t> keys(surface.features());
  std::iota(keys.begin(), keys.end(), 0);
  std::vector<std::int32_t> size(faces, 0), number(faces, -1);
  for (std::size_t face = 0; face < faces; ++face) ++size[groups.leader(face)];
  std::int32_t patches = 0;
  for (std::size_t face = 0; face < faces; ++face)
    if (size[face] > 1) number[face] = static_cast<std::int32_t>(surface.features()) + patches++;
  const auto assign = [&](std::size_t feature, std::int32_t face) {
    if (face < 0) return;
    const std::int32_t key = number[groups.leader(static_cast<std::size_t>(face))];
    if (key >= 0) keys[feature] = key;
  };
  for (std::size_t face = 0; face < faces; ++face) assign(face, static_cast<std::int32_t>(face));
  for (std::size_t edge = 0; edge < surface.edges; ++edge) assign(faces + edge, patch_of_edge[edge]);
  for (std::size_t v = 0; v < surface.vertices.size(); ++v) assign(faces + surface.edges + v, patch_of_vertex[v]);
  return {keys, static_cast<std::size_t>(patches)};
}

}  // namespace vicinal::mesh
