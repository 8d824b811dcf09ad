// _core.Search: a search for the dtype and dimension of its bodies.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "python/arrays.hpp"
#include "python/choose.hpp"
#include "python/filter.hpp"
#include "search/search.hpp"

namespace vicinal {

using SearchVariant = std::variant<std::unique_ptr<Search<float, 2>>, std::unique_ptr<Search<float, 3>>,
                                   std::unique_ptr<Search<double, 2>>, std::unique_ptr<Search<double, 3>>>;

// A set of queries, or nothing: search the bodies among themselves.
using Queries = std::optional<BodyArrays>;
using Ids = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Where a single search takes its structure from: name and options, or a chooser and a limit for all pairs.
using Origin = std::variant<std::pair<std::string, Options>, std::pair<const Chooser*, std::optional<std::int64_t>>>;

class AnySearch {
 public:
  // Calls f(search). Before its users: its return type is deduced.
  template <class F>
  auto visit(F&& f) {
    return std::visit([&](auto& search) { return f(*search); }, search_);
  }

  AnySearch(const std::string& name, const BodyArrays& bodies, double cutoff, const std::vector<double>& box,
            const Options& options, bool lasting)
      : search_(dispatch(bodies.positions,
                         [&]<class T, int D>() -> SearchVariant {
                           StructureSettings<T, D> settings;
                           settings.cutoff = static_cast<T>(cutoff);
                           settings.box = box_of<T, D>(box);
                           settings.options = options;
                           return std::make_unique<Search<T, D>>(name, settings, lasting);
                         })),
        lasting_(lasting) {
    visit([&]<class T, int D>(Search<T, D>& search) {
      const BodyView<T, D> given = points_of<T, D>(bodies);
      without_lock([&] { search.build(given); });
    });
    if (!lasting_) bodies_ = bodies;  // the structure reads the caller's arrays when a float32 test is in doubt
  }

  // A search that is made, used and dropped in one call.
  static AnySearch once(const Origin& origin, const BodyArrays& bodies, double cutoff, const std::vector<double>& box) {
    if (const auto* const named = std::get_if<0>(&origin))
      return {named->first, bodies, cutoff, box, named->second, false};
    const auto& [chooser, limit] = std::get<1>(origin);
    const auto [name, options] = chooser->choose(bodies, cutoff, box, limit);
    return {name, bodies, cutoff, box, options, false};
  }

  void update(const BodyArrays& bodies) {
    visit([&]<class T, int D>(Search<T, D>& search) {
      const BodyView<T, D> given = points_of<T, D>(bodies);
      without_lock([&] { search.update(given); });
    });
    if (!lasting_) bodies_ = bodies;
  }

  void insert(const BodyArrays& bodies) {
    visit([&]<class T, int D>(Search<T, D>& search) {
      const BodyView<T, D> given = points_of<T, D>(bodies);
      without_lock([&] { search.insert(given); });
    });
  }

  void remove(const Ids& ids) {
    const std::span<const std::uint32_t> gone(ids.data(), ids.shape(0));
    visit([&](auto& search) { without_lock([&] { search.remove(gone); }); });
  }

  nb::list pairs(const std::string& letters, bool half, bool sort, const Queries& queries, const FilterArrays* filter) {
    return visit([&]<class T, int D>(Search<T, D>& search) {
      const auto given = given_queries<T, D>(queries);
      auto result = without_lock(
          [&] { return search.pairs(given ? &*given : nullptr, want_of(letters), half, sort, filter_of(filter)); });
      return columns_of(std::move(result), letters, search.pool());
    });
  }

  // The offsets, then the columns.
  nb::list rows(const std::string& letters, bool half, bool sort, const Queries& queries, const FilterArrays* filter) {
    return visit([&]<class T, int D>(Search<T, D>& search) {
      const auto given = given_queries<T, D>(queries);
      auto result = without_lock(
          [&] { return search.rows(given ? &*given : nullptr, want_of(letters), half, sort, filter_of(filter)); });
      nb::list columns = columns_of(std::move(result.entries), letters, search.pool());
      columns.insert(0, array_of<std::int64_t>(std::move(result.offsets), {result.rows + 1}, search.pool()));
      return columns;
    });
  }

  nb::object count(const Queries& queries, const FilterArrays* filter) {
    return visit([&]<class T, int D>(Search<T, D>& search) {
      const auto given = given_queries<T, D>(queries);
      CountResult result = without_lock([&] { return search.count(given ? &*given : nullptr, filter_of(filter)); });
      return array_of<std::int32_t>(std::move(result.counts), {result.size}, nullptr);
    });
  }

