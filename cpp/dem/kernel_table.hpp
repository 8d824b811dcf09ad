// The loops for one kind of lanes: as many groups as fill the lanes, and the rest one by one.
#pragma once

#include "dem/half_steps.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/search.hpp"
#include "dem/sphere_contacts.hpp"
#include "dem/wall_law.hpp"

namespace vicinal::dem {
namespace {

template <class Lanes>
constexpr Kernels kernels_of() {
  return {
      [](SearchJob& job) { search_from<OneLane>(job, search_from<Lanes>(job, job.begin)); },
      [](const SphereJob& job, Law law) {
        if (law == Law::linear)
          sphere_contacts_from<Law::linear, OneLane>(job, sphere_contacts_from<Law::linear, Lanes>(job, 0));
        else sphere_contacts_from<Law::hertz, OneLane>(job, sphere_contacts_from<Law::hertz, Lanes>(job, 0));
      },
      [](const WallJob& job, Law law) {
        if (law == Law::linear)
          wall_contacts_from<Law::linear, OneLane>(job, wall_contacts_from<Law::linear, Lanes>(job, 0));
        else wall_contacts_from<Law::hertz, OneLane>(job, wall_contacts_from<Law::hertz, Lanes>(job, 0));
      },
      [](const HalfStepJob& job) { drift_from<OneLane>(job, drift_from<Lanes>(job, 0)); },
      [](HalfStepJob& job) { kick_from<OneLane>(job, kick_from<Lanes>(job, 0)); },
  };
}

}  // namespace
}  // namespace vicinal::dem
