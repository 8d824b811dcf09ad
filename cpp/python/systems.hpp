// Bindings of searches in many small systems.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_systems(nanobind::module_& m);

}  // namespace vicinal
