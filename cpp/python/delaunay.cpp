// The functions of the Delaunay structure alone; they take a Search made as "Delaunay".
//
// All of them lock the search: in Verlet mode the triangulation is brought up to date when it is read.
#include "python/delaunay.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "geometry/predicates.hpp"
#include "index/delaunay.hpp"
#include "python/arrays.hpp"
#include "python/search.hpp"

namespace vicinal {

extern template class Delaunay<float, 2>;
extern template class Delaunay<double, 2>;

namespace {

using Place = std::array<double, 2>;

// Calls f(search) for a search in the plane that holds a triangulation.
template <class F>
auto on_plane(AnySearch& search, F&& f) {
  return search.visit([&]<class T, int D>(Search<T, D>& one) -> decltype(f(std::declval<Search<double, 2>&>())) {
    if constexpr (D == 2) return f(one);
    else throw nb::type_error("a triangulation has two dimensions");
  });
}

template <class T>
std::span<const T> coordinates(const PointArray& points) {
  if (points.ndim() != 2 || points.shape(1) != 2 || points.dtype() != nb::dtype<T>())
    throw nb::type_error("points do not have the dtype and dimension the index was made for");
  return {static_cast<const T*>(points.data()), points.shape(0) * 2};
}

// Rows of numbers below 2^31 as an array of int32; `none` becomes -1.
template <class Row>
nb::object rows_of(const std::vector<Row>& rows, std::vector<std::size_t> shape) {
  static_assert(sizeof(Row) % sizeof(std::int32_t) == 0);
  Region region(rows.size() * sizeof(Row));
  if (!rows.empty()) std::memcpy(region.data(), rows.data(), rows.size() * sizeof(Row));
  return array_of<std::int32_t>(std::move(region), std::move(shape), nullptr);
}

nb::object triangles(AnySearch& search) {
  return on_plane(search, []<class T>(Search<T, 2>& one) {
    const auto rows = without_lock([&] {
      return one.template on<Delaunay<T, 2>>([](auto& structure) { return structure.settled().triangles(); });
    });
    return rows_of(rows, {rows.size(), 3});
  });
}

nb::object edges(AnySearch& search) {
  return on_plane(search, []<class T>(Search<T, 2>& one) {
    const auto rows = without_lock(
        [&] { return one.template on<Delaunay<T, 2>>([](auto& structure) { return structure.settled().edges(); }); });
    return rows_of(rows, {rows.size(), 2});
  });
}

nb::object nearest(AnySearch& search) {
  return on_plane(search, []<class T>(Search<T, 2>& one) {
    const auto rows = without_lock(
        [&] { return one.template on<Delaunay<T, 2>>([](auto& structure) { return structure.settled().nearest(); }); });
    return rows_of(rows, {rows.size()});
  });
}

nb::object locate(AnySearch& search, const PointArray& points) {
  return on_plane(search, [&]<class T>(Search<T, 2>& one) {
    const auto places = coordinates<T>(points);
    const auto rows = without_lock([&] {
      return one.template on<Delaunay<T, 2>>([&](auto& structure) {
        const auto triangles = structure.settled().locate(places);
        return std::vector<std::int32_t>(triangles.begin(), triangles.end());
      });
    });
    return rows_of(rows, {rows.size()});
  });
}

bool is_delaunay(AnySearch& search) {
  return on_plane(search, []<class T>(Search<T, 2>& one) {
    return without_lock([&] {
      return one.template on<Delaunay<T, 2>>(
          [](auto& structure) { return structure.settled().verify() == delaunay::Flaw::nothing; });
    });
  });
}

int sign(double x) { return (x > 0 ? 1 : 0) - (x < 0 ? 1 : 0); }
Point2 point(const Place& p) { return {p[0], p[1]}; }

}  // namespace

void bind_delaunay(nb::module_& m) {
  m.def("delaunay_triangles", &triangles, nb::arg("search"));
  m.def("delaunay_edges", &edges, nb::arg("search"));
  m.def("delaunay_nearest", &nearest, nb::arg("search"));
  m.def("delaunay_locate", &locate, nb::arg("search"), nb::arg("points"));
  m.def("delaunay_is_delaunay", &is_delaunay, nb::arg("search"));
  m.def(
      "orient2d",
      [](const Place& a, const Place& b, const Place& c) { return sign(orient2d(point(a), point(b), point(c))); },
      nb::arg("a"), nb::arg("b"), nb::arg("c"), "1: a, b, c turn left; -1: right; 0: they are on a line. Exact.");
  m.def(
      "incircle",
      [](const Place& a, const Place& b, const Place& c, const Place& d) {
        return sign(incircle(point(a), point(b), point(c), point(d)));
      },
      nb::arg("a"), nb::arg("b"), nb::arg("c"), nb::arg("d"),
      "1: d is inside the circle through a, b, c, which turn left; -1: outside; 0: on it. Exact.");
}

}  // namespace vicinal
