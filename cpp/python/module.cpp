// The Python module: arrays in, arrays out. Arguments were checked in Python (src/vicinal/_check.py).
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "exec/available_memory.hpp"
#include "exec/isa.hpp"
#include "exec/threads.hpp"
#include "index/body_view.hpp"
#include "index/bounds.hpp"
#include "python/arrays.hpp"
#include "python/choose.hpp"
#include "python/contacts.hpp"
#include "python/delaunay.hpp"
#include "python/dem.hpp"
#include "python/distributed.hpp"
#include "python/exact_sums.hpp"
#include "python/fluid.hpp"
#include "python/fused.hpp"
#include "python/lists.hpp"
#include "python/mesh.hpp"
#include "python/search.hpp"
#include "python/sph.hpp"
#include "python/sph_guard.hpp"
#include "python/systems.hpp"

namespace nb = nanobind;

namespace {

using namespace vicinal;

// The calling thread checks for Ctrl-C at most every 50 ms, because the check takes the interpreter lock.
bool user_interrupts() {
  using SteadyClock = std::chrono::steady_clock;
  static thread_local SteadyClock::time_point last = SteadyClock::now();
  const auto now = SteadyClock::now();
  if (now - last < std::chrono::milliseconds(50)) return false;
  last = now;
  const nb::gil_scoped_acquire lock;
  return PyErr_CheckSignals() != 0;
}

// (low, high, first row with a NaN or infinity or -1).
using BoundsTuple = std::tuple<std::vector<double>, std::vector<double>, std::int64_t>;
template <class T, int D>
BoundsTuple tuple_of(const Bounds<T, D>& bounds, std::size_t rows) {
  const auto bad = bounds.bad == rows ? std::int64_t{-1} : static_cast<std::int64_t>(bounds.bad);
  return {std::vector<double>(bounds.low.begin(), bounds.low.end()),
          std::vector<double>(bounds.high.begin(), bounds.high.end()), bad};
}
BoundsTuple bounds(const PointArray& points) {
  return dispatch(points, [&]<class T, int D>() {
    const std::size_t rows = points.shape(0);
    const auto* const values = static_cast<const T*>(points.data());
    return tuple_of(without_lock([&] { return bounds_of_points<T, D>(values, rows); }), rows);
  });
}
// The same for the lower corners and the edges of boxes.
std::tuple<BoundsTuple, BoundsTuple> box_bounds(const PointArray& lower, const PointArray& upper) {
  return dispatch(lower, [&]<class T, int D>() {
    const std::size_t rows = lower.shape(0);
    if (upper.dtype() != nb::dtype<T>() || upper.ndim() != 2 || upper.shape(0) != rows || upper.shape(1) != D)
      throw std::invalid_argument("lower and upper corners differ in shape or dtype");
    const auto* const low = static_cast<const T*>(lower.data());
    const auto* const high = static_cast<const T*>(upper.data());
    const auto all = without_lock([&] { return bounds_of_boxes<T, D>(low, high, rows); });
    return std::tuple(tuple_of(all[0], rows), tuple_of(all[1], rows));
  });
}

// Whether points within these bounds lie in the box or not many periods away, and reach few images of it: so few that
// the checks in Python (check_wraps, check_images) would pass.
template <class T, int D>
bool near_box(const Box<T, D>& box, const std::vector<double>& low, const std::vector<double>& high, T cutoff) {
  constexpr double most = 1024;
  BodyView<T, D> points;
  for (std::size_t a = 0; a < D; ++a) {
    points.low[a] = static_cast<T>(low[a]);
    points.high[a] = static_cast<T>(high[a]);
  }
  // Longer than the cutoff by rounding, which can be many edges.
  const Reach<D> reach = in_box(points, box).reach(cutoff);
  for (std::size_t k = 0; k < D; ++k) {
    const auto edge = static_cast<double>(box.edge[k]);
    if (!(edge > 0)) continue;
    double far = 0;
    for (std::size_t a = 0; a < D; ++a) {
      const double along = box.tilted ? std::abs(box.lattice.inverse[k][a]) : a == k ? 1 / edge : 0;
      far += along * std::max(std::abs(low[a]), std::abs(high[a]));
      if (std::abs(static_cast<double>(box.lattice.basis[k][a])) > most) return false;
    }
    if (!(far < most && reach.axis[k] < 2 * edge)) return false;
  }
  return true;
}

// The pairs of points, checked and found in this one call, which costs little for few points. None for everything that
// is not plain: Python checks it again, and raises an error or takes another way. An empty box is open space.
nb::object plain_pairs(nb::handle points, double cutoff, const std::vector<double>& box, const std::string& want,
                       bool half, bool sort, const Chooser& chooser, std::optional<std::int64_t> limit) {
  PointArray array;
  if (!nb::try_cast(points, array, false) || array.ndim() != 2 || array.shape(0) == 0 ||
      array.shape(0) > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    return nb::none();
  const bool known = array.dtype() == nb::dtype<float>() || array.dtype() == nb::dtype<double>();
  if (!known || (array.shape(1) != 2 && array.shape(1) != 3)) return nb::none();
  if (want.empty() || want.find_first_not_of("ijdDS") != std::string::npos) return nb::none();
  return dispatch(array, [&]<class T, int D>() -> nb::object {
    const auto r = static_cast<T>(cutoff);
    // NaN fails both comparisons; a square that overflows is infinite.
    if (!(r > 0 && r * r <= std::numeric_limits<T>::max() / 4)) return nb::none();
    auto [low, high, bad] = bounds(array);
    if (bad >= 0) return nb::none();
    const std::vector<double> zeros(D);
    const std::vector<double>& space = box.empty() ? zeros : box;
    if (!box.empty() && !near_box(box_of<T, D>(box), low, high, r)) return nb::none();
    const BodyArrays bodies{array, std::nullopt, std::move(low), std::move(high), zeros, false};
    return nb::tuple(AnySearch::once(std::pair(&chooser, limit), bodies, static_cast<double>(r), space)
                         .pairs(want, half, sort, std::nullopt, nullptr));
  });
}

// The same of queries and points in open space that are kept.
nb::object plain_query_pairs(AnySearch& any, nb::handle queries, const std::string& want, bool sort) {
  PointArray array;
  if (!nb::try_cast(queries, array, false) || array.ndim() != 2 || array.shape(0) == 0 ||
      array.shape(0) > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    return nb::none();
  if (want.empty() || want.find_first_not_of("ijdDS") != std::string::npos) return nb::none();
  return any.visit([&]<class T, int D>(Search<T, D>& search) -> nb::object {
    if (array.shape(1) != D || array.dtype() != nb::dtype<T>()) return nb::none();
    BodyView<T, D> given;
    given.data = static_cast<const T*>(array.data());
    given.size = array.shape(0);
    auto found = without_lock([&]() -> std::optional<PairResult<T, D>> {
      const Bounds<T, D> all = bounds_of_points<T, D>(given.data, given.size);
      if (all.bad != given.size) return std::nullopt;
      given.low = all.low;
      given.high = all.high;
      return search.pairs(&given, want_of(want), true, sort, nullptr);
    });
    if (!found) return nb::none();
    return nb::tuple(columns_of(std::move(*found), want, search.pool()));
  });
}

std::vector<std::string> isas() {
  std::vector<std::string> names;
  for (const Isa isa : available_isas()) names.emplace_back(name(isa));
  return names;
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of vicinal. Use the functions of the package instead.";
  interrupt_poll() = user_interrupts;
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
      PyErr_SetString(PyExc_MemoryError,
                      "not enough memory for this search or its result; use a smaller cutoff or fewer bodies, or count "
                      "or query them in parts");
    }
  });

