// Grains for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_dem(nanobind::module_& m);

}  // namespace vicinal
