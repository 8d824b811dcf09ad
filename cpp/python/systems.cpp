// Many small systems in one call.
#include "python/systems.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "exec/available_memory.hpp"
#include "python/arrays.hpp"
#include "python/filter.hpp"
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

// Memory of a result in pages that are kept when it is freed: only large regions have such pages, so smaller ones
// reserve more address space than they use. Fresh pages would take as long as the search.
Region kept_pages(std::size_t bytes) {
  constexpr std::size_t few = std::size_t{1} << 16;
  if (bytes < few) return Region(bytes + overrun);
  return Region(std::max(bytes + overrun, huge_page), bytes < huge_page ? PageSize::small : PageSize::huge);
}

// The offsets of the rows, edges or None, then the columns.
nb::list system_rows(const BodyArrays& bodies, const Offsets& offsets, const Boxes& rows, double cutoff,
                     const std::string& letters, bool half, bool sort, bool self_pairs, std::size_t most,
                     bool with_edges, const FilterArrays* filter) {
  return dispatch(bodies.positions, [&]<class T, int D>() {
    const BodyView<T, D> given = points_of<T, D>(bodies);
    const std::size_t n = given.size;
    const std::vector<Box<T, D>> boxes = boxes_of<T, D>(rows);
    if (boxes.size() != 1 && boxes.size() + 1 != offsets.shape(0))
      throw nb::type_error("there must be one box for all systems, or one for each");
    const Systems<T, D> systems{
        given, {offsets.data(), offsets.shape(0)}, boxes, static_cast<T>(cutoff), filter_of(filter)};
    const SystemOptions options{half, sort, self_pairs, most};
    Region row_offsets = kept_pages((n + 1) * sizeof(std::int64_t));
    Region edges;
    const Want want = want_of(letters);
    PairResult<T, D> result;
    without_lock([&] {
      SystemRows<T, D> found(systems, want, options, {static_cast<std::int64_t*>(row_offsets.data()), n + 1});
      const std::size_t size = result.size = found.entries();
      ensure_memory(size *
                    (ColumnStore<T, D>::entry_bytes(want) + (with_edges ? 2 * sizeof(std::int64_t) : std::size_t{0})));
      constexpr std::size_t number = sizeof(std::int32_t);
      if (want.i) result.store.i = kept_pages(size * number);
      if (want.j) result.store.j = kept_pages(size * number);
      if (want.distance) result.store.distance = kept_pages(size * sizeof(T));
      if (want.vector) result.store.vector = kept_pages(size * D * sizeof(T));
      if (want.shift) result.store.shift = kept_pages(size * D * number);
      if (with_edges) edges = kept_pages(2 * size * sizeof(std::int64_t));
      found.write(result.store.columns(), static_cast<std::int64_t*>(edges.data()));
    });
    nb::list columns;
    columns.append(array_of<std::int64_t>(std::move(row_offsets), {n + 1}, nullptr));
    if (with_edges) columns.append(array_of<std::int64_t>(std::move(edges), {2, result.size}, nullptr));
    else columns.append(nb::none());
    columns.extend(columns_of(std::move(result), letters, nullptr));
    return columns;
  });
}

// The offsets of systems from the system of each body, if these numbers are 0, 1, … without gaps; otherwise None.
nb::object offsets_of_systems(const Offsets& numbers) {
  const std::size_t n = numbers.shape(0);
  const std::int64_t* const system = numbers.data();
  if (n == 0 || system[0] != 0 || system[n - 1] < 0 || static_cast<std::size_t>(system[n - 1]) >= n) return nb::none();
  const auto count = static_cast<std::size_t>(system[n - 1]) + 1;
  Region region = kept_pages((count + 1) * sizeof(std::int64_t));
  auto* to = static_cast<std::int64_t*>(region.data());
  *to++ = 0;
  for (std::size_t k = 1; k < n; ++k) {
    if (system[k] == system[k - 1]) continue;
    if (system[k] != system[k - 1] + 1 || system[k] >= static_cast<std::int64_t>(count)) return nb::none();
    *to++ = static_cast<std::int64_t>(k);
  }
  *to = static_cast<std::int64_t>(n);
  return array_of<std::int64_t>(std::move(region), {count + 1}, nullptr);
}

using Numbers = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// i and j as rows of one array of int64.
nb::object edges(const Numbers& i, const Numbers& j) {
  const std::size_t n = i.shape(0);
  if (j.shape(0) != n) throw nb::type_error("i and j differ in length");
  ensure_memory(2 * n * sizeof(std::int64_t));
  Region rows = kept_pages(2 * n * sizeof(std::int64_t));
  auto* const to = static_cast<std::int64_t*>(rows.data());
  std::copy_n(i.data(), n, to);
  std::copy_n(j.data(), n, to + n);
  return array_of<std::int64_t>(std::move(rows), {2, n}, nullptr);
}

}  // namespace

void bind_systems(nb::module_& m) {
  m.def("system_rows", &system_rows, nb::arg("bodies"), nb::arg("offsets"), nb::arg("boxes"), nb::arg("cutoff"),
        nb::arg("want"), nb::arg("half"), nb::arg("sort"), nb::arg("self_pairs"), nb::arg("most"), nb::arg("edges"),
        nb::arg("hit_filter").none());
  m.def("offsets_of_systems", &offsets_of_systems, nb::arg("systems"));
  m.def("edges", &edges, nb::arg("i"), nb::arg("j"));
  m.attr("LARGEST_SYSTEM") = detail::SystemSearch<float, 3>::most_bodies;
}

}  // namespace vicinal
