// Bindings of neighbour lists.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_lists(nanobind::module_& m);

}  // namespace vicinal
