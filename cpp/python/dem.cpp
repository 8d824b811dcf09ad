// Grains for Python: arrays in, arrays out. Arguments were checked in Python (src/vicinal/dem/).
#include "python/dem.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "dem/simulation.hpp"
#include "dem/walls/kinds.hpp"
#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "python/arrays.hpp"
#include "python/exact_sums.hpp"
#include "python/vectors.hpp"

namespace vicinal {
namespace {

namespace nb = nanobind;
using dem::Number;
using dem::Place;
using dem::Quat;
using dem::Simulation;
using dem::Vec;
using dem::Wall;

// Columns of bodies with a name: how many numbers, and how one row is read and written.
struct Column {
  const char* name;
  std::size_t width;
  void (*read)(const Simulation&, std::size_t, double*);
  void (*write)(Simulation&, std::size_t, const double*);
};

#define VICINAL_VEC_COLUMN(name, member)                                                                  \
  Column {                                                                                                \
    name, 3, [](const Simulation& w, std::size_t k, double* to) { put(to, w.assembly.bodies.member); },   \
        [](Simulation& w, std::size_t k, const double* from) { w.assembly.bodies.member = vec_at(from); } \
  }
const Column columns[] = {
    {"positions", 3,
     [](const Simulation& w, std::size_t k, double* to) { put(to, dem::centre(w.assembly.bodies.places[k])); },
     [](Simulation& w, std::size_t k, const double* from) {
       w.assembly.bodies.places[k] = {from[0], from[1], from[2], w.assembly.bodies.places[k].r};
     }},
    {"radii", 1, [](const Simulation& w, std::size_t k, double* to) { to[0] = w.assembly.bodies.places[k].r; },
     [](Simulation& w, std::size_t k, const double* from) { w.assembly.bodies.places[k].r = from[0]; }},
    VICINAL_VEC_COLUMN("velocities", motions[k].v),
    VICINAL_VEC_COLUMN("spins", motions[k].w),
    VICINAL_VEC_COLUMN("half_kicks", motions[k].dv),
    VICINAL_VEC_COLUMN("half_spin_kicks", motions[k].dw),
    VICINAL_VEC_COLUMN("momenta", momenta[k]),
    VICINAL_VEC_COLUMN("half_impulses", half_impulses[k]),
    VICINAL_VEC_COLUMN("inertias", inertias[k]),
    {"orientations", 4,
     [](const Simulation& w, std::size_t k, double* to) { put(to, w.assembly.bodies.orientations[k]); },
     [](Simulation& w, std::size_t k, const double* from) {
       w.assembly.bodies.orientations[k] = {from[0], from[1], from[2], from[3]};
     }},
    {"masses", 1, [](const Simulation& w, std::size_t k, double* to) { to[0] = w.assembly.bodies.masses[k]; },
     [](Simulation& w, std::size_t k, const double* from) {
       w.assembly.bodies.masses[k] = from[0];
       w.assembly.bodies.motions[k].w.inverse_mass = 1.0 / from[0];
     }},
};
#undef VICINAL_VEC_COLUMN

const Column& column_named(const std::string& name) {
  for (const Column& column : columns)
    if (name == column.name) return column;
  throw nb::key_error(name.c_str());
}

nb::object get(const Simulation& sim, const std::string& name) {
  const Column& column = column_named(name);
  std::vector<double> out(sim.assembly.bodies.size() * column.width);
  for (std::size_t k = 0; k < sim.assembly.bodies.size(); ++k) column.read(sim, k, out.data() + k * column.width);
  if (column.width == 1) return array_of(std::move(out), {sim.assembly.bodies.size()});
  return array_of(std::move(out), {sim.assembly.bodies.size(), column.width});
}

void set(Simulation& sim, const std::string& name, const In<double>& array) {
  const Column& column = column_named(name);
  if (array.size() != sim.assembly.bodies.size() * column.width) throw nb::value_error("the column has another size");
  for (std::size_t k = 0; k < sim.assembly.bodies.size(); ++k) column.write(sim, k, array.data() + k * column.width);
}

using Values = std::map<std::string, double>;

dem::MaterialValues material_values(const Values& from) {
  dem::MaterialValues values;
  for (const auto& [name, value] : from) values.set(name, value);
  return values;
}

// `pairs`: numbers of two materials, and the values that replace those of both.
void set_law(Simulation& sim, const std::string& law, const std::vector<Values>& materials,
             const std::vector<std::tuple<std::size_t, std::size_t, Values>>& pairs, bool history) {
  std::vector<dem::MaterialValues> values;
  for (const Values& one : materials) values.push_back(material_values(one));
  dem::LawTable::Pairs of_pairs;
  for (const auto& [a, b, given] : pairs) of_pairs[{a, b}] = material_values(given);
  sim.assembly.law = dem::LawTable(law, std::move(values), of_pairs, history);
}

// The coefficients of two materials as the law mixes them.
Values coefficients(const Simulation& sim, std::size_t a, std::size_t b) {
  const dem::Coefficients& c = sim.assembly.law.mixed(a, b);
  return {{"kn", c.kn},
          {"kt", c.kt},
          {"rate_n", c.rate_n},
          {"rate_t", c.rate_t},
          {"damping_n", c.damping_n},
          {"damping_t", c.damping_t},
          {"friction", c.friction},
          {"rolling_friction", c.rolling},
          {"torsional_friction", c.torsion},
          {"cohesion", c.cohesion}};
}

nb::list parameters_of(std::span<const dem::LawParameter> parameters) {
  const auto text = [](std::string_view view) { return nb::str(view.data(), view.size()); };
  nb::list all;
  for (const dem::LawParameter& p : parameters) {
    nb::dict one;
    one["name"] = text(p.name);
    one["unit"] = text(p.unit);
    one["low"] = p.low;
    one["low_allowed"] = p.low_allowed;
    one["high"] = p.high;
    one["default"] = std::isnan(p.fallback) ? nb::object(nb::none()) : nb::object(nb::float_(p.fallback));
    one["required"] = p.required;
    one["doc"] = text(p.doc);
    all.append(one);
  }
  return all;
}

// Every contact law with its parameters and formulas.
nb::list laws() {
  const auto text = [](std::string_view view) { return nb::str(view.data(), view.size()); };
  nb::list all;
  for (const dem::LawEntry& law : dem::laws()) {
    nb::dict one, refused;
    for (const dem::Refusal& refusal : law.refused) refused[text(refusal.name)] = text(refusal.instead);
    one["name"] = text(law.text.name);
    one["title"] = text(law.text.title);
    one["normal_spring"] = text(law.text.normal_spring);
    one["normal_dashpot"] = text(law.text.normal_dashpot);
    one["tangential_spring"] = text(law.text.tangential_spring);
    one["tangential_dashpot"] = text(law.text.tangential_dashpot);
    one["parameters"] = parameters_of(law.parameters);
    one["refused"] = refused;
    all.append(one);
  }
  return all;
}

// Rows at the end; the other columns are set by name.
void append(Simulation& sim, const In<std::int64_t>& ids, const In<std::uint8_t>& materials,
            const In<std::int32_t>& shapes) {
  sim.lists.stash();
  const std::size_t old = sim.assembly.bodies.size();
  sim.assembly.bodies.resize(old + ids.size());
  std::copy_n(ids.data(), ids.size(), sim.assembly.bodies.ids.begin() + static_cast<std::ptrdiff_t>(old));
  std::copy_n(materials.data(), ids.size(), sim.assembly.bodies.materials.begin() + static_cast<std::ptrdiff_t>(old));
  std::copy_n(shapes.data(), ids.size(), sim.assembly.bodies.shapes.begin() + static_cast<std::ptrdiff_t>(old));
  for (std::size_t row = old; row < sim.assembly.bodies.size(); ++row)
    sim.assembly.bodies.keys[row] = dem::inserted_key + static_cast<std::uint64_t>(sim.assembly.bodies.ids[row]);
}

// Force and torque on each wall, (walls, 6, digits).
nb::object wall_loads(const Simulation& sim) {
  auto sums = sim.forces.wall_loads();
  return digits_of(sums, {sums.size() / 6, 6});
}

// What bodies consist of: `offsets` per body, arms and radii of the spheres. None: every body is one sphere.
void set_elements(Simulation& sim, const In<std::int64_t>& offsets, const In<double>& arms, const In<double>& radii) {
  sim.lists.stash();
  dem::Elements& e = sim.assembly.elements;
  e = {};
  if (offsets.size() == 0) return;
  e.offsets.assign(offsets.data(), offsets.data() + offsets.size());
  const std::size_t n = radii.size();
  e.places.assign(n, {});
  e.motions.assign(n, {});
  e.levers.assign(n, {});
  for (std::size_t b = 0; b < sim.assembly.bodies.size(); ++b) {
    for (std::size_t k = e.offsets[b]; k < e.offsets[b + 1]; ++k) {
      e.owners.push_back(static_cast<Number>(b));
      e.arms.emplace_back() = vec_at(arms.data() + 3 * k);
      e.places[k].r = radii.data()[k];
      e.materials.push_back(sim.assembly.bodies.materials[b]);
    }
  }
  e.place(sim.assembly.bodies);
}

using Triplet = std::array<double, 3>;
using Quadruple = std::array<double, 4>;
Vec vec_of(const Triplet& a) { return {a[0], a[1], a[2]}; }
Triplet triplet_of(Vec a) { return {a.x, a.y, a.z}; }

dem::GrainShape make_shape(const std::string& kind, double margin, double radius,
                           const std::map<std::string, double>& numbers,
                           const std::map<std::string, std::vector<Triplet>>& vectors) {
  dem::ShapeValues values;
  values.numbers.insert(numbers.begin(), numbers.end());
  for (const auto& [name, list] : vectors)
    for (const Triplet& v : list) values.vectors[name].push_back(vec_of(v));
  dem::GrainShape shape = dem::make_shape(kind, values);
  shape.margin = margin;
  shape.radius = radius;
  return shape;
}

void set_shapes(Simulation& sim, std::vector<dem::GrainShape> shapes) {
  dem::Assembly& assembly = sim.assembly;
  assembly.shapes = std::move(shapes);
  assembly.any_convex = false;
  for (const std::int32_t number : assembly.bodies.shapes)
    assembly.any_convex |= number >= 0 && !assembly.shapes.at(static_cast<std::size_t>(number)).is_ball();
}

Wall make_wall(const std::string& kind, std::uint8_t material, bool inside, const Triplet& point,
               const Triplet& direction, double radius, const Triplet& velocity, const Triplet& spin,
               const Triplet& centre, const Triplet& position, const Quadruple& orientation) {
  Wall wall;
  wall.kind = dem::wall_kind(kind);
  wall.material = material;
  wall.inside = inside;
  wall.point = vec_of(point);
  wall.direction = vec_of(direction);
  wall.radius = radius;
  wall.velocity = vec_of(velocity);
  wall.spin = vec_of(spin);
  wall.centre = vec_of(centre);
  wall.moved = vec_of(position);
  wall.turned = {orientation[0], orientation[1], orientation[2], orientation[3]};
  return wall;
}

// Of a wall that is not a mesh, whose triangles have these properties: the largest number of contacts of a body, and
// distances of points, negative behind the wall.
void refuse_mesh(const Wall& wall) {
  if (wall.kind == Wall::mesh) throw nb::value_error("a mesh has no contacts and distances besides its triangles");
}
std::size_t wall_contacts(const Wall& wall) {
  refuse_mesh(wall);
  return dem::contacts_of(wall);
}
nb::object wall_distances(Wall wall, const In<double>& points) {
  refuse_mesh(wall);
  wall.pose();
  std::vector<double> out(points.shape(0));
  without_lock([&] {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = dem::nearest_of(wall, vec_at(points.data() + 3 * k)).distance;
  });
  const std::size_t n = out.size();
  return array_of(std::move(out), {n});
}

// The triangles of a wall: vertices, faces, edges of the faces, keys of the features (as vicinal.Mesh has them).
void set_mesh(Simulation& sim, std::size_t wall, const In<double>& vertices, const In<std::int32_t>& faces,
              const In<std::int32_t>& face_edges, std::size_t edges, const In<std::int32_t>& keys) {
  sim.assembly.meshes.resize(sim.assembly.walls.size());
  dem::WallMesh& mesh = sim.assembly.meshes.at(wall);
  mesh = {};
  for (std::size_t k = 0; k < vertices.shape(0); ++k) {
    const Vec p = vec_at(vertices.data() + 3 * k);
    mesh.vertices.push_back({p.x, p.y, p.z});
  }
  const auto corners = [](const In<std::int32_t>& array) {
    std::vector<mesh::Corners> out(array.shape(0));
    for (std::size_t k = 0; k < out.size(); ++k) std::copy_n(array.data() + 3 * k, 3, out[k].begin());
    return out;
  };
  mesh.faces = corners(faces);
  mesh.face_edges = corners(face_edges);
  mesh.edges = edges;
  mesh.keys.assign(keys.data(), keys.data() + keys.size());
  mesh.raise_fences();
  mesh.set_flats();
}

nb::tuple element_places(Simulation& sim) {
  sim.assembly.place_elements();
  const auto& places = sim.assembly.element_places();
  std::vector<double> centres(3 * places.size()), radii(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) {
    put(centres.data() + 3 * k, dem::centre(places[k]));
    radii[k] = places[k].r;
  }
  return nb::make_tuple(array_of(std::move(centres), {places.size(), 3}), array_of(std::move(radii), {places.size()}));
}

nb::object owners(const Simulation& sim) {
  std::vector<std::int32_t> out(sim.assembly.elements.owners.begin(), sim.assembly.elements.owners.end());
  const std::size_t n = out.size();
  return array_of(std::move(out), {n});
}

}  // namespace

void bind_dem(nb::module_& m) {
  m.def("dem_laws", &laws, "Contact laws: names, formulas, parameters.");
  m.def(
      "dem_shared_parameters", [] { return parameters_of(dem::shared_parameters); },
      "Parameters that every law reads.");
  m.def("force_block_rows", &dem::force_block_rows, nb::arg("elements"), "The number of elements per block of forces.");
  using namespace nb::literals;
  const Triplet zero{0, 0, 0};
  nb::class_<dem::GrainShape>(m, "GrainShape",
                              "A shape of bodies other than spheres, in the frame of its principal axes.")
      .def(nb::new_(&make_shape), nb::kw_only(), "kind"_a, "margin"_a, "radius"_a, "numbers"_a, "vectors"_a);
  nb::class_<Wall>(m, "GrainWall", "A wall: surface, motion and pose.")
      .def(nb::new_(&make_wall), nb::kw_only(), "kind"_a, "material"_a, "inside"_a = true, "point"_a = zero,
           "direction"_a = zero, "radius"_a = 0.0, "velocity"_a = zero, "spin"_a = zero, "centre"_a = zero,
           "position"_a = zero, "orientation"_a = Quadruple{1, 0, 0, 0})
      .def("distances", &wall_distances, nb::arg("points"))
      .def_prop_ro("contacts", &wall_contacts)
      .def_prop_ro("position", [](const Wall& wall) { return triplet_of(wall.moved); })
      .def_prop_ro("orientation", [](const Wall& wall) {
        return Quadruple{wall.turned.w, wall.turned.x, wall.turned.y, wall.turned.z};
      });
  nb::class_<Simulation> grains(m, "Grains", "Bodies, walls, law, lists, forces and clock of a simulation.");
  grains.def(nb::init<>())
      .def("get", &get, nb::arg("name"))
      .def("set", &set, nb::arg("name"), nb::arg("values"))
      .def("append", &append, nb::arg("ids"), nb::arg("materials"), nb::arg("shapes"))
      .def(
          "take",
          [](Simulation& w, const In<std::uint32_t>& rows) { without_lock([&] { w.lists.take(values(rows)); }); },
          nb::arg("rows"))
      .def(
          "set_keys",
          [](Simulation& w, const std::array<double, 3>& low, double cell) {
            w.assembly.set_keys({low[0], low[1], low[2]}, cell);
          },
          nb::arg("low"), nb::arg("cell"))
      .def(
          "restore_keys",
          [](Simulation& w, const In<std::uint64_t>& keys) {
            if (keys.size() != w.assembly.bodies.size()) throw nb::value_error("the keys belong to other bodies");
            w.assembly.bodies.keys.assign(keys.data(), keys.data() + keys.size());
          },
          nb::arg("keys"))
      .def("keys",
           [](const Simulation& w) {
             return array_of(std::vector<std::uint64_t>(w.assembly.bodies.keys), {w.assembly.bodies.size()});
           })
      .def("key_order",
           [](const Simulation& w) {
             auto order = without_lock([&] { return w.assembly.key_order(); });
             const std::size_t n = order.size();
             return array_of(std::move(order), {n});
           })
      .def(
          "set_blocks",
          [](Simulation& w, const In<std::uint64_t>& bounds, std::int64_t first_id, std::int64_t size) {
            w.assembly.blocks = {{bounds.data(), bounds.data() + bounds.size()}, first_id, size};
          },
          nb::arg("bounds"), nb::arg("first_id"), nb::arg("size"))
      .def("wrap", [](Simulation& w) { w.assembly.wrap(); })
      .def("ids",
           [](const Simulation& w) {
             return array_of(std::vector<std::int64_t>(w.assembly.bodies.ids), {w.assembly.bodies.size()});
           })
      .def("materials",
           [](const Simulation& w) {
             return array_of(std::vector<std::uint8_t>(w.assembly.bodies.materials), {w.assembly.bodies.size()});
           })
      .def("shapes",
           [](const Simulation& w) {
             return array_of(std::vector<std::int32_t>(w.assembly.bodies.shapes), {w.assembly.bodies.size()});
           })
      .def("set_law", &set_law, nb::arg("law"), nb::arg("materials"), nb::arg("pairs"), nb::arg("history"))
      .def("coefficients", &coefficients, nb::arg("first"), nb::arg("second"))
      .def(
          "collision_time",
          [](const Simulation& w, std::size_t first, std::size_t second, double mass, double radius, double speed) {
            return w.assembly.law.collision_time(first, second, {mass, radius, speed});
          },
          nb::arg("first"), nb::arg("second"), nb::arg("mass"), nb::arg("radius"), nb::arg("speed"))
      .def(
          "rayleigh_time",
          [](const Simulation& w, std::size_t material, double radius) {
            return w.assembly.law.rayleigh_time(material, radius);
          },
          nb::arg("material"), nb::arg("radius"))
      .def(
          "set_space",
          [](Simulation& w, const std::array<double, 3>& gravity, const std::array<double, 3>& period, double dt) {
            w.assembly.gravity = {gravity[0], gravity[1], gravity[2]};
            w.assembly.period.edge = period;
            w.clock.dt = dt;
          },
          nb::arg("gravity"), nb::arg("period"), nb::arg("dt"))
      .def("set_elements", &set_elements, nb::arg("offsets"), nb::arg("arms"), nb::arg("radii"))
      .def("set_shapes", &set_shapes, nb::arg("shapes"))
      .def(
          "set_walls", [](Simulation& w, std::vector<Wall> walls) { w.assembly.walls = std::move(walls); },
          nb::arg("walls"))
      .def("walls", [](const Simulation& w) { return w.assembly.walls; })
      .def("set_mesh", &set_mesh, nb::arg("wall"), nb::arg("vertices"), nb::arg("faces"), nb::arg("face_edges"),
           nb::arg("edges"), nb::arg("keys"))
      .def("wall_loads", &wall_loads)
      .def("number_primitives", [](Simulation& w) { w.assembly.number_primitives(); })
      .def("element_places", &element_places)
      .def("owners", &owners)
      .def(
          "advance",
          [](Simulation& w, std::int64_t most) { return without_lock([&] { return w.clock.advance(most); }); },
          nb::arg("most"))
      .def("speeds", [](const Simulation& w) { return array_of(w.clock.speeds(), {w.assembly.bodies.size()}); })
      .def_prop_ro("size", [](const Simulation& w) { return w.assembly.bodies.size(); })
      .def_prop_ro("finite", [](const Simulation& w) { return w.clock.finite(); })
      .def_prop_rw(
          "wall_speed", [](const Simulation& w) { return w.assembly.wall_speed; },
          [](Simulation& w, double speed) { w.assembly.wall_speed = speed; })
      .def_prop_rw(
          "primed", [](const Simulation& w) { return w.clock.primed; },
          [](Simulation& w, bool primed) { w.clock.primed = primed; })
      .def_prop_rw(
          "drifted", [](const Simulation& w) { return w.clock.drifted; },
          [](Simulation& w, bool drifted) { w.clock.drifted = drifted; })
      .def_prop_rw(
          "steps", [](const Simulation& w) { return w.clock.steps; },
          [](Simulation& w, std::int64_t steps) { w.clock.steps = steps; });
  bind_dem_contacts(grains);
  bind_dem_ranks(grains);
}

}  // namespace vicinal
