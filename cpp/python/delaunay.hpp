// What only the Delaunay structure can tell and do.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_delaunay(nanobind::module_& m);

}  // namespace vicinal
