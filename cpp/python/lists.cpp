// Bindings of neighbour lists: the drift watch, layouts, sums, shifts and vectors.
#include "python/lists.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "exec/available_memory.hpp"
#include "exec/memory.hpp"
#include "geometry/box.hpp"
#include "lists/images.hpp"
#include "lists/layouts.hpp"
#include "lists/lennard_jones.hpp"
#include "lists/reduce.hpp"
#include "lists/spatial_order.hpp"
#include "python/arrays.hpp"
#include "rows/drift.hpp"
#include "rows/rows.hpp"

namespace vicinal {

namespace {

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using WritablePoints = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Shifts = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Column<T>& column) {
  return {column.data(), column.shape(0)};
}
template <class T>
std::span<const T> values_of(const PointArray& array, std::size_t size) {
  if (array.dtype() != nb::dtype<T>() || array.size() != size) throw nb::type_error("arrays do not fit each other");
  return {static_cast<const T*>(array.data()), size};
}
template <int D>
const std::int32_t* shifts_of(const std::optional<Shifts>& shifts, std::size_t entries) {
  if (!shifts) return nullptr;
  if (shifts->shape(0) != entries || shifts->shape(1) != D) throw nb::type_error("shifts do not fit the entries");
  return shifts->data();
}

// The watch of a list for points of this kind. A function of its own: as a member, clang 14 loses its instances.
template <class T, int D, class Watches>
const DriftWatch<T, D>& watch_of(const Watches& watches, const PointArray& points) {
  const auto* const watch = std::get_if<DriftWatch<T, D>>(&watches);
  if (watch == nullptr || watch->size() != points.shape(0))
    throw std::logic_error("the bodies are not those of the list");
  return *watch;
}

// The positions of the bodies when a list was built, and the memory it is built in.
class ListCore {
 public:
  // Points: `built` is half the cutoff of the list, `now` half the cutoff of the pairs it must hold. `wraps`: prepare
  // for `crossings`.
  void remember(const PointArray& points, const std::vector<double>& edges, double built, double now, bool wraps) {
    with_watch(points, edges, [&]<class T, int D>(DriftWatch<T, D>& watch, const Box<T, D>& box) {
      watch.remember(values_of<T>(points, points.size()), box, 2 * built, wraps);
      margin_ = watch.slack().margin(built, now);
    });
  }
  // Spheres: radii in the list, and radii.
  void remember_spheres(const PointArray& points, const std::vector<double>& edges, const PointArray& built,
                        const PointArray& radii, bool wraps) {
    with_watch(points, edges, [&]<class T, int D>(DriftWatch<T, D>& watch, const Box<T, D>& box) {
      const std::span<const T> large = values_of<T>(built, points.shape(0));
      const std::span<const T> small = values_of<T>(radii, points.shape(0));
      const T largest = large.empty() ? T{0} : *std::max_element(large.begin(), large.end());
      watch.remember(values_of<T>(points, points.size()), box, 2 * static_cast<double>(largest), wraps);
      const Slack<T> slack = watch.slack();
      margin_ = std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k < large.size(); ++k)
        margin_ = std::min(margin_, slack.margin(static_cast<double>(large[k]), static_cast<double>(small[k])));
    });
  }
  // Boxes as they are in the list, larger by `half_skin` on every side.
  void remember_boxes(const PointArray& lower, const PointArray& upper, const std::vector<double>& edges,
                      double half_skin, const std::vector<double>& longest) {
    with_watch(lower, edges, [&]<class T, int D>(DriftWatch<T, D>& watch, const Box<T, D>& box) {
      std::array<double, D> most{};
      for (std::size_t a = 0; a < D; ++a) most[a] = longest.at(a);
      watch.remember_boxes(values_of<T>(lower, lower.size()), values_of<T>(upper, lower.size()), box, half_skin, most);
    });
  }

