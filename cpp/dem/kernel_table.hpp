// The loops for one kind of lanes: as many groups as fill the lanes, and the rest one by one.
#pragma once

#include "dem/curved.hpp"
#include "dem/half_steps.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/laws/laws.hpp"
#include "dem/point_law.hpp"
#include "dem/search.hpp"
#include "dem/sphere_contacts.hpp"

namespace vicinal::dem {
namespace {

template <class Lanes>
constexpr Kernels kernels_of() {
  return {
      [](SearchJob& job) { search_from<OneLane>(job, search_from<Lanes>(job, job.begin)); },
      [](const SphereJob& job, std::size_t law) {
        visit_law(law, [&job](auto chosen) {
          using Law = decltype(chosen);
          sphere_contacts_from<Law, OneLane>(job, sphere_contacts_from<Law, Lanes>(job, 0));
        });
      },
      [](const PointJob& job, std::size_t law) {
        visit_law(law, [&job](auto chosen) {
          using Law = decltype(chosen);
          point_contacts_from<Law, OneLane>(job, point_contacts_from<Law, Lanes>(job, 0));
        });
      },
      [](const CurvedJob& job, std::uint8_t* found) {
        parted_from<OneLane>(job, found, parted_from<Lanes>(job, found, 0));
      },
      [](const CurvedJob& job, CurvedContact* found) {
        curved_contacts_from<OneLane>(job, found, curved_contacts_from<Lanes>(job, found, 0));
      },
      [](const HalfStepJob& job) {
        if (job.round) drift_from<true, OneLane>(job, drift_from<true, Lanes>(job, 0));
        else drift_from<false, OneLane>(job, drift_from<false, Lanes>(job, 0));
      },
      [](HalfStepJob& job) {
        if (job.round) kick_from<true, OneLane>(job, kick_from<true, Lanes>(job, 0));
        else kick_from<false, OneLane>(job, kick_from<false, Lanes>(job, 0));
      },
  };
}

}  // namespace
}  // namespace vicinal::dem
