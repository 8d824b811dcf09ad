// The Python module: arrays in, arrays out. Arguments were checked in Python (src/vicinal/_check.py).
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "exec/isa.hpp"
#include "exec/threads.hpp"
#include "python/engine.hpp"

namespace nb = nanobind;

namespace {

using namespace vicinal;

// Points as Python passes them: C-contiguous float32 or float64, (n, 2) or (n, 3).
using PointArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Options = std::map<std::string, double>;

// The calling thread looks for Ctrl-C at most every 50 ms; asking takes the interpreter lock.
bool user_interrupts() {
  using Clock = std::chrono::steady_clock;
  static thread_local Clock::time_point last = Clock::now();
  const auto now = Clock::now();
  if (now - last < std::chrono::milliseconds(50)) return false;
  last = now;
  const nb::gil_scoped_acquire lock;
  return PyErr_CheckSignals() != 0;
}

// Runs f without the interpreter lock; Ctrl-C becomes KeyboardInterrupt.
template <class F>
auto without_lock(F&& f) {
  try {
    const nb::gil_scoped_release release;
    enter_call();
    return f();
  } catch (const Interrupted&) {
    throw nb::python_error();
  }
}

// Calls f.operator()<T, D>() for the dtype and dimension of an array.
template <class F>
auto dispatch(const PointArray& points, F&& f) {
  const bool single = points.dtype() == nb::dtype<float>();
  if (points.ndim() != 2 || !(single || points.dtype() == nb::dtype<double>()))
    throw nb::type_error("points must be a float32 or float64 array of two dimensions");
  if (points.shape(1) == 2) return single ? f.template operator()<float, 2>() : f.template operator()<double, 2>();
  if (points.shape(1) == 3) return single ? f.template operator()<float, 3>() : f.template operator()<double, 3>();
  throw nb::type_error("points must have 2 or 3 columns");
}

template <class T, int D>
Points<T, D> points_of(const PointArray& array, const std::vector<double>& low, const std::vector<double>& high) {
  if (array.ndim() != 2 || array.shape(1) != D || array.dtype() != nb::dtype<T>() || low.size() != D ||
      high.size() != D)
    throw nb::type_error("points do not have the dtype and dimension the index was made for");
  Points<T, D> points;
  points.data = static_cast<const T*>(array.data());
  points.size = array.shape(0);
  for (std::size_t a = 0; a < D; ++a) {
    points.low[a] = static_cast<T>(low[a]);
    points.high[a] = static_cast<T>(high[a]);
  }
  return points;
}

// Hands a region to NumPy; when the array dies the memory goes back to the pool, if there still is one.
template <class T>
nb::object array_of(Region region, std::vector<std::size_t> shape, const std::shared_ptr<Pool>& pool) {
  struct Owner {
    Region region;
    std::shared_ptr<Pool> pool;
    Owner(Region r, std::shared_ptr<Pool> p) : region(std::move(r)), pool(std::move(p)) {}
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    ~Owner() {
      if (pool) pool->give(std::move(region));
    }
  };
  auto owner = std::make_unique<Owner>(std::move(region), pool);
  void* const data = owner->region.data();
  nb::capsule capsule(owner.release(), [](void* p) noexcept { delete static_cast<Owner*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), capsule));
}

// The columns named by `want`, in that order; repeated letters share one array.
template <class T, int D>
nb::list columns_of(Found<T, D> found, const std::string& want, const std::shared_ptr<Pool>& pool) {
  std::map<char, nb::object> made;
  const auto column = [&](char letter) -> nb::object {
    switch (letter) {
      case 'i': return array_of<std::int32_t>(std::move(found.store.i), {found.size}, pool);
      case 'j': return array_of<std::int32_t>(std::move(found.store.j), {found.size}, pool);
      case 'd': return array_of<T>(std::move(found.store.distance), {found.size}, pool);
      case 'D': return array_of<T>(std::move(found.store.vector), {found.size, D}, pool);
      default: return array_of<std::int32_t>(std::move(found.store.shift), {found.size, D}, pool);
    }
  };
  nb::list result;
  for (const char letter : want) {
    if (!made.contains(letter)) made[letter] = column(letter);
    result.append(made[letter]);
  }
  return result;
}

Want want_of(const std::string& letters) {
  const auto has = [&](char letter) { return letters.find(letter) != std::string::npos; };
  return {has('i'), has('j'), has('d'), has('D'), has('S')};
}

using AnyEngine = std::variant<std::unique_ptr<Engine<float, 2>>, std::unique_ptr<Engine<float, 3>>,
                               std::unique_ptr<Engine<double, 2>>, std::unique_ptr<Engine<double, 3>>>;

// A set of queries with its bounds, or nothing: search the bodies among themselves.
using Queries = std::optional<std::tuple<PointArray, std::vector<double>, std::vector<double>>>;

class Core {
  // Before their users: their return types are deduced.
  template <class F>
  auto visit(F&& f) {
    return std::visit([&](auto& engine) { return f(*engine); }, engine_);
  }
  template <class T, int D>
  static std::optional<Points<T, D>> given_queries(const Queries& queries) {
    if (!queries) return std::nullopt;
    return points_of<T, D>(std::get<0>(*queries), std::get<1>(*queries), std::get<2>(*queries));
  }