  // (whether no body left its margin, the largest share of a margin used up, squared). `copy` becomes a copy of the
  // points.
  std::pair<bool, double> drift(const PointArray& points, const WritablePoints& copy) {
    return measure(points, [&]<class T, int D>(const DriftWatch<T, D>& watch, std::span<const T> now) {
      return watch.drift(now, margin_, copy_of<T>(copy, points));
    });
  }
  std::pair<bool, double> drift_spheres(const PointArray& points, const PointArray& built, const PointArray& radii,
                                        const WritablePoints& copy) {
    return measure(points, [&]<class T, int D>(const DriftWatch<T, D>& watch, std::span<const T> now) {
      return watch.drift(now, values_of<T>(built, watch.size()), values_of<T>(radii, watch.size()),
                         copy_of<T>(copy, points));
    });
  }
  std::pair<bool, double> drift_boxes(const PointArray& lower, const PointArray& upper) {
    return measure(lower, [&]<class T, int D>(const DriftWatch<T, D>& watch, std::span<const T> now) {
      return watch.drift_boxes(now, values_of<T>(upper, lower.size()));
    });
  }
  // Periods by which each coordinate changed besides its motion since the build (int32); None if all are 0.
  nb::object crossings(const PointArray& points) {
    return dispatch(points, [&]<class T, int D>() -> nb::object {
      Region out(points.size() * sizeof(std::int32_t));
      const std::span<const T> now = values_of<T>(points, points.size());
      const bool any = without_lock([&] {
        const std::lock_guard lock(mutex_);
        return watch_of<T, D>(watch_, points).crossings(now, {static_cast<std::int32_t*>(out.data()), now.size()});
      });
      if (!any) return nb::none();
      return array_of<std::int32_t>(std::move(out), {points.shape(0), D}, nullptr);
    });
  }

  // Rows and stored positions after the bodies were reordered.
  nb::tuple reorder(const Column<std::int64_t>& offsets, const Column<std::int32_t>& indices,
                    const Column<std::int32_t>& order, bool half) {
    const std::size_t bodies = order.shape(0);
    const std::size_t entries = indices.shape(0);
    Region new_offsets((bodies + 1) * sizeof(std::int64_t));
    Region new_indices(entries * sizeof(std::int32_t));
    without_lock([&] {
      const std::lock_guard lock(mutex_);
      renumber({span_of(offsets), span_of(indices)}, span_of(order), half,
               {static_cast<std::int64_t*>(new_offsets.data()), bodies + 1},
               static_cast<std::int32_t*>(new_indices.data()));
    });
    return nb::make_tuple(array_of<std::int64_t>(std::move(new_offsets), {bodies + 1}, pool_),
                          array_of<std::int32_t>(std::move(new_indices), {entries}, pool_));
  }
  void reorder_positions(const Column<std::int32_t>& order) {
    without_lock([&] {
      const std::lock_guard lock(mutex_);
      std::visit([&](auto& watch) { watch.reorder(span_of(order)); }, watch_);
    });
  }

  [[nodiscard]] std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    return std::visit([](const auto& watch) { return watch.bytes(); }, watch_);
  }

 private:
  using AnyWatch =
      std::variant<DriftWatch<float, 2>, DriftWatch<float, 3>, DriftWatch<double, 2>, DriftWatch<double, 3>>;

  template <class T>
  static T* copy_of(const WritablePoints& copy, const PointArray& points) {
    if (copy.dtype() != nb::dtype<T>() || copy.size() != points.size())
      throw nb::type_error("the copy does not fit the points");
    return static_cast<T*>(copy.data());
  }

  template <class F>
  void with_watch(const PointArray& points, const std::vector<double>& edges, F&& f) {
    dispatch(points, [&]<class T, int D>() {
      const Box<T, D> box = box_of<T, D>(edges);
      without_lock([&] {
        const std::lock_guard lock(mutex_);
        if (!std::holds_alternative<DriftWatch<T, D>>(watch_)) watch_.emplace<DriftWatch<T, D>>();
        f(std::get<DriftWatch<T, D>>(watch_), box);
      });
    });
  }
  template <class F>
  std::pair<bool, double> measure(const PointArray& points, F&& f) {
    return dispatch(points, [&]<class T, int D>() {
      const std::span<const T> now = values_of<T>(points, points.size());
      const Drifted drifted = without_lock([&] {
        const std::lock_guard lock(mutex_);
        return f(watch_of<T, D>(watch_, points), now);
      });
      return std::pair(drifted.within, drifted.share);
    });
  }

  std::mutex mutex_;
  AnyWatch watch_;
  double margin_ = -1;  // of all bodies, or the least of any
  std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
};