  bind_bodies(m);
  using Numbers = FilterArrays::Numbers;
  nb::class_<FilterArrays>(m, "Filter", "Which hits are pairs: see pairs/filter.hpp.")
      .def(nb::init<std::vector<double>, std::size_t, Numbers, Numbers, Numbers, Numbers, FilterArrays::Offsets,
                    Numbers, double, bool, FilterArrays::Spheres, bool>(),
           nb::arg("squared"), nb::arg("kinds"), nb::arg("types").none(), nb::arg("query_types").none(),
           nb::arg("groups").none(), nb::arg("query_groups").none(), nb::arg("excluded_offsets").none(),
           nb::arg("excluded").none(), nb::arg("least"), nb::arg("narrowest"), nb::arg("spheres").none(),
           nb::arg("round_queries"));
  nb::class_<AnySearch> search(m, "Search", "One structure over one set of bodies.");
  search
      .def(nb::init<const std::string&, const BodyArrays&, double, const std::vector<double>&, const Options&, bool>(),
           nb::arg("name"), nb::arg("bodies"), nb::arg("cutoff"), nb::arg("box"), nb::arg("options"),
           nb::arg("lasting"))
      .def_static("once", &AnySearch::once, nb::arg("origin"), nb::arg("bodies"), nb::arg("cutoff"), nb::arg("box"))
      .def("update", &AnySearch::update, nb::arg("bodies"))
      .def("insert", &AnySearch::insert, nb::arg("bodies"))
      .def("remove", &AnySearch::remove, nb::arg("ids"))
      .def("touch", &AnySearch::touch, nb::arg("points"), nb::arg("normals"), nb::arg("queries").none())
      .def("pairs", &AnySearch::pairs, nb::arg("want"), nb::arg("half"), nb::arg("sort"), nb::arg("queries").none(),
           nb::arg("hit_filter").none() = nb::none())
      .def("plain_pairs", &plain_query_pairs, nb::arg("queries"), nb::arg("want"), nb::arg("sort"))
      .def("rows", &AnySearch::rows, nb::arg("want"), nb::arg("half"), nb::arg("sort"), nb::arg("queries").none(),
           nb::arg("hit_filter").none() = nb::none())
      .def("count", &AnySearch::count, nb::arg("queries").none(), nb::arg("hit_filter").none() = nb::none())
      .def("nearest", &AnySearch::nearest, nb::arg("k"), nb::arg("cutoff"), nb::arg("queries").none())
      .def("bodies", &AnySearch::bodies)
      .def("stats", &AnySearch::stats);
  // The same for one search, with bodies and result in one call.
  const auto def_once = [&m](const char* name, auto method) {
    m.def(
        name,
        [method](const Origin& origin, const BodyArrays& bodies, double cutoff, const std::vector<double>& box,
                 const std::string& want, bool half, bool sort, const Queries& queries, const FilterArrays* filter) {
          AnySearch made = AnySearch::once(origin, bodies, cutoff, box);
          return (made.*method)(want, half, sort, queries, filter);
        },
        nb::arg("origin"), nb::arg("bodies"), nb::arg("cutoff"), nb::arg("box"), nb::arg("want"), nb::arg("half"),
        nb::arg("sort"), nb::arg("queries").none(), nb::arg("hit_filter").none() = nb::none());
  };
  m.def("plain_pairs", &plain_pairs, nb::arg("points"), nb::arg("cutoff"), nb::arg("box"), nb::arg("want"),
        nb::arg("half"), nb::arg("sort"), nb::arg("chooser"), nb::arg("limit").none());
  def_once("pairs", &AnySearch::pairs);
  def_once("rows", &AnySearch::rows);
  m.def(
      "count",
      [](const Origin& origin, const BodyArrays& bodies, double cutoff, const std::vector<double>& box,
         const Queries& queries,
         const FilterArrays* filter) { return AnySearch::once(origin, bodies, cutoff, box).count(queries, filter); },
      nb::arg("origin"), nb::arg("bodies"), nb::arg("cutoff"), nb::arg("box"), nb::arg("queries").none(),
      nb::arg("hit_filter").none() = nb::none());
  m.def("nearest", &AnySearch::nearest_once, nb::arg("bodies"), nb::arg("box"), nb::arg("k"), nb::arg("cutoff"),
        nb::arg("queries").none());
  bind_choose(m);
  bind_contacts(m);
  bind_delaunay(m);
  bind_dem(m);
  bind_exact_sums(m);
  bind_distributed(m);
  bind_fluid(m);
  bind_fused(m, search);
  bind_lists(m);
  bind_mesh(m);
  bind_sph(m);
  bind_sph_guard(m);
  bind_systems(m);

  m.def("bounds", &bounds, nb::arg("points"), "Bounds per axis and the first row that is not finite (or -1).");
  m.def("box_bounds", &box_bounds, nb::arg("lower"), nb::arg("upper"),
        "The same of the lower corners and of the edges of boxes.");
  m.def("physical_memory", &physical_memory);
  m.def("available_memory", &available_memory);
  m.def("pretend_available_memory", &pretend_available_memory, nb::arg("size"));
  m.def("get_threads", [] { return thread_count_setting().load(); });
  m.def("set_threads", [](int n) { thread_count_setting() = n; }, nb::arg("n"));
  m.def("hardware_threads", &hardware_threads);
  m.def("work_alone", [] { alone_after_fork() = true; });
  m.def("processor_maker", [] { return std::string(processor_maker()); });
  m.def("get_isa", [] { return std::string(name(isa_setting())); });
  m.def("set_isa", [](const std::string& wanted) { set_isa(wanted); }, nb::arg("name"));
  m.def("available_isas", &isas);
  m.def("compiler", [] { return std::string(VICINAL_COMPILER); });
  m.def("openmp", &has_openmp);
  m.def("emulated", &avx512_is_emulated);
}
