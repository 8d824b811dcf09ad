// Grains for Python.
#pragma once

#include <nanobind/nanobind.h>

#include "dem/simulation.hpp"

namespace vicinal {

void bind_dem(nanobind::module_& m);
// What several ranks need (dem_ranks.cpp).
void bind_dem_ranks(nanobind::class_<dem::Simulation>& grains);

}  // namespace vicinal