  // Distances and numbers, a row of k per body or query.
  nb::tuple nearest(std::size_t k, double cutoff, const Queries& queries) {
    return visit([&]<class T, int D>(Search<T, D>& search) {
      const auto given = given_queries<T, D>(queries);
      NearestResult result =
          without_lock([&] { return search.nearest(given ? &*given : nullptr, k, static_cast<T>(cutoff)); });
      return rows_of<T>(std::move(result), k);
    });
  }
  // The same for one search of points, without a structure.
  static nb::tuple nearest_once(const BodyArrays& bodies, const std::vector<double>& box, std::size_t k, double cutoff,
                                const Queries& queries) {
    return dispatch(bodies.positions, [&]<class T, int D>() {
      const Box<T, D> space = box_of<T, D>(box);
      const BodyView<T, D> points = points_of<T, D>(bodies);
      const auto given = given_queries<T, D>(queries);
      NearestResult result = without_lock([&] {
        return find_nearest(NearestTree<T, D>(points, space), given ? &*given : nullptr, k, static_cast<T>(cutoff));
      });
      return rows_of<T>(std::move(result), k);
    });
  }

  [[nodiscard]] std::size_t size() {
    return visit([]<class T, int D>(Search<T, D>& search) {
      return without_lock([&] { return search.look([](const BodyView<T, D>& points) { return points.size; }); });
    });
  }

  // Bodies, planes, distances.
  nb::list touch(const PointArray& points, const PointArray& normals, const Queries& queries) {
    return visit([&]<class T, int D>(Search<T, D>& search) {
      const auto rows = [](const PointArray& array) {
        if (array.ndim() != 2 || array.shape(1) != D || array.dtype() != nb::dtype<T>())
          throw nb::type_error("planes do not have the dtype and dimension of the bodies");
        return std::span<const T>(static_cast<const T*>(array.data()), array.shape(0) * D);
      };
      const Planes<T, D> planes{rows(points), rows(normals)};
      const auto given = given_queries<T, D>(queries);
      Touching touching = without_lock([&] { return search.touch(given ? &*given : nullptr, planes); });
      nb::list columns;
      columns.append(array_of<std::int32_t>(std::move(touching.bodies), {touching.size}, nullptr));
      columns.append(array_of<std::int32_t>(std::move(touching.planes), {touching.size}, nullptr));
      columns.append(array_of<T>(std::move(touching.distances), {touching.size}, nullptr));
      return columns;
    });
  }

  // Copies of the positions, and of radii or upper corners.
  nb::tuple bodies() {
    return visit([&]<class T, int D>(Search<T, D>& search) {
      const auto copied = [](const T* from, std::size_t n) {
        Region to(n * sizeof(T) + overrun);
        if (n > 0) std::memcpy(to.data(), from, n * sizeof(T));
        return to;
      };
      struct Copy {
        Region positions, extra;
        std::size_t size;
        Shape shape;
      };
      Copy copy = without_lock([&] {
        return search.look([&](const BodyView<T, D>& points) {
          return Copy{copied(points.data, points.size * D), copied(points.extra, points.size * points.extras()),
                      points.size, points.shape};
        });
      });
      nb::object extra = nb::none();
      if (copy.shape == Shape::sphere) extra = array_of<T>(std::move(copy.extra), {copy.size}, nullptr);
      if (copy.shape == Shape::box) extra = array_of<T>(std::move(copy.extra), {copy.size, D}, nullptr);
      return nb::make_tuple(array_of<T>(std::move(copy.positions), {copy.size, D}, nullptr), extra);
    });
  }

  nb::dict stats() {
    return visit([&]<class T, int D>(Search<T, D>& search) {
      // A thread that updates the search may wait for the interpreter lock while it holds the search: release the lock
      // before waiting.
      const Figures figures = without_lock([&] { return search.figures(); });
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
  template <class T>
  static nb::tuple rows_of(NearestResult result, std::size_t k) {
    return nb::make_tuple(array_of<T>(std::move(result.distances), {result.rows, k}, nullptr),
                          array_of<std::int32_t>(std::move(result.ids), {result.rows, k}, nullptr));
  }
  template <class T, int D>
  static std::optional<BodyView<T, D>> given_queries(const Queries& queries) {
    if (!queries) return std::nullopt;
    return points_of<T, D>(*queries);
  }

  SearchVariant search_;
  bool lasting_;
  std::optional<BodyArrays> bodies_;
};

}  // namespace vicinal
