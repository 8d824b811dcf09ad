// The loops for one instruction set: full groups of lanes first, then the remaining contacts one by one.
#pragma once

#include <tuple>

#include "dem/clump_loops.hpp"
#include "dem/curved.hpp"
#include "dem/curved_contacts.hpp"
#include "dem/half_steps.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/laws/laws.hpp"
#include "dem/point_law.hpp"
#include "dem/search.hpp"
#include "dem/sphere_contacts.hpp"
#include "dem/wall_passes.hpp"

namespace vicinal::dem {
namespace {

// `Lanes` lists kinds of lanes, widest first. Each kind continues where the wider one stopped; the last has one lane.
// Loops whose operations wait for each other use `Chained`: twice as many lanes if there are enough registers.
template <class Chained, class... Lanes>
constexpr GrainKernels kernels_of() {
  using Widest = std::tuple_element_t<0, std::tuple<Lanes..., OneLane>>;
  return {
      .search = [](SearchJob& job) { search<Widest>(job); },
      .collect =
          [](CollectJob& job) {
            std::size_t k = job.begin;
            ((k = collect_from<Lanes>(job, k)), ...);
            collect_from<OneLane>(job, k);
          },
      .sphere_contacts =
          [](SphereJob& job, std::size_t law) {
            visit_law(law, [&job](auto chosen) { sphere_contacts<decltype(chosen), Widest>(job); });
          },
      .add_shares = [](const ShareJob& job) { add_shares<Widest>(job); },
      .lasting_planes =
          [](LastingJob& job) {
            std::size_t c = 0;
            ((c = lasting_planes_from<Lanes>(job, c)), ...);
            lasting_planes_from<OneLane>(job, c);
          },
      .lasting_faces =
          [](LastingJob& job) {
            std::size_t c = 0;
            ((c = lasting_faces_from<Lanes>(job, c)), ...);
            lasting_faces_from<OneLane>(job, c);
          },
      .lasting_tablets =
          [](LastingJob& job) {
            std::size_t c = 0;
            ((c = lasting_tablets_from<Lanes>(job, c)), ...);
            lasting_tablets_from<OneLane>(job, c);
          },
      .wall_contacts =
          [](const WallJob& job, std::size_t law) {
            visit_law(law, [&job](auto chosen) { wall_contacts<decltype(chosen), Widest>(job); });
          },
      .point_contacts =
          [](const PointJob& job, std::size_t law) {
            visit_law(law, [&job](auto chosen) {
              using Law = decltype(chosen);
              std::size_t c = 0;
              ((c = point_contacts_from<Law, Lanes>(job, c)), ...);
              point_contacts_from<Law, OneLane>(job, c);
            });
          },
      .gaps =
          [](const CurvedJob& job, double* gaps) {
            std::size_t c = 0;
            ((c = gaps_from<Lanes>(job, gaps, c)), ...);
            gaps_from<OneLane>(job, gaps, c);
          },
      .curved_contacts =
          [](CurvedContactJob& job, std::size_t law) {
            visit_law(law, [&job](auto chosen) { curved_contacts<decltype(chosen), Widest, Chained>(job); });
          },
      .follow =
          [](const FollowJob& job) {
            std::size_t body = job.begin;
            ((body = follow_from<Lanes>(job, body)), ...);
            follow_from<OneLane>(job, body);
          },
      .sum_elements =
          [](const ElementSumJob& job) {
            std::size_t e = job.first;
            ((e = move_torques_from<Lanes>(job, e)), ...);
            move_torques_from<OneLane>(job, e);
            add_elements<Widest>(job);
          },
      .drift =
          [](const HalfStepJob& job) {
            std::size_t row = 0;
            if (job.round) {
              ((row = drift_from<true, Lanes>(job, row)), ...);
              drift_from<true, OneLane>(job, row);
            } else {
              ((row = drift_from<false, Lanes>(job, row)), ...);
              drift_from<false, OneLane>(job, row);
              row = tumble_from<Chained>(job, 0);
              ((row = tumble_from<Lanes>(job, row)), ...);
              tumble_from<OneLane>(job, row);
            }
          },
      .kick =
          [](HalfStepJob& job) {
            std::size_t row = 0;
            if (job.round) {
              ((row = kick_from<true, Lanes>(job, row)), ...);
              kick_from<true, OneLane>(job, row);
            } else {
              ((row = kick_from<false, Lanes>(job, row)), ...);
              kick_from<false, OneLane>(job, row);
            }
          },
  };
}

}  // namespace
}  // namespace vicinal::dem
