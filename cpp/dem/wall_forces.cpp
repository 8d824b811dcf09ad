// Contacts of elements with walls, their history, and their forces on a block of rows.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "dem/connection_contact.hpp"
#include "dem/face.hpp"
#include "dem/forces.hpp"
#include "dem/gjk.hpp"
#include "dem/kernels.hpp"
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

// Whether the centre of a sphere may have passed through a wall; most bodies need no further test.
bool may_have_crossed(double radius, Vec speed, double wall_speed, double step, double deepest_overlap) {
  const double left = short_way * radius - wall_speed * step;
  if (left < 0 || dot(speed, speed) * (step * step) > left * left) return true;
  return deepest_overlap > (1 - short_way) * radius;
}
double deepest(const std::vector<WallTouch>& touches) {
  double overlap = 0;
  for (const WallTouch& touch : touches) overlap = std::max(overlap, touch.contact.overlap);
  return overlap;
}

}  // namespace

void Forces::wall_forces(std::size_t block, double step) {
  const Assembly::Acting act = assembly_.acting();
  // A reference: each use of the thread-local variable itself would be a function call.
  static thread_local struct {
    LastingWalls lasting;
    MetWalls met;
    std::vector<Number> doubtful;
  } of_thread;
  auto& [lasting, met, doubtful] = of_thread;
  WallShares& shares = wall_shares_[block];
  for (auto* list : {&lasting.planes, &lasting.faces, &lasting.tablets, &met.spheres, &met.shapes}) list->clear();
  met.patches.clear();
  doubtful.clear();
  shares.walls.clear();
  shares.loads.clear();
  const double odometer = wall_odometers_[block];
  for (std::size_t k = wall_row_offsets_[block]; k < wall_row_offsets_[block + 1]; ++k) {
    if (odometer < row_wakes_[k]) take_lasting(wall_rows_[k], lasting);
    else visit_walls(k, odometer, step, met);
  }
  follow_lasting(kernels().lasting_planes, lasting.planes, step, doubtful);
  follow_lasting(kernels().lasting_faces, lasting.faces, step, doubtful);
  follow_lasting(kernels().lasting_tablets, lasting.tablets, step, doubtful);
  for (const Number row : doubtful) {
    const auto place = std::lower_bound(wall_rows_.begin(), wall_rows_.end(), row) - wall_rows_.begin();
    visit_walls(static_cast<std::size_t>(place), odometer, step, met);
  }
  // All contacts of a body at one point come from the same list, in the order of their entries.
  met.spheres.append(lasting.planes);
  met.spheres.append(lasting.faces);
  met.shapes.append(lasting.tablets);
  one_point_forces(met.spheres, step, shares);
  one_point_forces(met.shapes, step, shares);
  if (met.patches.empty()) return;
  apply_law(met.patches, lists_.walls, step);
  for (const PointContact& contact : met.patches) {
    const Vec force = contact.force, moment = contact.moment, point = contact.point;
    const Vec torque = cross(point - centre(act.places[contact.row]), force) + moment;
    add(loads_[contact.row], force, torque);
    const Vec arm = point - assembly_.walls[contact.second].middle();
    shares.walls.push_back(contact.second);
    add(shares.loads.emplace_back(), -force, cross(arm, -force) - moment);
  }
}

