// Bindings of fluids (smoothed particle hydrodynamics).
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_sph(nanobind::module_& m);

}  // namespace vicinal
