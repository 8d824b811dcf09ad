// What the chooser (src/vicinal/choose.py) asks: a survey of bodies, and what a search would cost.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_choose(nanobind::module_& m);

}  // namespace vicinal