void Forces::visit_walls(std::size_t k, double odometer, double step, MetWalls& met) {
  static thread_local std::vector<WallTouch> touches;
  const Assembly::Acting act = assembly_.acting();
  const std::size_t row = wall_rows_[k], begin = lists_.walls.begin(row), end = lists_.walls.end(row);
  if (plain_rows_[k] != 0) {
    row_wakes_[k] = touch_surfaces(row, odometer, step, met.spheres);
    return;
  }
  const bool convex = assembly_.is_convex(row);
  const bool behind = touch_walls(row, odometer, touches, wakes_);
  // The second test does not work for other shapes than spheres: their radius is that of the bounding sphere, which
  // may overlap a wall deeply at any time.
  if (behind &&
      (convex || may_have_crossed(act.places[row].r, act.motions[row].v, assembly_.wall_speed, step, deepest(touches))))
    note_crossings(row, step);
  meet_walls(row, touches);
  const bool last = (convex || touches.size() == 1) &&
                    std::all_of(touches.begin(), touches.end(), [](const WallTouch& touch) { return touch.lasts; });
  row_wakes_[k] = std::numeric_limits<double>::infinity();
  for (std::size_t e = begin; e < end; ++e)
    if (!(last && lists_.walls.active()[e] != 0)) row_wakes_[k] = std::min(row_wakes_[k], wakes_[e]);
  for (const WallTouch& touch : touches) {
    const Contact& contact = touch.contact;
    lists_.walls.set_points(touch.entry, touch.patch.size);
    if (touch.patch.size > 1) {
      take_patch(row, touch, step, met.patches);
      continue;
    }
    const WallContact made = wall_contact(row, touch.entry, contact.normal, contact.overlap);
    const Vec arm = contact.point - centre(act.places[row]);
    if (convex) met.shapes.push(made, {arm.x, arm.y, arm.z, contact.radius});
    else met.spheres.push(made);
  }
}

// A sphere has one contact with a plane or cylinder, so no contact takes over the history of another one.
double Forces::touch_surfaces(std::size_t row, double odometer, double step, WallContacts& met) {
  const Assembly::Acting act = assembly_.acting();
  const Place p = act.places[row];
  std::uint8_t* const active = lists_.walls.active();
  double deepest = 0, first = std::numeric_limits<double>::infinity();
  for (std::size_t k = lists_.walls.begin(row); k < lists_.walls.end(row); ++k) {
    bool lasts = false;
    if (odometer >= wakes_[k]) {
      const auto [number, which] = assembly_.primitives[lists_.walls.indices()[k]];
      const Nearest near = nearest_of(assembly_.walls[number], centre(p));
      const double overlap = p.r - near.distance;
      wakes_[k] = which > 0 ? std::numeric_limits<double>::infinity() : wake(odometer, -overlap, p.r);
      if (which == 0 && overlap > 0) {
        lists_.walls.set_points(k, 1);
        met.push(wall_contact(row, k, near.normal, overlap));
        active[k] = 1;
        deepest = std::max(deepest, overlap);
        lasts = is_plane(assembly_.walls[number]);
      } else if (active[k] != 0) {
        lists_.walls.forget(k);
      }
    }
    if (!lasts) first = std::min(first, wakes_[k]);
  }
  if (may_have_crossed(p.r, act.motions[row].v, assembly_.wall_speed, step, deepest)) note_crossings(row, step);
  return first;
}

WallContact Forces::wall_contact(std::size_t row, std::size_t entry, Vec normal, double overlap) const {
  const Assembly::Primitive& primitive = assembly_.primitives[lists_.walls.indices()[entry]];
  return {{normal.x, normal.y, normal.z, overlap},
          static_cast<Number>(row),
          static_cast<Number>(entry),
          primitive.wall,
          assembly_.law.row(assembly_.acting().materials[row], assembly_.walls[primitive.wall].material),
          primitive.face};
}

void Forces::take_lasting(std::size_t row, LastingWalls& lasting) const {
  const std::uint8_t* const active = lists_.walls.active();
  const bool convex = assembly_.is_convex(row);
  for (std::size_t k = lists_.walls.begin(row); k < lists_.walls.end(row); ++k) {
    if (active[k] == 0) continue;
    const WallContact contact = wall_contact(row, k, {}, 0);
    if (convex) lasting.tablets.push(contact, {});
    else if (assembly_.walls[contact.wall].kind == Wall::mesh) lasting.faces.push(contact);
    else lasting.planes.push(contact);
  }
}

