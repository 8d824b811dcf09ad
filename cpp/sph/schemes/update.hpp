// What a particle takes from the sums over its neighbours: rates, and what the next pass needs.
#pragma once

#include <cmath>
#include <cstddef>

#include "sph/linear_algebra.hpp"
#include "sph/particles.hpp"
#include "sph/schemes/sums.hpp"
#include "sph/settings.hpp"
#include "sph/walls.hpp"

namespace vicinal::sph {

template <int D>
double square(const Vector<D>& a) {
  double sum = 0;
  for (const double c : a) sum += c * c;
  return sum;
}
template <int D>
double length(const Vector<D>& a) {
  return std::sqrt(square<D>(a));
}

// A velocity towards places where there are few particles, at most half of the largest speed. Sun et al. (Comput.
// Methods Appl. Mech. Eng. 315 (2017) 25), with the largest speed in place of the expected one.
struct Shifting {
  double reach;  // 4 h times the largest speed, times the strength
  double most;

  template <int D, class T>
  [[nodiscard]] Vector<D> from(const T* crowding) const {
    Vector<D> shift;
    for (std::size_t a = 0; a < D; ++a) shift[a] = -reach * crowding[a];
    if (const double fast = square<D>(shift); fast > most * most)
      for (double& c : shift) c *= most / std::sqrt(fast);
    return shift;
  }
};

// `evens`: with diffusion or shifting; otherwise there are but the sums of PlainDeltaSums.
template <int D, class T>
[[gnu::always_inline]] inline void update_delta(Particle<D>& p, const T* sums, const Vector<D>& gravity, bool evens,
                                                const Shifting& shifting, bool near) {
  using At = DeltaSums<D>;
  const Symmetric<D> moments = symmetric<D>(sums + At::moments);
  // Written at once: what is written in pieces has to be in the cache before it can be read as a whole.
  Vector<D> acceleration, raw;
  double rate = sums[At::rate];
  for (std::size_t a = 0; a < D; ++a) {
    acceleration[a] = sums[At::acceleration + a] + gravity[a];
    rate += p.shift[a] * p.gradient[a];
  }
  p.acceleration = acceleration;
  p.rate = rate;
  static_assert(solvable_threshold <= surface_threshold);
  const bool surface = !exceeds<D>(moments, surface_threshold);
  p.surface = surface ? 1 : 0;
  if (!evens) return;
  for (std::size_t a = 0; a < D; ++a) raw[a] = sums[At::gradient + a];
  p.gradient = !surface || exceeds<D>(moments, solvable_threshold) ? solve<D>(moments, raw) : Vector<D>{};
  p.shift = !surface && !near && shifting.reach > 0 ? shifting.from<D>(sums + At::crowding) : Vector<D>{};
}

// Where a background pressure is given, pressures act as sums: these conserve momentum and, with divergences to match,
// energy, however unevenly particles lie, and push a particle of gas out of a liquid. Differences to the mean pressure
// do not, but are more accurate where the flow is smooth. Sums leave voids where pressures are negative; the background
// prevents this. Shifting evens particles out, but leaves them the compression that they seemed to have before: without
// `volume_rate`, by which the pressure tends to that of the volume, the mean pressure would grow without end.
struct Background {
  bool acts = false;
  double above = 0;        // what is subtracted from pressures, less the pressure of the particle
  double volume_rate = 0;  // at which the density tends to that of the volume
  double excess = 0;       // density above that at rest, in the middle of the step
  double volume = 0;       // of a particle at rest

  template <int D>
  Background(const FluidSettings<D>& settings, const Phase& phase, double own) {
    if (!(settings.background > 0)) return;
    const double square = phase.sound * phase.sound;
    acts = true;
    above = -(own + settings.background * phase.rest * square);
    volume_rate = 0.2 * phase.sound / settings.smoothing_length;
    excess = own / square;
    volume = settings.volume();
  }
};

// `tension`: acceleration by surface tension; `kernel_volume`: volume times the sum of the kernel, on a lattice;
// `rest`: the density at rest.
template <int D, class T>
void update_edac(Particle<D>& p, const T* sums, const Vector<D>& gravity, const Shifting& shifting,
                 const Vector<D>& tension, double kernel_volume, double rest, const Background& background) {
  using At = EdacSums<D>;
  p.rate = sums[At::rate];
  // The mean pressure of neighbours is subtracted from all pressures: it would only push particles about. Other phases
  // do not count, whose pressures would push light particles far.
  const double above = background.acts ? background.above : sums[At::difference] / sums[At::kernel];
  for (std::size_t a = 0; a < D; ++a) {
    p.acceleration[a] = sums[At::acceleration + a] + above * sums[At::background + a] + gravity[a] + tension[a];
    p.gradient[a] = sums[At::colour + a];
  }
  p.volume = kernel_volume / sums[At::kernel];
  p.rate += background.volume_rate * (rest * (background.volume / p.volume - 1) - background.excess);
  const double moment = sums[At::moment] * rest / (2 * D);
  // A lone particle has neither neighbours nor viscosity.
  p.per_moment = moment > solvable_threshold ? 1 / moment : 1;
  p.surface = 0;
  p.shift = shifting.reach > 0 ? shifting.from<D>(sums + At::crowding) : Vector<D>{};
}

// What fluid sees in a wall particle: a pressure, and the velocity that viscosity sees.
template <int D>
struct WallView {
  double pressure;
  Vector<D> velocity;
};

// From the sums over the fluid around it, or over one phase of this fluid.
template <int D, class T>
WallView<D> view_of(const WallParticle<D>& wall, const T* sums, const Vector<D>& gravity) {
  using At = WallSums<D>;
  const double weight = sums[At::weight];
  WallView<D> view{0, wall.u};
  if (!(weight > 0)) return view;
  view.pressure = sums[At::pressure] / weight;
  double across = 0;
  for (std::size_t a = 0; a < D; ++a) {
    view.pressure += (gravity[a] - wall.acceleration[a]) * sums[At::lever + a] / weight;
    view.velocity[a] = 2 * wall.u[a] - sums[At::velocity + a] / weight;
    across += (wall.u[a] - view.velocity[a]) * wall.normal[a];
  }
  // Without friction only the velocity across the wall is mirrored.
  if (wall.slips != 0)
    for (std::size_t a = 0; a < D; ++a)
      view.velocity[a] = 2 * wall.u[a] - view.velocity[a] - 2 * across * wall.normal[a];
  return view;
}

}  // namespace vicinal::sph
