// Contacts of spheres with a surface of triangles: arrays in, arrays out.
#include "python/mesh.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/patches.hpp"
#include "mesh/surface.hpp"
#include "mesh/touch.hpp"
#include "python/arrays.hpp"
#include "python/surface_arrays.hpp"

namespace vicinal {

namespace {

// (key of every feature, number of patches)
nb::tuple keys(const SurfaceArrays& arrays, double cosine) {
  const auto [keys, patches] = without_lock([&] { return mesh::patch_keys(surface_of(arrays), cosine); });
  return nb::make_tuple(array_from<std::int32_t>({keys.size()}, keys), patches);
}

// Contacts of spheres with the faces near each (rows): body, face, kind, key, point, normal, distance.
nb::tuple touches(const SurfaceArrays& arrays, const Column<std::int32_t>& keys, const Triples<double>& points,
                  const Column<double>& radii, const Column<std::int64_t>& offsets, const Column<std::int32_t>& faces) {
  const mesh::Surface surface = surface_of(arrays);
  const auto places = rows_in<mesh::Vec3>(points);
  if (radii.shape(0) != places.size() || offsets.shape(0) != places.size() + 1 || keys.shape(0) != surface.features())
    throw nb::type_error("one radius and one row per point, and one key per feature");
  constexpr std::size_t grain = 256;
  std::vector<std::vector<mesh::SurfaceTouch>> pieces((places.size() + grain - 1) / grain);
  without_lock([&] {
    parallel_ranges(places.size(), grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
      mesh::Toucher::Room room;
      mesh::Toucher toucher(surface, {keys.data(), keys.shape(0)}, room);
      for (std::size_t body = begin; body < end; ++body) {
        const auto from = static_cast<std::size_t>(offsets.data()[body]);
        const auto to = static_cast<std::size_t>(offsets.data()[body + 1]);
        if (from < to)
          toucher.touch(static_cast<std::int32_t>(body), places[body], radii.data()[body],
                        {faces.data() + from, to - from}, pieces[piece]);
      }
    });
  });
  std::vector<std::int32_t> body, face, key;
  std::vector<std::int8_t> kind;
  std::vector<double> point, normal, distance;
  for (const auto& piece : pieces)
    for (const mesh::SurfaceTouch& touch : piece) {
      body.push_back(touch.body);
      face.push_back(touch.face);
      key.push_back(touch.key);
      kind.push_back(static_cast<std::int8_t>(touch.closest.kind));
      distance.push_back(std::sqrt(touch.closest.square));
      const mesh::Vec3 at = places[static_cast<std::size_t>(touch.body)] + touch.closest.offset;
      const mesh::Vec3 out = mesh::contact_normal(surface, touch);
      point.insert(point.end(), {at.x, at.y, at.z});
      normal.insert(normal.end(), {out.x, out.y, out.z});
    }
  const std::size_t size = body.size();
  return nb::make_tuple(array_from<std::int32_t>({size}, body), array_from<std::int32_t>({size}, face),
                        array_from<std::int8_t>({size}, kind), array_from<std::int32_t>({size}, key),
                        array_from<double>({size, 3}, point), array_from<double>({size, 3}, normal),
                        array_from<double>({size}, distance));
}

}  // namespace

void bind_mesh(nb::module_& m) {
  m.def("mesh_keys", &keys, nb::arg("surface"), nb::arg("cosine"));
  m.def("mesh_touches", &touches, nb::arg("surface"), nb::arg("keys"), nb::arg("points"), nb::arg("radii"),
        nb::arg("offsets"), nb::arg("faces"));
}

}  // namespace vicinal