 public:
  Core(const std::string& name, const PointArray& points, const std::vector<double>& low,
       const std::vector<double>& high, double cutoff, const std::vector<double>& box, const Options& options,
       bool lasting)
      : engine_(dispatch(points,
                         [&]<class T, int D>() -> AnyEngine {
                           Settings<T, D> settings;
                           settings.cutoff = static_cast<T>(cutoff);
                           for (std::size_t a = 0; a < D; ++a) settings.box.edge[a] = static_cast<T>(box.at(a));
                           settings.options = options;
                           return std::make_unique<Engine<T, D>>(name, settings, lasting);
                         })),
        lasting_(lasting) {
    build(points, low, high);
  }

  void build(const PointArray& points, const std::vector<double>& low, const std::vector<double>& high) {
    visit([&]<class T, int D>(Engine<T, D>& engine) {
      const Points<T, D> given = points_of<T, D>(points, low, high);
      without_lock([&] { engine.build(given); });
    });
    if (!lasting_) points_ = points;  // the structure reads the caller's array when a float32 test is in doubt
  }

  nb::list pairs(const std::string& letters, bool half, bool sort, const Queries& queries) {
    return visit([&]<class T, int D>(Engine<T, D>& engine) {
      const auto given = given_queries<T, D>(queries);
      auto found = without_lock([&] { return engine.pairs(given ? &*given : nullptr, want_of(letters), half, sort); });
      return columns_of(std::move(found), letters, engine.pool());
    });
  }

  // The offsets, then the columns.
  nb::list rows(const std::string& letters, bool sort, const Queries& queries) {
    return visit([&]<class T, int D>(Engine<T, D>& engine) {
      const auto given = given_queries<T, D>(queries);
      auto result = without_lock([&] { return engine.rows(given ? &*given : nullptr, want_of(letters), sort); });
      nb::list columns = columns_of(std::move(result.found), letters, engine.pool());
      columns.insert(0, array_of<std::int64_t>(std::move(result.offsets), {result.rows + 1}, nullptr));
      return columns;
    });
  }

  nb::object count(const Queries& queries) {
    return visit([&]<class T, int D>(Engine<T, D>& engine) {
      const auto given = given_queries<T, D>(queries);
      Counted found = without_lock([&] { return engine.count(given ? &*given : nullptr); });
      return array_of<std::int32_t>(std::move(found.counts), {found.size}, nullptr);
    });
  }

  nb::dict stats() {
    return visit([&]<class T, int D>(Engine<T, D>& engine) {
      // Whoever updates the index may ask for the interpreter lock while holding the index: never wait with it.
      const Figures figures = without_lock([&] { return engine.figures(); });
      nb::dict d;
      d["bodies"] = figures.bodies;
      d["candidates"] = figures.tally.candidates;
      d["pairs"] = figures.tally.pairs;
      d["bytes"] = figures.bytes;
      d["build_seconds"] = figures.build_seconds;
      d["query_seconds"] = figures.query_seconds;
      d["details"] = nb::cast(figures.details);
      return d;
    });
  }

 private:
  AnyEngine engine_;
  bool lasting_;
  PointArray points_;
};

// (low, high, first row with a NaN or infinity or -1).
std::tuple<std::vector<double>, std::vector<double>, std::int64_t> bounds(const PointArray& points) {
  return dispatch(points, [&]<class T, int D>() {
    const std::span<const T> values(static_cast<const T*>(points.data()), points.shape(0) * D);
    const Bounds<T, D> found = without_lock([&] { return bounds_of<T, D>(values); });
    const auto bad = found.bad == points.shape(0) ? std::int64_t{-1} : static_cast<std::int64_t>(found.bad);
    return std::tuple(std::vector<double>(found.low.begin(), found.low.end()),
                      std::vector<double>(found.high.begin(), found.high.end()), bad);
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

  nb::class_<Core>(m, "Core", "One structure over one set of bodies.")
      .def(nb::init<const std::string&, const PointArray&, const std::vector<double>&, const std::vector<double>&,
                    double, const std::vector<double>&, const Options&, bool>(),
           nb::arg("name"), nb::arg("points"), nb::arg("low"), nb::arg("high"), nb::arg("cutoff"), nb::arg("box"),
           nb::arg("options"), nb::arg("lasting"))
      .def("build", &Core::build, nb::arg("points"), nb::arg("low"), nb::arg("high"))
      .def("pairs", &Core::pairs, nb::arg("want"), nb::arg("half"), nb::arg("sort"), nb::arg("queries").none())
      .def("rows", &Core::rows, nb::arg("want"), nb::arg("sort"), nb::arg("queries").none())
      .def("count", &Core::count, nb::arg("queries").none())
      .def("stats", &Core::stats);

  m.def("bounds", &bounds, nb::arg("points"), "Bounds per axis and the first row that is not finite (or -1).");
  m.def("physical_memory", &physical_memory);
  m.def("get_threads", [] { return thread_count_setting().load(); });
  m.def("set_threads", [](int n) { thread_count_setting() = n; }, nb::arg("n"));
  m.def("hardware_threads", &hardware_threads);
  m.def("get_isa", [] { return std::string(name(isa_setting())); });
  m.def("set_isa", [](const std::string& wanted) { set_isa(wanted); }, nb::arg("name"));
  m.def("available_isas", &isas);
  m.def("compiler", [] { return std::string(VICINAL_COMPILER); });
  m.def("openmp", [] {
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
  });
  m.def("emulated", [] {
#ifdef VICINAL_EMULATE_AVX512
    return true;
#else
    return false;
#endif
  });
}