nb::object row_names(const Column<std::int64_t>& offsets) {
  const auto entries = static_cast<std::size_t>(offsets.data()[offsets.shape(0) - 1]);
  Region i(entries * sizeof(std::int32_t));
  without_lock([&] { fill_owners(span_of(offsets), static_cast<std::int32_t*>(i.data())); });
  return array_of<std::int32_t>(std::move(i), {entries}, nullptr);
}

// The first of the longest rows, and its length.
std::pair<std::size_t, std::size_t> find_longest_row(const Column<std::int64_t>& offsets) {
  const std::span<const std::int64_t> of = span_of(offsets);
  if (of.size() == 1) return {0, 0};
  const std::size_t row = longest_row(of);
  return {row, static_cast<std::size_t>(of[row + 1] - of[row])};
}

// Table, counts, and (i, j) of the entries that do not fit.
nb::tuple spread_rows(const Column<std::int64_t>& offsets, const Column<std::int32_t>& indices, std::size_t width) {
  const RowsView rows{span_of(offsets), span_of(indices)};
  const std::vector<std::int64_t> overflow = overflow_begin(rows.offsets, width);
  const auto more = static_cast<std::size_t>(overflow.back());
  ensure_memory(rows.size() * width * sizeof(std::int32_t));
  Region table(rows.size() * width * sizeof(std::int32_t));
  Region counts(rows.size() * sizeof(std::int32_t));
  Region i(more * sizeof(std::int32_t));
  Region j(more * sizeof(std::int32_t));
  const auto ids = [](const Region& region) { return static_cast<std::int32_t*>(region.data()); };
  without_lock([&] { spread(rows, width, overflow, ids(table), ids(counts), ids(i), ids(j)); });
  const auto array = [](Region region, std::vector<std::size_t> shape) {
    return array_of<std::int32_t>(std::move(region), std::move(shape), nullptr);
  };
  return nb::make_tuple(array(std::move(table), {rows.size(), width}), array(std::move(counts), {rows.size()}),
                        array(std::move(i), {more}), array(std::move(j), {more}));
}

using Table = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The neighbours of all rows, from a table and its overflow.
nb::object collect_rows(const Column<std::int64_t>& offsets, const Table& table, const Column<std::int32_t>& j) {
  const auto entries = static_cast<std::size_t>(offsets.data()[offsets.shape(0) - 1]);
  Region indices(entries * sizeof(std::int32_t));
  without_lock([&] {
    collect(span_of(offsets), table.shape(1), table.data(), j.data(), static_cast<std::int32_t*>(indices.data()));
  });
  return array_of<std::int32_t>(std::move(indices), {entries}, nullptr);
}

using Values = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Give give_of(int code) { return code == 0 ? Give::nothing : code > 0 ? Give::same : Give::opposite; }

// Calls f(values, columns, sums) for the dtype of both.
template <class F>
void with_values(const Values& values, std::size_t entries, const Sums& sums, F&& f) {
  const std::size_t columns = sums.shape(1);
  const auto run = [&]<class T>(T) {
    if (values.size() != entries * columns || sums.dtype() != nb::dtype<T>())
      throw nb::type_error("values do not fit the entries of the list");
    without_lock([&] { f(static_cast<const T*>(values.data()), columns, static_cast<T*>(sums.data())); });
  };
  if (values.dtype() == nb::dtype<float>()) run(float{});
  else if (values.dtype() == nb::dtype<double>()) run(double{});
  else throw nb::type_error("values must be float32 or float64");
}

