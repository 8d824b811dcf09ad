// Contact laws by number and by name, for use outside of the loops.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "dem/coefficients.hpp"
#include "dem/laws/law.hpp"
#include "dem/laws/parameter.hpp"

namespace vicinal::dem {

struct LawEntry {
  LawText text;
  std::span<const LawParameter> parameters;
  std::span<const Refusal> refused;
  Coefficients (*mix)(const MaterialPair&);
  Coefficients (*for_loops)(const Coefficients& mixed);
  double (*collision_time)(const Coefficients& mixed, const Collision&);
  double (*rayleigh_time)(const MaterialValues&, double radius);  // NaN for laws without moduli
};

// In the order of the list in laws.hpp.
std::span<const LawEntry> laws();

// Throws std::invalid_argument, which lists the names of all laws, if there is no law of this name.
std::size_t law_number(std::string_view name);

}  // namespace vicinal::dem