void Forces::follow_lasting(void (*loop)(LastingJob&), WallContacts& all, double step,
                            std::vector<Number>& doubtful) const {
  static thread_local std::vector<Number> doubts;
  doubts.resize(all.contacts.size());
  const Assembly::Acting act = assembly_.acting();
  LastingJob job;
  job.size = all.contacts.size();
  job.contacts = all.contacts.data();
  job.places = act.places;
  job.motions = act.motions;
  job.poses = assembly_.poses();
  job.sizes = assembly_.sizes();
  job.planes = wall_planes_.data();
  job.meshes = mesh_poses_.data();
  job.step = step;
  job.wall_speed = assembly_.wall_speed;
  job.arms = all.arms.data();
  job.doubtful = doubts.data();
  loop(job);
  if (job.doubts == 0) return;
  const std::size_t first = doubtful.size();
  for (std::size_t k = 0; k < job.doubts; ++k) {
    const Number row = all.contacts[doubts[k]].row;
    if (doubtful.size() == first || doubtful.back() != row) doubtful.push_back(row);
  }
  const auto rows = std::span(doubtful).subspan(first);  // ascending, as the contacts are
  all.erase_if([&](const WallContact& contact) { return std::binary_search(rows.begin(), rows.end(), contact.row); });
}

void Forces::take_patch(std::size_t row, const WallTouch& touch, double step, std::vector<PointContact>& contacts) {
  const Assembly::Acting act = assembly_.acting();
  const Wall& wall = assembly_.walls[touch.wall];
  const Motion& m = act.motions[row];
  Vec4& normal = lists_.walls.normals()[touch.entry];
  const std::size_t first = contacts.size();
  for (std::size_t p = 0; p < touch.patch.size; ++p) {
    PointContact& to = contacts.emplace_back();
    set_contact(to, touch.contact, touch.fresh ? Vec{} : Vec(normal));
    set_point(to, touch.patch, p, lists_.walls.spring(touch.entry, p));
    to.row = static_cast<Number>(row);
    to.entry = static_cast<Number>(touch.entry);
    to.second = static_cast<Number>(touch.wall);
    to.coefficients = assembly_.law.row(act.materials[row], wall.material);
    // In the middle of the step the point of contact was elsewhere, where the velocity of a rotating wall differs.
    const Vec point = touch.patch.points[p], halfway = point - 0.5 * step * (m.v - wall.velocity);
    set_second(to, {wall.velocity_at(halfway), wall.velocity_at(point), wall.spin, wall.spin});
  }
  normal = touch.contact.normal;
  damp_rocking(touch.patch, std::span(contacts).subspan(first), normal, (m.w + m.dw) - wall.spin);
}

void Forces::one_point_forces(WallContacts& all, double step, WallShares& shares) {
  std::vector<WallContact>& contacts = all.contacts;
  const std::size_t size = contacts.size(), before = shares.walls.size();
  if (size == 0) return;
  shares.walls.resize(before + size);
  shares.loads.resize(before + size);
  for (std::size_t c = 0; c < size; ++c) shares.walls[before + c] = contacts[c].wall;
  const Number which = contacts[0].coefficients;
  const bool same = std::all_of(contacts.begin(), contacts.end(),
                                [=](const WallContact& contact) { return contact.coefficients == which; });
  all.pad();
  WallJob job{law_job(lists_.walls, step)};
  job.size = size;
  job.contacts = contacts.data();
  job.arms = all.arms.empty() ? nullptr : all.arms.data();
  job.walls = wall_motions_.data();
  job.uniform = same ? assembly_.law.table() + which : nullptr;
  job.normals = lists_.walls.normals();
  job.loads = loads_.data();
  job.on_walls = shares.loads.data() + before;
  kernels().wall_contacts(job, assembly_.law.law());
}

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
    if (contact.overlap > 0) {
      const Patch patch = assembly_.surface_patch(row, wall, contact);
      const bool lasts = is_plane(wall) && assembly_.is_curved(row) && patch.size == 1;
      touches.push_back({k, number, contact, patch, false, lasts});
    } else if (gives_distance(wall)) {
      wakes[k] = wake(odometer, -contact.overlap, p.r);
    }
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
