// Predicts the time of a search from counts and the seconds per count.
//
// Seconds are measured for few bodies, which stay in the caches, and for many; between them they change with the
// logarithm of the number of bodies.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/counts.hpp"
#include "index/estimators.hpp"
#include "index/survey.hpp"

namespace vicinal {

// 0 for few bodies, 1 for many.
inline double share_of_many(double bodies) {
  constexpr double few = 1e3, many = 1e5;
  return std::clamp(std::log(std::max(bodies, 1.0) / few) / std::log(many / few), 0.0, 1.0);
}

// Seconds by structure, kind of bodies and count.
class CostTable {
 public:
  using Seconds = std::map<std::string, double>;                        // by count
  using Kinds = std::map<std::string, std::map<std::string, Seconds>>;  // by kind of bodies, few or many

  // `updates` are the seconds for a body that stays in its cell and, in addition, for one that leaves it.
  CostTable(const std::map<std::string, Kinds>& structures, const std::map<std::string, Seconds>& updates) {
    for (const auto& [structure, kinds] : structures)
      for (const auto& [kind, seconds] : kinds) {
        Rates& rates = rates_[structure][static_cast<std::size_t>(shape_named(kind))].emplace();
        const Seconds& few = seconds.at("few");
        for (const auto& [count, many] : seconds.at("many")) {
          rates.known.add(count_named(count));
          rates.many[index_of(count_named(count))] = many;
          rates.few[index_of(count_named(count))] = few.at(count);
        }
      }
    for (const auto& [structure, seconds] : updates) updates_[structure] = {seconds.at("stay"), seconds.at("move")};
  }

  // Empty if this structure was not measured with this kind of bodies; throws if only some of its counts were measured.
  [[nodiscard]] std::optional<double> seconds(std::string_view structure, Shape shape, double bodies,
                                              const Counts& counts, const CountSet& except = {}) const {
    const auto entry = rates_.find(structure);
    if (entry == rates_.end()) return std::nullopt;
    const std::optional<Rates>& rates = entry->second[static_cast<std::size_t>(shape)];
    if (!rates) return std::nullopt;
    const double share = share_of_many(bodies);
    double sum = 0;
    for (std::size_t k = 0; k < count_kinds; ++k) {
      if (!counts.given().has(k) || except.has(k)) continue;
      if (!rates->known.has(k))
        throw std::invalid_argument("no seconds were measured for the count '" + std::string(count_names[k]) + "' of " +
                                    std::string(structure) + "; run benchmarks/calibrate.py");
      sum += ((1 - share) * rates->few[k] + share * rates->many[k]) * counts[k];
    }
    return sum;
  }

  // The time of a step of an index that is updated; `moved` is the fraction of bodies that leave their cells.
  [[nodiscard]] std::optional<double> step_seconds(std::string_view structure, Shape shape, double bodies, double moved,
                                                   const Estimate& way) const {
    const auto update = updates_.find(structure);
    if (way.kept.none() || update == updates_.end()) return seconds(structure, shape, bodies, way.counts);
    const auto search = seconds(structure, shape, bodies, way.counts, way.kept);
    if (!search) return std::nullopt;
    return *search + bodies * (update->second.stay + update->second.move * moved);
  }

  static Shape shape_named(const std::string& kind) {
    if (kind == "points") return Shape::point;
    if (kind == "spheres") return Shape::sphere;
    if (kind == "boxes") return Shape::box;
    throw std::invalid_argument("no kind of bodies is called '" + kind + "'");
  }

 private:
  struct Rates {
    std::array<double, count_kinds> few{}, many{};
    CountSet known;
  };
  struct Update {
    double stay = 0, move = 0;
  };

  std::map<std::string, std::array<std::optional<Rates>, 3>, std::less<>> rates_;
  std::map<std::string, Update, std::less<>> updates_;
};

struct Prediction {
  std::string_view structure;
  double seconds;
  std::optional<Parameter> parameter;
};

// Whether bodies are so few that all pairs are tested and nothing is surveyed: up to `limit`, or one.
inline bool tests_all_pairs(std::int64_t bodies, std::int64_t limit) {
  return bodies <= std::max<std::int64_t>(1, limit);
}

// The best way to use each structure; with `motion`, in a step of an index that is kept while bodies move by that
// multiple of their sizes. Without `Exhaustive` if the limit of `tests_all_pairs` is negative.
template <int D>
std::vector<Prediction> predict(const Survey<D>& survey, const CostTable& costs, const std::optional<double>& motion,
                                std::int64_t limit) {
  const double moved = motion ? survey.moved(*motion) : 0;
  std::vector<Prediction> result;
  for (const auto& [structure, estimate] : estimators<D>()) {
    if (limit < 0 && structure == "Exhaustive") continue;
    std::optional<Prediction> best;
    for (Estimate& way : estimate(survey)) {
      const std::optional<double> seconds = motion
                                                ? costs.step_seconds(structure, survey.shape, survey.bodies, moved, way)
                                                : costs.seconds(structure, survey.shape, survey.bodies, way.counts);
      if (seconds && (!best || *seconds < best->seconds)) best = {structure, *seconds, std::move(way.parameter)};
    }
    if (best) result.push_back(std::move(*best));
  }
  return result;
}

}  // namespace vicinal
