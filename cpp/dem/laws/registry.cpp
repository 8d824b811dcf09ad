#include "dem/laws/registry.hpp"

#include <array>
#include <limits>
#include <stdexcept>
#include <string>

#include "dem/laws/laws.hpp"

namespace vicinal::dem {
namespace {

template <ContactLaw L>
constexpr LawEntry entry() {
  LawEntry e{L::text, L::parameters, {}, &L::mix, &L::for_loops, &L::collision_time, nullptr};
  if constexpr (requires { L::refused; }) e.refused = L::refused;
  if constexpr (requires { &L::rayleigh_time; }) e.rayleigh_time = &L::rayleigh_time;
  else e.rayleigh_time = [](const MaterialValues&, double) { return std::numeric_limits<double>::quiet_NaN(); };
  return e;
}

template <class... L>
constexpr std::array<LawEntry, sizeof...(L)> entries(LawList<L...> /*laws*/) {
  return {entry<L>()...};
}

constexpr auto registry = entries(Laws{});

}  // namespace

std::span<const LawEntry> laws() { return registry; }

std::size_t law_number(std::string_view name) {
  std::string names;
  for (std::size_t number = 0; number < registry.size(); ++number) {
    if (registry[number].text.name == name) return number;
    names += (number == 0 ? "" : ", ") + std::string(registry[number].text.name);
  }
  throw std::invalid_argument("law must be one of " + names + ", got '" + std::string(name) + "'");
}

}  // namespace vicinal::dem
