// Bindings of contacts of spheres with a surface of triangles.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_mesh(nanobind::module_& m);

}  // namespace vicinal
