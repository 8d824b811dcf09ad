// Bindings of the functions of the Delaunay structure.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_delaunay(nanobind::module_& m);

}  // namespace vicinal
