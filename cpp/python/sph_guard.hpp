// Bindings of the guard of fluids and of distances to a surface of triangles.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_sph_guard(nanobind::module_& m);

}  // namespace vicinal
