// The structures that can be chosen, with their estimates: those of the list in CMakeLists.txt with a file in
// index/estimates/. CMakeLists.txt generates the definition of estimators().
#pragma once

#include <string_view>
#include <vector>

#include "index/counts.hpp"
#include "index/survey.hpp"

namespace vicinal {

template <int D>
struct Estimator {
  std::string_view structure;
  Estimates (*estimate)(const Survey<D>&);
};

template <int D>
const std::vector<Estimator<D>>& estimators();

}  // namespace vicinal
