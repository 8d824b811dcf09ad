// Bindings of searches whose pairs are used at once and never stored.
#pragma once

#include <nanobind/nanobind.h>

#include "python/search.hpp"

namespace vicinal {

// Adds them to the class of `AnySearch`.
void bind_fused(nanobind::module_& m, nanobind::class_<AnySearch>& search);

}  // namespace vicinal
