// What Python holds: an engine for the dtype and dimension of its points.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "python/arrays.hpp"
#include "python/engine.hpp"

namespace vicinal {

using Options = std::map<std::string, double>;

using AnyEngine = std::variant<std::unique_ptr<Engine<float, 2>>, std::unique_ptr<Engine<float, 3>>,
                               std::unique_ptr<Engine<double, 2>>, std::unique_ptr<Engine<double, 3>>>;

// A set of queries with its bounds, or nothing: search the bodies among themselves.
using Queries = std::optional<std::tuple<PointArray, std::vector<double>, std::vector<double>>>;

class Core {
 public:
  // Calls f(engine). Before its users: its return type is deduced.
  template <class F>
  auto visit(F&& f) {
    return std::visit([&](auto& engine) { return f(*engine); }, engine_);
  }

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
  template <class T, int D>
  static std::optional<Points<T, D>> given_queries(const Queries& queries) {
    if (!queries) return std::nullopt;
    return points_of<T, D>(std::get<0>(*queries), std::get<1>(*queries), std::get<2>(*queries));
  }

  AnyEngine engine_;
  bool lasting_;
  PointArray points_;
};

}  // namespace vicinal
