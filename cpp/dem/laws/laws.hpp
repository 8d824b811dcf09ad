// The list of contact laws. A new law needs one file and one line here; names, parameters, checks, documentation and
// contact details in Python follow from the list (registry.hpp).
#pragma once

#include <cstddef>
#include <utility>

#include "dem/laws/hertz.hpp"
#include "dem/laws/law.hpp"
#include "dem/laws/linear.hpp"

namespace vicinal::dem {
namespace {

template <class... L>
struct LawList {
  static constexpr std::size_t size = sizeof...(L);
};

using Laws = LawList<Linear,  //
                     Hertz>;

// The members that a law must have.
template <class L>
concept ContactLaw = requires(const MaterialPair& pair, const Coefficients& c, const Collision& collision,
                              const LaneCoefficients<double>& lanes, const Touch<double>& touch) {
  L::text.name;
  L::parameters[0].name;
  { L::mix(pair) } -> std::same_as<Coefficients>;               // of two materials
  { L::for_loops(c) } -> std::same_as<Coefficients>;            // damping multiplied by the root of the modulus
  { L::collision_time(c, collision) } -> std::same_as<double>;  // of mixed coefficients
  { L::reads_radius } -> std::convertible_to<bool>;             // whether the force depends on R*
  { L::constant_stiffness } -> std::convertible_to<bool>;       // whether the tangential stiffness is constant
  { L::template normal<OneLane>(lanes, touch, true) } -> std::same_as<NormalForce<double>>;
  { L::template dashpot_weight<OneLane>(1.0, touch) } -> std::same_as<double>;
  { L::stored_energy(1.0, 1.0) } -> std::same_as<double>;  // of a normal stiffness and an overlap
};

template <class F, ContactLaw... L, std::size_t... N>
[[gnu::always_inline]] inline void visit_law(std::size_t number, F&& f, LawList<L...> /*laws*/,
                                             std::index_sequence<N...> /*numbers*/) {
  (void)((number == N ? (f(L{}), true) : false) || ...);
}

// Calls f with the law that has this number (its position in the list).
template <class F>
[[gnu::always_inline]] inline void visit_law(std::size_t number, F&& f) {
  visit_law(number, f, Laws{}, std::make_index_sequence<Laws::size>{});
}

}  // namespace
}  // namespace vicinal::dem
