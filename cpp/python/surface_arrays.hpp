// Surfaces of triangles as Python passes them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "mesh/surface.hpp"
#include "python/arrays.hpp"

namespace vicinal {

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Triples = nb::ndarray<const T, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

// Vertices, faces, edges of the faces, number of edges.
using SurfaceArrays = std::tuple<Triples<double>, Triples<std::int32_t>, Triples<std::int32_t>, std::size_t>;

template <class Row, class T>
std::span<const Row> rows_in(const Triples<T>& array) {
  static_assert(sizeof(Row) == 3 * sizeof(T));
  return {reinterpret_cast<const Row*>(array.data()), array.shape(0)};
}
inline mesh::Surface surface_of(const SurfaceArrays& arrays) {
  const auto& [vertices, faces, face_edges, edges] = arrays;
  if (faces.shape(0) != face_edges.shape(0)) throw nb::type_error("every face has three edges");
  return {rows_in<mesh::Vec3>(vertices), rows_in<mesh::Corners>(faces), rows_in<mesh::Corners>(face_edges), edges};
}

template <class T>
nb::object array_from(std::vector<std::size_t> shape, const std::vector<T>& values) {
  Region region(values.size() * sizeof(T) + overrun);
  if (!values.empty()) std::memcpy(region.data(), values.data(), values.size() * sizeof(T));
  return array_of<T>(std::move(region), std::move(shape), nullptr);
}

}  // namespace vicinal
