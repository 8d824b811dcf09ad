// Bindings of the chooser (src/vicinal/choose.py): a survey of bodies, and the predicted costs of a search.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "index/costs.hpp"
#include "index/structure.hpp"
#include "python/arrays.hpp"

namespace vicinal {

// Chooses the structure of a single search.
class Chooser {
 public:
  // `options`: of every structure, for a single search. `most_cells`: of a dense grid.
  Chooser(CostTable costs, std::map<std::string, Options> options, double most_cells)
      : costs_(std::move(costs)), options_(std::move(options)), most_cells_(most_cells) {}

  // A structure and its options. Up to `limit` bodies, or one, all pairs are tested; if it is negative, only for one.
  [[nodiscard]] std::pair<std::string, Options> choose(const BodyArrays& bodies, double cutoff,
                                                       const std::vector<double>& box, std::int64_t limit) const;

 private:
  CostTable costs_;
  std::map<std::string, Options> options_;
  double most_cells_;
};

void bind_choose(nb::module_& m);

}  // namespace vicinal
