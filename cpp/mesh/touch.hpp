// The points at which a sphere touches a surface, without repetitions.
//
// Every triangle within reach has a closest point. The point is a contact if the distance to the *surface* has a local
// minimum there. A point inside a face always is. A point on an edge or a vertex is a contact only if no other triangle
// at that edge or vertex comes closer; otherwise it is just the border of this triangle, on a flat floor or beside a
// concave edge.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "mesh/closest.hpp"
#include "mesh/surface.hpp"

namespace vicinal::mesh {

struct SurfaceTouch {
  std::int32_t body, face, key;
  Closest closest;
};

// Contact points closer together than this fraction of the radius are one contact: on a surface that is flat within
// rounding, computed points may be that far apart. (An error e of a distance h moves the foot of a perpendicular by
// sqrt(2 h e).)
inline constexpr double same_point = 1.0 / 65536;

class Toucher {
 public:
  // Memory that is used again by the next call.
  struct Room {
    std::vector<SurfaceTouch> near, kept;
    std::vector<std::pair<std::int32_t, std::size_t>> incident;
  };
  // keys[feature]: the number that identifies contacts on this feature.
  Toucher(const Surface& surface, std::span<const std::int32_t> keys, Room& room)
      : surface_(surface), keys_(keys), near_(room.near), kept_(room.kept), incident_(room.incident) {}

  // Appends the contacts of a body with any of the faces, ordered by key. The order of the faces does not matter.
  void touch(std::int32_t body, const Vec3& place, double radius, std::span<const std::int32_t> faces,
             std::vector<SurfaceTouch>& contacts) {
    near_.clear();
    for (const std::int32_t face : faces) {
      const Closest closest = closest_point(surface_, static_cast<std::size_t>(face), place);
      if (closest.square <= radius * radius) near_.push_back({body, face, 0, closest});
    }
    std::sort(near_.begin(), near_.end(), [](const SurfaceTouch& a, const SurfaceTouch& b) {
      return std::tuple(a.closest.square, a.closest.feature, a.face) <
             std::tuple(b.closest.square, b.closest.feature, b.face);
    });
    kept_.clear();
    if (near_.size() > 1) list_incident();
    // Nearest first: a contact is dropped only in favour of a nearer one, so none is missing.
    for (std::size_t k = 0; k < near_.size(); ++k)
      if (!is_end(k, place, same_point * radius) && !is_known(near_[k], same_point * radius)) kept_.push_back(near_[k]);
    name();
    contacts.insert(contacts.end(), kept_.begin(), kept_.end());
  }

 private:
  // For every edge and vertex, the near triangles that contain it, nearest first.
  void list_incident() {
    incident_.clear();
    for (std::size_t k = 0; k < near_.size(); ++k) {
      const auto face = static_cast<std::size_t>(near_[k].face);
      for (std::size_t c = 0; c < 3; ++c) {
        incident_.emplace_back(surface_.edge_feature(face, c), k);
        incident_.emplace_back(surface_.vertex_feature(surface_.faces[face][c]), k);
      }
    }
    std::sort(incident_.begin(), incident_.end());
  }

  // Whether the closest point of triangle k is only its border, because the surface comes closer beyond it.
  [[nodiscard]] bool is_end(std::size_t k, const Vec3& place, double tolerance) const {
    const Closest& own = near_[k].closest;
    if (own.kind == FeatureKind::face || k == 0) return false;
    const auto first = std::lower_bound(incident_.begin(), incident_.end(), std::pair(own.feature, std::size_t{0}));
    if (near_[first->second].closest.square < own.square) return true;
    // Triangles may also meet without a common vertex, for example if a corner lies on the edge of a larger triangle.
    const Vec3 point = place + own.offset;
    return std::any_of(near_.begin(), near_.begin() + static_cast<std::ptrdiff_t>(k), [&](const SurfaceTouch& other) {
      return other.closest.square < own.square &&
             closest_point(surface_, static_cast<std::size_t>(other.face), point).square <= tolerance * tolerance;
    });
  }

  [[nodiscard]] bool is_known(const SurfaceTouch& touch, double tolerance) const {
    return std::any_of(kept_.begin(), kept_.end(), [&](const SurfaceTouch& other) {
      const Vec3 apart = touch.closest.offset - other.closest.offset;
      return touch.closest.feature == other.closest.feature || dot(apart, apart) <= tolerance * tolerance;
    });
  }

  // The nearest contact on a patch gets the key of the patch; further contacts on it get that of their feature.
  void name() {
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const std::int32_t feature = kept_[k].closest.feature, key = keys_[static_cast<std::size_t>(feature)];
      const bool taken = std::any_of(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(k),
                                     [&](const SurfaceTouch& nearer) { return nearer.key == key; });
      kept_[k].key = taken ? feature : key;
    }
    std::sort(kept_.begin(), kept_.end(), [](const SurfaceTouch& a, const SurfaceTouch& b) { return a.key < b.key; });
  }

  const Surface& surface_;
  std::span<const std::int32_t> keys_;
  std::vector<SurfaceTouch>&near_, &kept_;
  std::vector<std::pair<std::int32_t, std::size_t>>& incident_;
};

// The unit normal of a contact, which points to the body.
inline Vec3 contact_normal(const Surface& surface, const SurfaceTouch& touch) {
  const Closest& closest = touch.closest;
  if (closest.square > 0) return (1 / std::sqrt(closest.square)) * (Vec3{0, 0, 0} - closest.offset);
  // The centre of the body is on the surface, so any direction out of the surface is valid.
  const Vec3 normal = surface.normal(static_cast<std::size_t>(touch.face));
  const double size = length(normal);
  return size > 0 ? (1 / size) * normal : Vec3{0, 0, 1};
}

}  // namespace vicinal::mesh
