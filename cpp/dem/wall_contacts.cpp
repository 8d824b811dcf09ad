// Contacts of elements with walls, and their history.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "dem/connection_contact.hpp"
#include "dem/face.hpp"
#include "dem/forces.hpp"
#include "dem/gjk.hpp"
#include "dem/walls/kinds.hpp"
#include "mesh/closest.hpp"
#include "mesh/touch.hpp"

namespace vicinal::dem {
namespace {

// If a contact with a wall ends and another one with the same wall begins in the same step, the new one takes over the
// springs if the cosine between the normals is at least this: a body that rolls from one triangle of a mesh to the next
// stays in contact.
constexpr double same_contact = 0.9;

// Contacts of a shape with a mesh that are closer together than this, relative to the radius of the body, are one
// contact.
constexpr double same_point = 1e-3;

// Triangles are in one plane if the cosine between their normals is at least same_normal, and their distance is at most
// same_plane times the radius of the body.
constexpr double same_normal = 1 - 1e-6, same_plane = 1e-4;

}  // namespace

bool Forces::touch_walls(std::size_t row, double odometer, std::vector<WallTouch>& touches,
                         std::span<double> wakes) const {
  const Assembly::Acting act = assembly_.acting();
  touches.clear();
  const Place& p = act.places[row];
  const double mass = 1.0 / act.motions[row].w.inverse_mass;
  bool behind = false;
  for (std::size_t k = lists_.walls.begin(row); k < lists_.walls.end(row); ++k) {
    const auto [number, which] = assembly_.primitives[lists_.walls.indices()[k]];
    const Wall& wall = assembly_.walls[number];
    if (wall.kind == Wall::mesh) {
      k = touch_mesh(row, k, odometer, touches, wakes) - 1;
      behind = true;  // a mesh has no inside
      continue;
    }
    if (odometer < wakes[k]) continue;
    const Nearest near = nearest_of(wall, centre(p));
    const double overlap = p.r - near.distance;
    behind = behind || near.distance < 0;
    wakes[k] = wake(odometer, -overlap, p.r);
    if (overlap <= 0) continue;
    if (!assembly_.is_convex(row)) {
      if (which > 0) continue;  // a sphere has one contact with a wall
      const Contact contact{centre(p) + near.distance * near.normal, near.normal, overlap, mass, p.r};
      touches.push_back({k, number, contact, Patch::single(contact), false, is_plane(wall)});
      continue;
    }
    Contact contact = assembly_.shape_on_surface(row, wall, which);
    contact.mass = mass;
    contact.radius = assembly_.shape_of(row).radius;
    if (contact.overlap > 0) touches.push_back({k, number, contact, assembly_.surface_patch(row, wall, contact)});
    else if (gives_distance(wall)) wakes[k] = wake(odometer, -contact.overlap, p.r);
  }
  return behind;
}

std::size_t Forces::touch_mesh(std::size_t row, std::size_t begin, double odometer, std::vector<WallTouch>& touches,
                               std::span<double> wakes) const {
  static thread_local struct {
    std::vector<std::int32_t> faces;
    std::vector<std::size_t> entries;  // entries of the faces
    std::vector<mesh::SurfaceTouch> found;
    mesh::Toucher::Room room;
  } of_thread;
  auto& [faces, entries, found, room] = of_thread;
  const Assembly::Acting act = assembly_.acting();
  const Place& p = act.places[row];
  const std::size_t number = assembly_.primitives[lists_.walls.indices()[begin]].wall;
  const Wall& wall = assembly_.walls[number];
  const WallMesh& mesh = assembly_.meshes[number];
  // The mesh keeps the pose of its description; the element is transformed into it.
  const Vec at = wall.to_description(centre(p));
  const mesh::Vec3 place{at.x, at.y, at.z};
  const double reach = p.r + mesh.slack;
  faces.clear();
  entries.clear();
  std::size_t k = begin;
  for (; k < lists_.walls.end(row); ++k) {
    const Assembly::Primitive& primitive = assembly_.primitives[lists_.walls.indices()[k]];
    if (primitive.wall != number) break;
    if (odometer < wakes[k]) continue;
    const double square = mesh.fences[primitive.face].least_square(place);
    if (square > reach * reach) {
      wakes[k] = wake(odometer, std::sqrt(square) - reach, p.r);
      continue;
    }
    faces.push_back(static_cast<std::int32_t>(primitive.face));
    entries.push_back(k);
  }
  if (faces.empty()) return k;
  if (assembly_.is_convex(row)) {
    touch_mesh_by_shape(row, number, entries, touches);
    return k;
  }
  const mesh::Surface surface = mesh.surface();
  found.clear();
  mesh::Toucher(surface, mesh.keys, room).touch(static_cast<std::int32_t>(row), place, p.r, faces, found);
  for (const mesh::SurfaceTouch& touch : found) {
    const mesh::Vec3 away = mesh::contact_normal(surface, touch);
    const Vec normal = rotate(wall.turned, {-away.x, -away.y, -away.z});
    const double distance = std::sqrt(touch.closest.square), overlap = p.r - distance;
    if (overlap <= 0) continue;
    const auto which = std::lower_bound(faces.begin(), faces.end(), touch.face) - faces.begin();
    const Contact contact{centre(p) + distance * normal, normal, overlap, 1.0 / act.motions[row].w.inverse_mass, p.r};
    touches.push_back({entries[static_cast<std::size_t>(which)], number, contact, Patch::single(contact), false,
                       touch.closest.kind == mesh::FeatureKind::face});
  }
  return k;
}

void Forces::meet_walls(std::size_t row, std::vector<WallTouch>& touches) {
  constexpr std::uint8_t before = 2;  // touched in the step before; not yet known whether it still does
  std::uint8_t* const active = lists_.walls.active();
  const std::size_t begin = lists_.walls.begin(row), end = lists_.walls.end(row);
  for (std::size_t k = begin; k < end; ++k)
    if (active[k] != 0) active[k] = before;
  for (WallTouch& touch : touches) {
    touch.fresh = active[touch.entry] == 0;
    active[touch.entry] = 1;
  }
  for (WallTouch& touch : touches) {
    if (!touch.fresh) continue;
    for (std::size_t k = begin; k < end; ++k) {
      if (active[k] != before || assembly_.primitives[lists_.walls.indices()[k]].wall != touch.wall) continue;
      if (dot(lists_.walls.normals()[k], touch.contact.normal) < same_contact) continue;
      lists_.walls.hand_over(k, touch.entry);
      touch.fresh = false;
      break;
    }
  }
  for (std::size_t k = begin; k < end; ++k)
    if (active[k] == before) lists_.walls.forget(k);
}

void Forces::touch_mesh_by_shape(std::size_t row, std::size_t number, std::span<const std::size_t> entries,
                                 std::vector<WallTouch>& touches) const {
  const Assembly::Acting act = assembly_.acting();
  const Posed body = assembly_.posed(row);
  const Wall& wall = assembly_.walls[number];
  const mesh::Surface surface = assembly_.meshes[number].surface();
  const auto face_of = [&](std::size_t k) { return assembly_.primitives[lists_.walls.indices()[k]].face; };
  const auto world = [&](const mesh::Vec3& p) { return wall.to_world({p.x, p.y, p.z}); };
  std::vector<WallTouch> found;
  std::vector<Face> triangles;
  for (const std::size_t k : entries) {
    const std::size_t face = face_of(k);
    const Face corners{
        {world(surface.corner(face, 0)), world(surface.corner(face, 1)), world(surface.corner(face, 2))}};
    triangles.push_back(corners);
    const Vec middle = (1.0 / 3) * (corners.corners[0] + corners.corners[1] + corners.corners[2]);
    const Vec towards = middle - body.frame.centre;
    const Connection connection =
        body.with_core([&](const auto& core) { return connect(core, corners, towards, body.shape->margin); });
    Contact contact = contact_of(connection, body.shape->margin, 0, towards);
    if (connection.distance == 0 || contact.overlap <= 0) continue;
    contact.point = connection.second;
    contact.mass = 1.0 / act.motions[row].w.inverse_mass;
    contact.radius = body.shape->radius;
    found.push_back({k, number, contact, Patch::single(contact)});
  }
  std::sort(found.begin(), found.end(), [](const WallTouch& a, const WallTouch& b) {
    return a.contact.overlap > b.contact.overlap || (a.contact.overlap == b.contact.overlap && a.entry < b.entry);
  });
  // A contact that lies on a face with a deeper contact is only the edge of its own triangle, and is dropped. Triangles
  // in one plane count as one face.
  const double tolerance = same_point * act.places[row].r;
  std::vector<std::size_t> faces;
  for (WallTouch& touch : found) {
    const Vec at = wall.to_description(touch.contact.point);
    const bool known = std::any_of(faces.begin(), faces.end(), [&](std::size_t face) {
      return mesh::closest_point(surface, face, {at.x, at.y, at.z}).square <= tolerance * tolerance;
    });
    faces.push_back(face_of(touch.entry));
    if (known) continue;
    const std::vector<std::size_t> joined = patch_on_triangles(row, entries, triangles, touch);
    for (const std::size_t k : joined) faces.push_back(face_of(k));
    // The contact uses the first of these entries that no other contact uses.
    const auto is_free = [&](std::size_t k) {
      return std::none_of(touches.begin(), touches.end(), [&](const WallTouch& other) { return other.entry == k; });
    };
    const auto entry = std::find_if(joined.begin(), joined.end(), is_free);
    if (entry != joined.end()) touch.entry = *entry;
    touches.push_back(touch);
  }
}

// A triangle inside the core exerts no force, since the direction is not known. It is reported as an overlap of at
// least the margin.
void Forces::pierced_meshes(std::size_t row, std::vector<WallTouch>& found) const {
  found.clear();
  if (!assembly_.is_convex(row)) return;
  const Posed body = assembly_.posed(row);
  const Vec middle = body.frame.centre;
  for (std::size_t k = lists_.walls.begin(row); k < lists_.walls.end(row); ++k) {
    const auto [number, which] = assembly_.primitives[lists_.walls.indices()[k]];
    const Wall& wall = assembly_.walls[number];
    if (wall.kind != Wall::mesh || (!found.empty() && found.back().wall == number)) continue;
    const mesh::Surface surface = assembly_.meshes[number].surface();
    Face triangle;
    for (std::size_t c = 0; c < 3; ++c) {
      const mesh::Vec3 p = surface.corner(which, c);
      triangle.corners[c] = wall.to_world({p.x, p.y, p.z});
    }
    const Vec* const p = triangle.corners;
    const Vec towards = (1.0 / 3) * (p[0] + p[1] + p[2]) - middle;
    const double distance =
        body.with_core([&](const auto& core) { return connect(core, triangle, towards, body.shape->margin); }).distance;
    if (distance > 0) continue;
    const Vec across = cross(p[1] - p[0], p[2] - p[0]);
    Contact contact;
    contact.normal = ((dot(across, towards) < 0 ? -1 : 1) / norm(across)) * across;
    contact.point = middle + dot(towards, contact.normal) * contact.normal;
    contact.overlap = body.shape->margin;
    found.push_back({k, number, contact, Patch::single(contact)});
  }
}

// Sets the patch of a contact that lies on several triangles in one plane, and returns their entries.
std::vector<std::size_t> Forces::patch_on_triangles(std::size_t row, std::span<const std::size_t> entries,
                                                    std::span<const Face> triangles, WallTouch& touch) const {
  const Posed body = assembly_.posed(row);
  const Contact& contact = touch.contact;
  const Feature first = body.feature(contact.normal);
  if (first.size == 1) return {};
  const auto feature_of = [](const Face& triangle) {
    const Vec* const p = triangle.corners;
    Feature feature;
    for (std::size_t k = 0; k < 3; ++k) feature.add(p[k]);
    const Vec normal = cross(p[1] - p[0], p[2] - p[0]);
    feature.normal = (1 / norm(normal)) * normal;
    return feature;
  };
  const auto own = std::find(entries.begin(), entries.end(), touch.entry) - entries.begin();
  const Feature own_face = feature_of(triangles[static_cast<std::size_t>(own)]);
  if (!(std::abs(dot(own_face.normal, contact.normal)) > flat_cosine)) return {};

  const ContactPlane plane = assembly_.plane_of(contact, row);
  const Facing own_facing(plane, first, own_face, body.shape->margin);
  const double tolerance = same_plane * assembly_.element_places()[row].r;
  Moments moments;
  std::vector<Flat> corners;
  std::vector<std::size_t> joined;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const Feature face = feature_of(triangles[t]);
    const bool parallel = std::abs(dot(face.normal, own_face.normal)) > same_normal;
    if (!parallel || std::abs(dot(face.corners[0] - contact.point, own_face.normal)) > tolerance) continue;
    const Facing facing(plane, first, face, body.shape->margin);
    const Polygon region = facing.region(contact.overlap);
    if (region.size < 2) continue;
    moments.add(region);
    corners.insert(corners.end(), region.corners, region.corners + region.size);
    joined.push_back(entries[t]);
  }
  if (joined.empty()) return {};
  patches::PatchRegion region;
  region.border = hull_of(corners);
  region.border.tidy(patches::shortest * body.shape->radius);
  region.set(moments);
  touch.patch = patch_on(region, contact, plane, own_facing.overlap, body.shape->radius,
                         body.shape->margin * first.beyond, own_facing.second.height);
  return joined;
}

}  // namespace vicinal::dem
