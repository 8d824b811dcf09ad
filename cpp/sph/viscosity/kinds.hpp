// The kinds of viscosity.
#pragma once

#include "sph/viscosity/artificial.hpp"
#include "sph/viscosity/laminar.hpp"

namespace vicinal::sph {

enum class ViscosityKind { artificial, laminar };

// Calls f.operator()<Kind>().
template <class F>
[[gnu::always_inline]] inline void with_viscosity(ViscosityKind kind, F&& f) {
  if (kind == ViscosityKind::laminar) f.template operator()<LaminarViscosity>();
  else f.template operator()<ArtificialViscosity>();
}

}  // namespace vicinal::sph
