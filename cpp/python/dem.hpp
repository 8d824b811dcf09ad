// Grains for Python.
#pragma once

#include <nanobind/nanobind.h>

#include "dem/simulation.hpp"

namespace vicinal {

inline dem::Vec vec_at(const double* p) { return {p[0], p[1], p[2]}; }
inline void put(double* to, dem::Vec a) { to[0] = a.x, to[1] = a.y, to[2] = a.z; }
inline void put(double* to, dem::Quat a) { to[0] = a.w, to[1] = a.x, to[2] = a.y, to[3] = a.z; }

void bind_dem(nanobind::module_& m);
// Lists and contacts (dem_contacts.cpp).
void bind_dem_contacts(nanobind::class_<dem::Simulation>& grains);
// What several ranks need (dem_ranks.cpp).
void bind_dem_ranks(nanobind::class_<dem::Simulation>& grains);

}  // namespace vicinal