// `give`: 0 nothing to the second body, 1 the same as to the first, -1 the opposite.
void reduce_row_values(const Column<std::int64_t>& offsets, const Column<std::int32_t>& indices, const Values& values,
                       int give, const Sums& sums) {
  const RowPlaces rows{span_of(offsets), {}, 0, indices.data()};
  with_values(values, indices.shape(0), sums, [&](auto* given, std::size_t columns, auto* to) {
    reduce_rows(rows, given, columns, give_of(give), to);
  });
}
void reduce_table_values(const Column<std::int32_t>& counts, const Table& table, const Values& values, int give,
                         const Sums& sums) {
  const RowPlaces rows{{}, span_of(counts), table.shape(1), table.data()};
  with_values(values, table.size(), sums, [&](auto* given, std::size_t columns, auto* to) {
    reduce_rows(rows, given, columns, give_of(give), to);
  });
}
void reduce_pair_values(const Column<std::int32_t>& i, const Column<std::int32_t>& j, const Values& values, int give,
                        const Sums& sums) {
  with_values(values, i.shape(0), sums, [&](auto* given, std::size_t columns, auto* to) {
    reduce_pairs(span_of(i), span_of(j), given, columns, give_of(give), sums.shape(0), to);
  });
}

// Energy and forces.
nb::tuple lennard_jones_of(const Column<std::int64_t>& offsets, const Column<std::int32_t>& indices,
                           const PointArray& points, const std::vector<double>& edges,
                           const std::optional<Shifts>& shifts, double epsilon, double sigma, double cutoff) {
  return dispatch(points, [&]<class T, int D>() {
    const std::size_t n = points.shape(0);
    if (offsets.shape(0) != n + 1) throw nb::type_error("the bodies are not those of the list");
    const Box<T, D> box = box_of<T, D>(edges);
    const LennardJones<T> law{static_cast<T>(epsilon), static_cast<T>(sigma), static_cast<T>(cutoff)};
    const std::int32_t* const images = shifts_of<D>(shifts, indices.shape(0));
    Region forces(n * D * sizeof(T));
    const double energy = without_lock([&] {
      return lennard_jones<T, D>({span_of(offsets), span_of(indices)}, images, values_of<T>(points, n * D), box, law,
                                 static_cast<T*>(forces.data()));
    });
    return nb::make_tuple(energy, array_of<T>(std::move(forces), {n, D}, nullptr));
  });
}

// One vector per entry, of the images in `shifts` or else of the nearest ones; 0 for entries with a plane.
nb::object vectors_of(const Column<std::int32_t>& i, const Column<std::int32_t>& j, const PointArray& points,
                      const std::vector<double>& edges, const std::optional<Shifts>& shifts) {
  if (i.shape(0) != j.shape(0)) throw nb::type_error("i and j must have the same length");
  return dispatch(points, [&]<class T, int D>() {
    const std::int32_t* const images = shifts_of<D>(shifts, i.shape(0));
    Region vectors(i.shape(0) * D * sizeof(T));
    if (vectors.bytes() > 0) std::memset(vectors.data(), 0, i.shape(0) * D * sizeof(T));
    without_lock([&] {
      fill_vectors<T, D>(span_of(i), span_of(j), images, values_of<T>(points, points.size()), box_of<T, D>(edges),
                         static_cast<T*>(vectors.data()));
    });
    return array_of<T>(std::move(vectors), {i.shape(0), D}, nullptr);
  });
}

// The shift of the nearest image of every entry; 0 for entries with a plane.
nb::object nearest_shifts_of(const Column<std::int32_t>& i, const Column<std::int32_t>& j, const PointArray& points,
                             const std::vector<double>& edges) {
  if (i.shape(0) != j.shape(0)) throw nb::type_error("i and j must have the same length");
  return dispatch(points, [&]<class T, int D>() {
    Region shifts(i.shape(0) * D * sizeof(std::int32_t));
    if (shifts.bytes() > 0) std::memset(shifts.data(), 0, i.shape(0) * D * sizeof(std::int32_t));
    without_lock([&] {
      fill_nearest_shifts<T, D>(span_of(i), span_of(j), values_of<T>(points, points.size()), box_of<T, D>(edges),
                                static_cast<std::int32_t*>(shifts.data()));
    });
    return array_of<std::int32_t>(std::move(shifts), {i.shape(0), D}, nullptr);
  });
}

