// Bindings of the fluid.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_fluid(nanobind::module_& m);

}  // namespace vicinal
