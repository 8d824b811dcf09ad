// Where elements touch walls, and which contacts live on.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "dem/world.hpp"
#include "mesh/touch.hpp"

namespace vicinal::dem {
namespace {

// A contact that has ended on a mesh hands its springs to one that begins beside it if their normals differ by less
// than this cosine: a body that rolls from one triangle to the next has not let go.
constexpr double same_contact = 0.9;

}  // namespace

void World::number_primitives() {
  primitives.clear();
  for (std::size_t w = 0; w < walls.size(); ++w) {
    const std::size_t count = walls[w].kind == WallKind::mesh ? meshes[w].faces.size() : 1;
    for (std::size_t face = 0; face < count; ++face)
      primitives.push_back({static_cast<Number>(w), static_cast<Number>(face)});
  }
}

// A wall whose gap to a body is more than this part of its radius is left alone until it can have come near. A part of
// the gap is kept for what rounding adds to a path.
double World::wake(double gap, double radius) const {
  constexpr double least_gap = 1e-6, usable = 0.9;
  return gap > least_gap * radius ? odometer_ + usable * gap : 0;
}

void World::touch_walls(std::size_t row, std::vector<WallTouch>& touches, std::span<double> wakes) const {
  const Acting act = acting();
  touches.clear();
  const Place& p = act.places[row];
  const double mass = 1.0 / act.motions[row].w.inverse_mass;
  for (std::size_t k = wall_rows_.begin(row); k < wall_rows_.end(row); ++k) {
    const std::size_t number = primitives[wall_rows_.indices()[k]].wall;
    const Wall& wall = walls[number];
    if (wall.kind == WallKind::mesh) {
      k = touch_mesh(row, k, touches, wakes) - 1;
      continue;
    }
    if (odometer_ < wakes[k]) continue;
    const Nearest near = nearest_of(wall, centre(p));
    const double overlap = p.r - near.distance;
    wakes[k] = wake(-overlap, p.r);
    if (overlap <= 0) continue;
    if (!is_convex(row)) {
      touches.push_back({k, number, {centre(p) + near.distance * near.normal, near.normal, overlap, mass, p.r}});
      continue;
    }
    Contact contact = shape_on_surface(row, wall);
    contact.mass = mass;
    contact.radius = shape_of(row).radius;
    if (contact.overlap > 0) touches.push_back({k, number, contact});
  }
}

std::size_t World::touch_mesh(std::size_t row, std::size_t begin, std::vector<WallTouch>& touches,
                              std::span<double> wakes) const {
  static thread_local std::vector<std::int32_t> faces;
  static thread_local std::vector<std::size_t> entries;  // of the faces
  static thread_local std::vector<mesh::Touch> found;
  const Acting act = acting();
  const Place& p = act.places[row];
  const std::size_t number = primitives[wall_rows_.indices()[begin]].wall;
  const Wall& wall = walls[number];
  const WallMesh& mesh = meshes[number];
  // The mesh stays as it was described; the element is brought to it.
  const Vec at = wall.to_description(centre(p));
  const mesh::Vec3 place{at.x, at.y, at.z};
  const double reach = p.r + mesh.slack;
  faces.clear();
  entries.clear();
  std::size_t k = begin;
  for (; k < wall_rows_.end(row); ++k) {
    const Primitive& primitive = primitives[wall_rows_.indices()[k]];
    if (primitive.wall != number) break;
    if (odometer_ < wakes[k]) continue;
    const double square = mesh.fences[primitive.face].least_square(place);
    if (square > reach * reach) {
      wakes[k] = wake(std::sqrt(square) - reach, p.r);
      continue;
    }
    faces.push_back(static_cast<std::int32_t>(primitive.face));
    entries.push_back(k);
  }
  if (faces.empty()) return k;
  if (is_convex(row)) {
    touch_mesh_by_shape(row, number, entries, touches);
    return k;
  }
  const mesh::Surface surface = mesh.surface();
  found.clear();
  mesh::Toucher(surface, mesh.keys).touch(static_cast<std::int32_t>(row), place, p.r, faces, found);
  for (const mesh::Touch& touch : found) {
    const mesh::Vec3 away = mesh::contact_normal(surface, touch);
    const Vec normal = rotate(wall.turned, {-away.x, -away.y, -away.z});
    const double distance = std::sqrt(touch.closest.square), overlap = p.r - distance;
    if (overlap <= 0) continue;
    const auto which = std::lower_bound(faces.begin(), faces.end(), touch.face) - faces.begin();
    touches.push_back({entries[static_cast<std::size_t>(which)],
                       number,
                       {centre(p) + distance * normal, normal, overlap, 1.0 / act.motions[row].w.inverse_mass, p.r}});
  }
  return k;
}

void World::meet_walls(std::size_t row, std::vector<WallTouch>& touches) {
  constexpr std::uint8_t before = 2;  // touched in the step before, perhaps no longer
  std::uint8_t* const active = wall_rows_.active();
  const std::size_t begin = wall_rows_.begin(row), end = wall_rows_.end(row);
  for (std::size_t k = begin; k < end; ++k)
    if (active[k] != 0) active[k] = before;
  for (WallTouch& touch : touches) {
    touch.fresh = active[touch.entry] == 0;
    active[touch.entry] = 1;
  }
  for (WallTouch& touch : touches) {
    if (!touch.fresh || walls[touch.wall].kind != WallKind::mesh) continue;
    for (std::size_t k = begin; k < end; ++k) {
      if (active[k] != before || primitives[wall_rows_.indices()[k]].wall != touch.wall) continue;
      if (dot(wall_rows_.normals()[k], touch.contact.normal) < same_contact) continue;
      wall_rows_.hand_over(k, touch.entry);
      touch.fresh = false;
      break;
    }
  }
  for (std::size_t k = begin; k < end; ++k)
    if (active[k] == before) wall_rows_.forget(k);
}

}  // namespace vicinal::dem
