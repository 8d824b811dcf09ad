// Bindings of the chooser (src/vicinal/choose.py): a survey of bodies, and the predicted costs of a search.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_choose(nanobind::module_& m);

}  // namespace vicinal
