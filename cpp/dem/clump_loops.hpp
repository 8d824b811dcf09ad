// The spheres of clumps: their motion follows that of the body, and their loads are summed to that of the body. The
// code works for any number of lanes.
#pragma once

#include <cstddef>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"

namespace vicinal::dem {
namespace {

// The axes of a body in the world frame, as `axes_of` in vec.hpp computes them.
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline void axes_of(const Real (&q)[4], Triple<Real> (&axes)[3]) {
  const Real one = Lanes::all(1);
  const Real w = q[0], x = q[1], y = q[2], z = q[3], xx = x + x, yy = y + y, zz = z + z;
  axes[0] = {one - (y * yy + z * zz), x * yy + w * zz, x * zz - w * yy};
  axes[1] = {x * yy - w * zz, one - (x * xx + z * zz), y * zz + w * xx};
  axes[2] = {x * zz + w * yy, y * zz - w * xx, one - (x * xx + y * yy)};
}

// Arm and velocity of a sphere are linear in its arm in the frame of the body, so each body provides three rows for
// each, and spheres need no transposition.
template <class Lanes>
std::size_t follow_from(const FollowJob& job, std::size_t body) {
  using Real = typename Lanes::Real;
  using Row = typename Lanes::Row;
  constexpr std::size_t width = Lanes::width;
  const Row rate = Lanes::spread(1.0 / job.dt);
  for (; body + width <= job.end; body += width) {
    Real q[4], w[4];
    Row spins[width];
    for (std::size_t lane = 0; lane < width; ++lane) {
      const Motion& m = job.bodies.motions[body + lane];
      spins[lane] = Lanes::load(m.w) + Lanes::load(m.dw);
    }
    Lanes::columns(spins, w);
    Lanes::gather([&](std::size_t lane) -> const Quat& { return job.bodies.orientations[body + lane]; }, q);
    Triple<Real> axes[3];
    axes_of<Lanes>(q, axes);
    Row arms[3][width], tips[3][width];
    for (std::size_t k = 0; k < 3; ++k) {
      const auto tip = cross(Triple<Real>{w[0], w[1], w[2]}, axes[k]);
      Lanes::rows({axes[k].x, axes[k].y, axes[k].z, Lanes::all(0)}, arms[k]);
      Lanes::rows({tip.x, tip.y, tip.z, Lanes::all(0)}, tips[k]);
    }
    for (std::size_t lane = 0; lane < width; ++lane) {
      const Motion m = job.bodies.motions[body + lane];
      const Row centre = Lanes::three(Lanes::load(job.bodies.places[body + lane]));
      const Row end = Lanes::load(m.v) + Lanes::load(m.dv);
      for (std::size_t e = job.offsets[body + lane]; e < job.offsets[body + lane + 1]; ++e) {
        const Vec4 own = job.arms[e];
        const Row x = Lanes::spread(own.x), y = Lanes::spread(own.y), z = Lanes::spread(own.z);
        const auto sum = [&](const Row(&parts)[3][width]) {
          return (x * parts[0][lane] + y * parts[1][lane]) + z * parts[2][lane];
        };
        const Row arm = sum(arms), at = centre + arm;
        Place& place = job.places[e];
        const double radius = place.r;
        Motion& motion = job.motions[e];
        motion = m;
        if (own.x != 0 || own.y != 0 || own.z != 0) {
          const Row during = rate * (at - Lanes::three(Lanes::load(place)));
          Lanes::store(motion.v, during);
          Lanes::store(motion.dv, (end + sum(tips)) - during);
        }  // otherwise the result equals that of a plain sphere bit for bit
        Lanes::store(place, at);
        place.r = radius;
        Lanes::store(job.levers[e], arm);
      }
    }
  }
  return body;
}

// Torques are first moved to the centre of the body. Then loads are added one by one, so that the sums do not depend on
// the number of lanes.
template <class Lanes>
std::size_t move_torques_from(const ElementSumJob& job, std::size_t e) {
  using Real = typename Lanes::Real;
  for (; e + Lanes::width <= job.last; e += Lanes::width) {
    Real lever[4], force[4], torque[4];
    Lanes::gather([&](std::size_t lane) -> const Vec4& { return job.levers[e + lane]; }, lever);
    Lanes::gather([&](std::size_t lane) -> const Vec4& { return job.loads[e + lane].force; }, force);
    Lanes::gather([&](std::size_t lane) -> const Vec4& { return job.loads[e + lane].torque; }, torque);
    const auto moved = cross(Triple<Real>{lever[0], lever[1], lever[2]}, Triple<Real>{force[0], force[1], force[2]});
    Lanes::scatter({torque[0] + moved.x, torque[1] + moved.y, torque[2] + moved.z, Lanes::all(0)},
                   [&](std::size_t lane) -> Vec4& { return job.loads[e + lane].torque; });
  }
  return e;
}
template <class Lanes>
void add_elements(const ElementSumJob& job) {
  using LoadPair = typename Lanes::LoadPair;
  for (std::size_t body = 0; body < job.size; ++body) {
    LoadPair sum = LoadPair::load(Load{});
    for (std::size_t e = job.offsets[body]; e < job.offsets[body + 1]; ++e) sum = sum + LoadPair::load(job.loads[e]);
    sum.store(job.sums[body]);
  }
}

}  // namespace
}  // namespace vicinal::dem
