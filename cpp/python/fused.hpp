// Bindings of searches whose pairs are used at once and never stored.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_fused(nanobind::module_& m);

}  // namespace vicinal
