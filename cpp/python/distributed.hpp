// Bindings of ranks.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_distributed(nanobind::module_& m);

}  // namespace vicinal
