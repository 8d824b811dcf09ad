// Bindings of the chooser (src/vicinal/choose.py): a survey of bodies, and the predicted costs of a search.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "index/costs.hpp"
#include "index/structure.hpp"
#include "python/arrays.hpp"

namespace vicinal {

// Chooses the structure of a single search, with the costs of the instruction set in use.
class Chooser {
 public:
  // The costs of an instruction set, and up to how many bodies all pairs are tested.
  using Costs = std::pair<CostTable, std::int64_t>;

  // `costs`: by the name of every instruction set that is available. `options`: of every structure, for a single
  // search. `most_cells`: of a dense grid.
  Chooser(std::map<std::string, Costs> costs, std::map<std::string, Options> options, double most_cells)
      : costs_(costs.begin(), costs.end()), options_(std::move(options)), most_cells_(most_cells) {}

  // A structure and its options. `limit` takes the place of the number of bodies up to which all pairs are tested; if
  // it is negative, that is done for one body only.
  [[nodiscard]] std::pair<std::string, Options> choose(const BodyArrays& bodies, double cutoff,
                                                       const std::vector<double>& box,
                                                       std::optional<std::int64_t> limit) const;

 private:
  std::map<std::string, Costs, std::less<>> costs_;
  std::map<std::string, Options> options_;
  double most_cells_;
};

void bind_choose(nb::module_& m);

}  // namespace vicinal
