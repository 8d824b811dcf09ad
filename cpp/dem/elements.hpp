// Elements are the objects that the search finds: the spheres of clumps, each with the body that owns it. Without
// clumps the bodies themselves are the elements, and this is unused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/bodies.hpp"
#include "dem/kernels.hpp"
#include "dem/parallel.hpp"

namespace vicinal::dem {

struct Elements {
  std::vector<std::size_t> offsets;  // first element of every body, and the end
  std::vector<Number> owners;
  HugeVector<Vec4> arms;    // from the body's centre, in the body's frame
  HugeVector<Vec4> levers;  // the same in the world frame
  HugeVector<Place> places;
  HugeVector<Motion> motions;
  std::vector<std::uint8_t> materials;

  [[nodiscard]] bool used() const { return !offsets.empty(); }
  [[nodiscard]] std::size_t size() const { return places.size(); }

  // Keeps the elements of the given bodies, in the given order.
  void take(std::span<const Number> bodies) {
    if (!used()) return;
    Elements taken;
    taken.offsets.push_back(0);
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      for (std::size_t e = offsets[bodies[b]]; e < offsets[bodies[b] + 1]; ++e) {
        taken.owners.push_back(static_cast<Number>(b));
        taken.arms.push_back(arms[e]);
        taken.levers.push_back(levers[e]);
        taken.places.push_back(places[e]);
        taken.motions.push_back(motions[e]);
        taken.materials.push_back(materials[e]);
      }
      taken.offsets.push_back(taken.owners.size());
    }
    *this = std::move(taken);
  }

  // Sets positions and velocities from those of the bodies.
  void place(const GrainBodies& bodies) {
    each_block(bodies.size(), block_rows, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t b = begin; b < end; ++b) {
        const Axes axes = axes_of(bodies.orientations[b]);
        for (std::size_t e = offsets[b]; e < offsets[b + 1]; ++e) {
          const Vec arm = (arms[e].x * axes.x + arms[e].y * axes.y) + arms[e].z * axes.z;
          const Vec at = centre(bodies.places[b]) + arm;
          places[e] = {at.x, at.y, at.z, places[e].r};
          levers[e] = arm;
          const Motion& m = bodies.motions[b];
          motions[e] = moved_with(m, m.v + cross(m.w, arm), m.dv + cross(m.dw, arm));
        }
      }
    });
  }
  // Sets positions after a drift.
  void follow(const GrainBodies& bodies, double dt) {
    each_block(bodies.size(), block_rows, [&](std::size_t begin, std::size_t end, std::size_t) {
      kernels().follow({begin,
                        end,
                        {bodies.places.data(), bodies.motions.data(), bodies.orientations.data()},
                        offsets.data(),
                        arms.data(),
                        places.data(),
                        motions.data(),
                        levers.data(),
                        dt});
    });
  }

 private:
  // A motion with the spin and mass of the body, but another velocity.
  static Motion moved_with(const Motion& body, Vec v, Vec dv) {
    Motion moved = body;
    moved.v = v;
    moved.dv = dv;
    return moved;
  }
};

}  // namespace vicinal::dem
