// What neighbour lists need of the core.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_lists(nanobind::module_& m);

}  // namespace vicinal
