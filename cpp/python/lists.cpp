// What neighbour lists need of the core: a watch over motion, and rows made from pairs.
#include "python/lists.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "exec/memory.hpp"
#include "geometry/box.hpp"
#include "lists/drift.hpp"
#include "lists/gather.hpp"
#include "python/arrays.hpp"

namespace vicinal {

namespace {

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Writable = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Column<T>& column) {
  return {column.data(), column.shape(0)};
}
template <class T>
std::span<const T> values_of(const PointArray& array, std::size_t size) {
  if (array.dtype() != nb::dtype<T>() || array.size() != size) throw nb::type_error("arrays do not fit each other");
  return {static_cast<const T*>(array.data()), size};
}
template <class T, int D>
Box<T, D> box_of(const std::vector<double>& edges) {
  Box<T, D> box;
  for (std::size_t a = 0; a < D; ++a) box.edge[a] = static_cast<T>(edges.at(a));
  return box;
}

// The places of the bodies when a list was built, and the memory it is built in.
class ListCore {
 public:
  // Points with half a cutoff each: `built` in the list, `now` in the answer. Returns how far a body may move.
  double remember(const PointArray& points, const std::vector<double>& edges, double built, double now) {
    return watch(points, edges, [&]<class T>(const Slack<T>& slack) { return slack.budget(built, now); });
  }
  // Spheres: radii in the list, and radii.
  double remember_spheres(const PointArray& points, const std::vector<double>& edges, const PointArray& built,
                          const PointArray& radii) {
    return watch(points, edges, [&]<class T>(const Slack<T>& slack) {
      const std::span<const T> large = values_of<T>(built, points.shape(0));
      const std::span<const T> small = values_of<T>(radii, points.shape(0));
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k < large.size(); ++k)
        least = std::min(least, slack.budget(static_cast<double>(large[k]), static_cast<double>(small[k])));
      return least;
    });
  }

  // (nobody left their budget, largest share of a budget used up, squared).
  std::pair<bool, double> drift(const PointArray& points) {
    return measure(points, [&]<class T, int D>(const Reference<T, D>& reference, std::span<const T> now) {
      return reference.drift(now, budget_);
    });
  }
  std::pair<bool, double> drift_spheres(const PointArray& points, const PointArray& built, const PointArray& radii) {
    return measure(points, [&]<class T, int D>(const Reference<T, D>& reference, std::span<const T> now) {
      return reference.drift(now, values_of<T>(built, reference.size()), values_of<T>(radii, reference.size()));
    });
  }

  // Offsets and neighbours: every pair in the row of its smaller body, or of both.
  nb::tuple rows(const Column<std::int32_t>& i, const Column<std::int32_t>& j, std::size_t bodies, bool both) {
    const std::size_t entries = i.shape(0) * (both ? 2 : 1);
    Region offsets = pool_->take((bodies + 1) * sizeof(std::int64_t), Region::Pages::huge);
    Region neighbors = pool_->take(entries * sizeof(std::int32_t), Region::Pages::huge);
    without_lock([&] {
      const std::lock_guard lock(mutex_);
      gatherer_.gather(span_of(i), span_of(j), both, {static_cast<std::int64_t*>(offsets.data()), bodies + 1},
                       static_cast<std::int32_t*>(neighbors.data()));
    });
    return nb::make_tuple(array_of<std::int64_t>(std::move(offsets), {bodies + 1}, pool_),
                          array_of<std::int32_t>(std::move(neighbors), {entries}, pool_));
  }

  [[nodiscard]] std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    return std::visit([](const auto& reference) { return reference.bytes(); }, reference_) + gatherer_.bytes();
  }

 private:
  using AnyReference =
      std::variant<Reference<float, 2>, Reference<float, 3>, Reference<double, 2>, Reference<double, 3>>;

  template <class F>
  double watch(const PointArray& points, const std::vector<double>& edges, F&& budget) {
    return dispatch(points, [&]<class T, int D>() {
      const Box<T, D> box = box_of<T, D>(edges);
      return without_lock([&] {
        const std::lock_guard lock(mutex_);
        if (!std::holds_alternative<Reference<T, D>>(reference_)) reference_.emplace<Reference<T, D>>();
        std::get<Reference<T, D>>(reference_).remember(values_of<T>(points, points.size()), box);
        budget_ = budget(Slack<T>(box));
        return budget_;
      });
    });
  }
  template <class F>
  std::pair<bool, double> measure(const PointArray& points, F&& f) {
    return dispatch(points, [&]<class T, int D>() {
      const std::span<const T> now = values_of<T>(points, points.size());
      const Drifted drifted = without_lock([&] {
        const std::lock_guard lock(mutex_);
        const auto* const reference = std::get_if<Reference<T, D>>(&reference_);
        if (reference == nullptr || reference->size() != points.shape(0))
          throw std::logic_error("the bodies are not those of the list");
        return f(*reference, now);
      });
      return std::pair(drifted.within, drifted.share);
    });
  }

  std::mutex mutex_;
  AnyReference reference_;
  double budget_ = -1;
  RowGatherer gatherer_;
  std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
};

void sort_rows(const Column<std::int64_t>& offsets, const Writable<std::int32_t>& neighbors) {
  without_lock([&] { sort_each_row(span_of(offsets), neighbors.data()); });
}

}  // namespace

void bind_lists(nb::module_& m) {
  nb::class_<ListCore>(m, "ListCore", "What a neighbour list remembers between builds.")
      .def(nb::init<>())
      .def("remember", &ListCore::remember, nb::arg("points"), nb::arg("box"), nb::arg("built"), nb::arg("now"))
      .def("remember_spheres", &ListCore::remember_spheres, nb::arg("points"), nb::arg("box"), nb::arg("built"),
           nb::arg("radii"))
      .def("drift", &ListCore::drift, nb::arg("points"))
      .def("drift_spheres", &ListCore::drift_spheres, nb::arg("points"), nb::arg("built"), nb::arg("radii"))
      .def("rows", &ListCore::rows, nb::arg("i"), nb::arg("j"), nb::arg("bodies"), nb::arg("both"))
      .def("bytes", &ListCore::bytes);
  m.def("sort_rows", &sort_rows, nb::arg("offsets"), nb::arg("neighbors"));
}

}  // namespace vicinal