nb::object order_of(const PointArray& points, const std::vector<double>& low, const std::vector<double>& high,
                    const std::vector<double>& edges) {
  return dispatch(points, [&]<class T, int D>() {
    const BodyView<T, D> bodies =
        points_of<T, D>({points, std::nullopt, low, high, std::vector<double>(D, 0.0), false});
    Region order(bodies.size * sizeof(std::int32_t));
    without_lock([&] {
      const Box<T, D> box = box_of<T, D>(edges);
      spatial_order(in_box(bodies, box), box, static_cast<std::int32_t*>(order.data()));
    });
    return array_of<std::int32_t>(std::move(order), {bodies.size}, nullptr);
  });
}

}  // namespace

void bind_lists(nb::module_& m) {
  nb::class_<ListCore>(m, "ListCore", "The state of a neighbour list between builds.")
      .def(nb::init<>())
      .def("remember", &ListCore::remember, nb::arg("points"), nb::arg("box"), nb::arg("built"), nb::arg("now"),
           nb::arg("wraps"))
      .def("remember_spheres", &ListCore::remember_spheres, nb::arg("points"), nb::arg("box"), nb::arg("built"),
           nb::arg("radii"), nb::arg("wraps"))
      .def("remember_boxes", &ListCore::remember_boxes, nb::arg("lower"), nb::arg("upper"), nb::arg("box"),
           nb::arg("half_skin"), nb::arg("longest"))
      .def("drift", &ListCore::drift, nb::arg("points"), nb::arg("copy"))
      .def("drift_spheres", &ListCore::drift_spheres, nb::arg("points"), nb::arg("built"), nb::arg("radii"),
           nb::arg("copy"))
      .def("drift_boxes", &ListCore::drift_boxes, nb::arg("lower"), nb::arg("upper"))
      .def("crossings", &ListCore::crossings, nb::arg("points"))
      .def("reorder", &ListCore::reorder, nb::arg("offsets"), nb::arg("indices"), nb::arg("order"), nb::arg("half"))
      .def("reorder_positions", &ListCore::reorder_positions, nb::arg("order"))
      .def("bytes", &ListCore::bytes);
  m.def("row_names", &row_names, nb::arg("offsets"));
  m.def("longest_row", &find_longest_row, nb::arg("offsets"));
  m.def("spread_rows", &spread_rows, nb::arg("offsets"), nb::arg("indices"), nb::arg("width"));
  m.def("collect_rows", &collect_rows, nb::arg("offsets"), nb::arg("table"), nb::arg("j"));
  m.def("reduce_rows", &reduce_row_values, nb::arg("offsets"), nb::arg("indices"), nb::arg("values"), nb::arg("give"),
        nb::arg("sums"));
  m.def("reduce_table", &reduce_table_values, nb::arg("counts"), nb::arg("table"), nb::arg("values"), nb::arg("give"),
        nb::arg("sums"));
  m.def("reduce_pairs", &reduce_pair_values, nb::arg("i"), nb::arg("j"), nb::arg("values"), nb::arg("give"),
        nb::arg("sums"));
  m.def("lennard_jones", &lennard_jones_of, nb::arg("offsets"), nb::arg("indices"), nb::arg("points"), nb::arg("box"),
        nb::arg("shifts").none(), nb::arg("epsilon"), nb::arg("sigma"), nb::arg("cutoff"));
  m.def("entry_vectors", &vectors_of, nb::arg("i"), nb::arg("j"), nb::arg("points"), nb::arg("box"),
        nb::arg("shifts").none());
  m.def("nearest_shifts", &nearest_shifts_of, nb::arg("i"), nb::arg("j"), nb::arg("points"), nb::arg("box"));
  m.def("spatial_order", &order_of, nb::arg("points"), nb::arg("low"), nb::arg("high"), nb::arg("box"));
}

}  // namespace vicinal
