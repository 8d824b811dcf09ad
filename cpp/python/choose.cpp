#include "python/choose.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "exec/isa.hpp"
#include "index/costs.hpp"
#include "index/counts.hpp"
#include "index/estimators.hpp"
#include "index/survey.hpp"
#include "python/arrays.hpp"

namespace vicinal {

namespace {

nb::str text(std::string_view words) { return nb::str(words.data(), words.size()); }

// The keyword arguments of a structure's Python class.
nb::dict arguments_of(const std::optional<Parameter>& parameter) {
  nb::dict result;
  if (parameter) std::visit([&](auto value) { result[text(parameter->name)] = nb::cast(value); }, parameter->value);
  return result;
}

nb::dict dict_of(const Counts& counts) {
  nb::dict result;
  for (std::size_t k = 0; k < count_kinds; ++k)
    if (counts.given().has(k)) result[text(count_names[k])] = counts[k];
  return result;
}

Counts counts_of(const std::map<std::string, double>& numbers) {
  Counts counts;
  for (const auto& [count, number] : numbers) counts.set(count_named(count), number);
  return counts;
}

template <int D>
nb::list list_of(const std::vector<SizeGroup<D>>& groups) {
  nb::list result;
  for (const SizeGroup<D>& group : groups) {
    nb::dict entry;
    entry["count"] = group.count;
    entry["largest"] = group.largest;
    entry["mean"] = group.mean;
    result.append(entry);
  }
  return result;
}

class AnySurvey {
 public:
  AnySurvey(const BodyArrays& bodies, double cutoff, const std::vector<double>& edges, double most_cells)
      : survey_(dispatch(bodies.positions, [&]<class T, int D>() -> Either {
          const Box<T, D> box = box_of<T, D>(edges);
          const BodyView<T, D> view = in_box(points_of<T, D>(bodies), box);
          return without_lock([&] { return Survey<D>(view, box, static_cast<T>(cutoff), most_cells); });
        })) {}

  [[nodiscard]] std::vector<Prediction> predictions(const CostTable& costs, const std::optional<double>& motion,
                                                    std::int64_t limit) const {
    return std::visit([&](const auto& survey) { return vicinal::predict(survey, costs, motion, limit); }, survey_);
  }
  // By structure: the predicted seconds with its best parameters, and these parameters.
  [[nodiscard]] nb::dict predict(const CostTable& costs, std::optional<double> motion, std::int64_t limit) const {
    nb::dict result;
    for (const Prediction& one : predictions(costs, motion, limit))
      result[text(one.structure)] = nb::make_tuple(one.seconds, arguments_of(one.parameter));
    return result;
  }

  // Every variant of every structure: (structure, parameters, counts, counts that an update does not repeat).
  [[nodiscard]] nb::list estimates() const {
    nb::list result;
    visit([&]<int D>(const Survey<D>& survey) {
      for (const auto& [structure, estimate] : estimators<D>())
        for (const Estimate& way : estimate(survey)) {
          nb::list kept;
          for (std::size_t k = 0; k < count_kinds; ++k)
            if (way.kept.has(k)) kept.append(text(count_names[k]));
          result.append(nb::make_tuple(text(structure), arguments_of(way.parameter), dict_of(way.counts), kept));
        }
    });
    return result;
  }

  // For the reason of a choice, and for tests.
  [[nodiscard]] nb::dict facts() const {
    nb::dict result;
    visit([&](const auto& survey) {
      result["bodies"] = survey.bodies;
      result["grid_cells"] = survey.grid_cells();
      result["pairs"] = survey.pairs;
      result["pair_size"] = survey.pair_size;
      result["largest"] = survey.largest();
      result["edge"] = survey.statistics.crowding.edge;
      result["others"] = numbers(survey.statistics.crowding.others);
      result["cells"] = numbers(survey.statistics.crowding.cells);
      result["levels"] = list_of(survey.statistics.levels);
      result["octaves"] = list_of(survey.statistics.octaves);
    });
    return result;
  }

  [[nodiscard]] double moved(double motion) const {
    return std::visit([&](const auto& survey) { return survey.moved(motion); }, survey_);
  }

 private:
  using Either = std::variant<Survey<2>, Survey<3>>;

  template <class F>
  void visit(F&& f) const {
    std::visit(f, survey_);
  }
  static nb::list numbers(const std::array<double, Crowding::scales>& values) {
    nb::list result;
    for (const double value : values) result.append(value);
    return result;
  }

  Either survey_;
};

}  // namespace

std::pair<std::string, Options> Chooser::choose(const BodyArrays& bodies, double cutoff, const std::vector<double>& box,
                                                std::optional<std::int64_t> limit) const {
  const auto& [costs, measured] = costs_.find(name(isa_in_use()))->second;
  const std::int64_t most = limit.value_or(measured);
  const auto size = static_cast<std::int64_t>(bodies.positions.shape(0));
  if (tests_all_pairs(size, most)) return {"Exhaustive", options_.at("Exhaustive")};
  std::optional<Prediction> best;
  for (Prediction& one : AnySurvey(bodies, cutoff, box, most_cells_).predictions(costs, std::nullopt, most))
    if (!best || one.seconds < best->seconds) best = std::move(one);
  std::string structure(best.value().structure);
  Options options = options_.at(structure);
  if (best->parameter)
    std::visit([&](auto value) { options[best->parameter->name] = static_cast<double>(value); },
               best->parameter->value);
  return {std::move(structure), std::move(options)};
}

void bind_choose(nb::module_& m) {
  nb::class_<CostTable>(m, "CostTable", "The seconds of every count of every structure: see index/costs.hpp.")
      .def(nb::init<const std::map<std::string, CostTable::Kinds>&, const std::map<std::string, CostTable::Seconds>&>(),
           nb::arg("structures"), nb::arg("updates"))
      .def(
          "seconds",
          [](const CostTable& costs, const std::string& structure, const std::string& kind, double bodies,
             const std::map<std::string, double>& counts) {
            return costs.seconds(structure, CostTable::shape_named(kind), bodies, counts_of(counts));
          },
          nb::arg("structure"), nb::arg("kind"), nb::arg("bodies"), nb::arg("counts"));
  nb::class_<Chooser>(m, "Chooser", "Chooses the structure of a single search.")
      .def(nb::init<std::map<std::string, Chooser::Costs>, std::map<std::string, Options>, double>(), nb::arg("costs"),
           nb::arg("options"), nb::arg("most_cells"))
      .def("choose", &Chooser::choose, nb::arg("bodies"), nb::arg("cutoff"), nb::arg("box"), nb::arg("limit").none());
  nb::class_<AnySurvey>(m, "Survey", "Statistics of bodies, made before a structure is built: see index/survey.hpp.")
      .def(nb::init<const BodyArrays&, double, const std::vector<double>&, double>(), nb::arg("bodies"),
           nb::arg("cutoff"), nb::arg("box"), nb::arg("most_cells"))
      .def("predict", &AnySurvey::predict, nb::arg("costs"), nb::arg("motion").none(), nb::arg("limit"))
      .def("estimates", &AnySurvey::estimates)
      .def("facts", &AnySurvey::facts)
      .def("moved", &AnySurvey::moved, nb::arg("motion"));
  m.def("share_of_many", &share_of_many, nb::arg("bodies"));
  m.def("tests_all_pairs", &tests_all_pairs, nb::arg("bodies"), nb::arg("limit"));
}

}  // namespace vicinal
