// The guard of fluids (src/vicinal/sph/guard.py), and distances to a surface of triangles (src/vicinal/sph/solids.py).
#include "python/sph_guard.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "mesh/closest.hpp"
#include "python/arrays.hpp"
#include "python/surface_arrays.hpp"
#include "sph/guard.hpp"

namespace vicinal {

namespace {

using Three = std::array<double, 3>;
using Moving = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Fixed = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

sph::Vec3 vec(const Three& v) { return {v[0], v[1], v[2]}; }

sph::MovingPose make_pose(const std::array<Three, 3>& rotation, const Three& translation, const Three& velocity,
                          const Three& spin, const Three& origin) {
  return {{{vec(rotation[0]), vec(rotation[1]), vec(rotation[2])}, vec(translation)},
          vec(velocity),
          vec(spin),
          vec(origin)};
}

void add_mesh(sph::Guard& guard, const SurfaceArrays& arrays) {
  const mesh::Surface surface = surface_of(arrays);
  sph::GuardWall wall;
  wall.kind = sph::GuardWall::triangles;
  wall.mesh = {{surface.vertices.begin(), surface.vertices.end()},
               {surface.faces.begin(), surface.faces.end()},
               {surface.face_edges.begin(), surface.face_edges.end()},
               surface.edges};
  guard.add(std::move(wall));
}

void add_plane(sph::Guard& guard, const Three& point, const Three& normal) {
  sph::GuardWall wall;
  wall.kind = sph::GuardWall::plane;
  wall.point = vec(point);
  wall.direction = vec(normal);
  guard.add(std::move(wall));
}

void add_cylinder(sph::Guard& guard, const Three& point, const Three& axis, double radius, bool inside) {
  sph::GuardWall wall;
  wall.kind = sph::GuardWall::cylinder;
  wall.point = vec(point);
  wall.direction = vec(axis);
  wall.radius = radius;
  wall.side = inside ? 1 : -1;
  guard.add(std::move(wall));
}

// Keeps every particle in place, and counts those that a wall has put back.
void keep(sph::Guard& guard, const Fixed& before, const Moving& after, const Moving& velocities) {
  const std::size_t size = before.shape(0), dim = before.shape(1);
  if ((dim != 2 && dim != 3) || after.shape(0) != size || after.shape(1) != dim || velocities.shape(0) != size ||
      velocities.shape(1) != dim)
    throw nb::type_error("positions before and after and velocities must have the same shape (n, 2) or (n, 3)");
  without_lock([&] {
    parallel_ranges(size, 4096, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t k = begin; k < end; ++k) {
        const double* from = before.data() + k * dim;
        double *to = after.data() + k * dim, *speed = velocities.data() + k * dim;
        const bool flat = dim == 2;
        sph::Vec3 there{to[0], to[1], flat ? 0.0 : to[2]}, velocity{speed[0], speed[1], flat ? 0.0 : speed[2]};
        const std::int32_t wall = guard.keep({from[0], from[1], flat ? 0.0 : from[2]}, there, velocity);
        if (wall < 0) continue;
        guard.count(wall);
        to[0] = there.x, to[1] = there.y;
        speed[0] = velocity.x, speed[1] = velocity.y;
        if (!flat) to[2] = there.z, speed[2] = velocity.z;
      }
    });
  });
}

// Distance from points to the closest of the faces near each (rows), infinity without one, and the vector to it.
nb::tuple nearest(const SurfaceArrays& arrays, const Triples<double>& points, const Column<std::int64_t>& offsets,
                  const Column<std::int32_t>& faces) {
  const mesh::Surface surface = surface_of(arrays);
  const auto places = rows_in<mesh::Vec3>(points);
  if (offsets.shape(0) != places.size() + 1) throw nb::type_error("one row per point");
  std::vector<double> distance(places.size()), offset(3 * places.size());
  without_lock([&] {
    parallel_ranges(places.size(), 256, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t k = begin; k < end; ++k) {
        double best = std::numeric_limits<double>::infinity();
        for (std::int64_t at = offsets.data()[k]; at < offsets.data()[k + 1]; ++at) {
          const auto face = static_cast<std::size_t>(faces.data()[at]);
          const mesh::Closest closest = mesh::closest_point(surface, face, places[k]);
          if (!(closest.square < best)) continue;
          best = closest.square;
          offset[3 * k] = closest.offset.x;
          offset[3 * k + 1] = closest.offset.y;
          offset[3 * k + 2] = closest.offset.z;
        }
        distance[k] = std::sqrt(best);
      }
    });
  });
  return nb::make_tuple(array_from<double>({places.size()}, distance), array_from<double>({places.size(), 3}, offset));
}

}  // namespace

void bind_sph_guard(nb::module_& m) {
  nb::class_<sph::MovingPose>(m, "MovingPose", "The place and the motion of a wall.")
      .def(nb::new_(&make_pose), nb::kw_only(), nb::arg("rotation"), nb::arg("translation"), nb::arg("velocity"),
           nb::arg("spin"), nb::arg("origin"));
  nb::class_<sph::Guard>(m, "SphGuard")
      .def(nb::init<double, double>(), nb::arg("clearance"), nb::arg("cell"))
      .def("add_plane", &add_plane, nb::arg("point"), nb::arg("normal"))
      .def("add_cylinder", &add_cylinder, nb::arg("point"), nb::arg("axis"), nb::arg("radius"), nb::arg("inside"))
      .def("add_mesh", &add_mesh, nb::arg("surface"))
      .def("move", &sph::Guard::move, nb::arg("wall"), nb::arg("pose"))
      .def("set", &sph::Guard::set, nb::arg("wall"), nb::arg("pose"))
      .def("held", [](const sph::Guard& guard) { return array_from<std::int64_t>({guard.size()}, guard.held()); })
      .def("keep", &keep, nb::arg("before"), nb::arg("after"), nb::arg("velocities"));
  m.def("mesh_nearest", &nearest, nb::arg("surface"), nb::arg("points"), nb::arg("offsets"), nb::arg("faces"));
}

}  // namespace vicinal
