// Many small systems in one call.
#include "python/systems.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "python/arrays.hpp"
#include "search/systems.hpp"

namespace vicinal {

namespace {

using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A box as for a search in each row; a row that describes an orthogonal one ends with zeros if others are tilted.
using Boxes = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T, int D>
std::vector<Box<T, D>> boxes_of(const Boxes& rows) {
  std::vector<Box<T, D>> boxes(rows.shape(0));
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    const std::span<const double> row(rows.data() + k * rows.shape(1), rows.shape(1));
    const bool tilted = std::any_of(row.begin() + std::min<std::ptrdiff_t>(D, std::ssize(row)), row.end(),
                                    [](double x) { return x != 0; });
    boxes[k] = box_of<T, D>(tilted ? row : row.first(std::min<std::size_t>(D, row.size())));
  }
  return boxes;
}

// The offsets of the rows, then the columns.
nb::list system_rows(const PointArray& points, const Offsets& offsets, const Boxes& rows, double cutoff,
                     const std::string& letters, bool half, bool sort, bool self_pairs, std::size_t most) {
  return dispatch(points, [&]<class T, int D>() {
    const std::size_t n = points.shape(0);
    const std::vector<Box<T, D>> boxes = boxes_of<T, D>(rows);
    if (boxes.size() != 1 && boxes.size() + 1 != offsets.shape(0))
      throw nb::type_error("there must be one box for all systems, or one for each");
    const Systems<T, D> systems{{static_cast<const T*>(points.data()), n * D},
                                {offsets.data(), offsets.shape(0)},
                                boxes,
                                static_cast<T>(cutoff)};
    const SystemOptions options{half, sort, self_pairs, most};
    Region row_offsets((n + 1) * sizeof(std::int64_t));
    auto result = without_lock([&] {
      return find_rows_of_systems<T, D>(systems, want_of(letters), options,
                                        {static_cast<std::int64_t*>(row_offsets.data()), n + 1});
    });
    nb::list columns = columns_of(std::move(result), letters, nullptr);
    columns.insert(0, array_of<std::int64_t>(std::move(row_offsets), {n + 1}, nullptr));
    return columns;
  });
}

using Numbers = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// i and j as rows of one array of int64, in pages that are kept: fresh ones would take longer than the search.
nb::object edges(const Numbers& i, const Numbers& j) {
  const std::size_t n = i.shape(0);
  if (j.shape(0) != n) throw nb::type_error("i and j differ in length");
  Region rows(2 * n * sizeof(std::int64_t) + overrun);
  auto* const to = static_cast<std::int64_t*>(rows.data());
  std::copy_n(i.data(), n, to);
  std::copy_n(j.data(), n, to + n);
  return array_of<std::int64_t>(std::move(rows), {2, n}, nullptr);
}

}  // namespace

void bind_systems(nb::module_& m) {
  m.def("system_rows", &system_rows, nb::arg("points"), nb::arg("offsets"), nb::arg("boxes"), nb::arg("cutoff"),
        nb::arg("want"), nb::arg("half"), nb::arg("sort"), nb::arg("self_pairs"), nb::arg("most"));
  m.def("edges", &edges, nb::arg("i"), nb::arg("j"));
  m.attr("LARGEST_SYSTEM") = detail::SystemSearch<float, 3>::most_bodies;
}

}  // namespace vicinal
