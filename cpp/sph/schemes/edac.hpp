// The right-hand side of entropically damped artificial compressibility with transport velocity (EDAC: Ramachandran &
// Puri, Comput. Fluids 179 (2019) 579; transport velocity: Adami, Hu & Adams, J. Comput. Phys. 241 (2013) 292), for one
// phase or more (Hu & Adams, J. Comput. Phys. 213 (2006) 844).
//
// A particle has a volume, which is one over the sum of the kernel, and a pressure, which follows the divergence of the
// velocity and is diffused. Nothing here depends on the masses of neighbours: at an interface, pressures are weighted
// by densities, viscosities by their harmonic mean, and pressure is diffused within a phase only. As in delta.hpp, what
// needs a pass of its own (volumes, the velocity relative to the fluid) is that of the step before.
#pragma once

#include "sph/schemes/pass.hpp"
#include "sph/schemes/sums.hpp"

namespace vicinal::sph {

namespace {

template <class L, int D>
struct Edac {
  using T = typename L::T;
  using Real = typename L::Real;
  using Fields = Record<T, D>;
  using At = EdacSums<D>;

  struct Query {
    Real x[D], u[D], shift[D], weight[D];  // `weight`: of a unit of volume
    Real pressure, square_volume, per_mass, continuity, diffusion, per_square, per_moment;
    std::size_t phase;
  };

  // What i and a neighbour have in common.
  struct Common {
    Real share, viscosity, same;
  };
  [[gnu::always_inline]] static Common common(const Job<T, D>& job, const Query& i, const Real& phase) {
    const PhaseTable<T>& table = job.phases;
    const auto at = [&](std::size_t k) {
      return Common{L::all(table.share[i.phase][k]), L::all(table.viscosity[i.phase][k]),
                    L::all(i.phase == k ? T(1) : T(0))};
    };
    Common c = at(0);
    for (std::size_t k = 1; k < table.count; ++k) {
      const auto before = L::less(phase, L::all(static_cast<T>(k)));
      const Common other = at(k);
      c = {L::choose(before, c.share, other.share), L::choose(before, c.viscosity, other.viscosity),
           L::choose(before, c.same, other.same)};
    }
    return c;
  }

  template <bool wall>
  [[gnu::always_inline]] static void add(const Job<T, D>& job, const Query& i, const Scratch<T, D>& tile, std::size_t n,
                                         Real (&sum)[16], bool& /*near*/) {
    for (std::size_t k = 0; k < n; k += L::width) {
      Real j[Fields::size];
      Tile<T, D>::template columns<L>(tile, k, j);
      Real r[D], du[D], seen[D];  // `seen`: the velocity difference that viscosity sees
      for (std::size_t a = 0; a < D; ++a) {
        r[a] = i.x[a] - j[Fields::x + a];
        du[a] = j[Fields::u + a] - i.u[a];
        seen[a] = wall ? j[Fields::extra + a] - i.u[a] : du[a];
      }
      Real w, f;
      const Real square = dot<L, D>(r, r);
      job.smoothing.template at<L>(L::root(square), w, f);
      const auto inside = L::first(n - k);
      f = L::choose(inside, f, L::all(0));
      w = L::choose(inside, w, L::all(0));
      const Real volume = j[Fields::density];
      const Real g = f * volume;                                                     // ∇W V / r
      const Real per_mass = f * ((i.square_volume + volume * volume) * i.per_mass);  // ∇W (Vᵢ² + Vⱼ²) / (m r)
      // A wall is of the phase of the particle that meets it.
      Common c{L::all(T(0.5)), L::all(job.phases.viscosity[i.phase][i.phase]), L::all(1)};
      if constexpr (!wall) c = common(job, i, j[Fields::extra]);

      const Real difference = j[Fields::pressure] - i.pressure;
      const Real pull = c.share * difference;  // pressure between both, above that of i
      const Real drift = dot<L, D>(i.shift, r);
      const Real diffused = c.same * (i.diffusion * (difference + dot<L, D>(i.weight, r)));
      const Real moved = i.per_square * ((pull + pull) * drift);
      sum[At::rate] = sum[At::rate] + g * (i.continuity * dot<L, D>(du, r) - diffused + moved);
      sum[At::kernel] = sum[At::kernel] + w;
      sum[At::difference] = sum[At::difference] + w * (c.same * difference);
      sum[At::moment] = sum[At::moment] - per_mass * square;

      const Real ratio = w * L::all(job.per_closest);
      const Real ratio2 = ratio * ratio;
      const Real crowding = g * (L::all(1) + L::all(crowding_strength<T>) * (ratio2 * ratio2));
      const Real friction = i.per_moment * c.viscosity;
      // The velocity of a phase is not carried into another one: that of a gas would drag a liquid along.
      const Real carried = g * (c.same * drift);
      const Real colour = per_mass * (c.share * (L::all(1) - c.same));
      for (std::size_t a = 0; a < D; ++a) {
        sum[a] = sum[a] + (carried * seen[a] - per_mass * (pull * r[a] + friction * seen[a]));
        sum[At::background + a] = sum[At::background + a] + per_mass * r[a];
        sum[At::crowding + a] = sum[At::crowding + a] + crowding * r[a];
        if constexpr (!wall) sum[At::colour + a] = sum[At::colour + a] + colour * r[a];
      }
    }
  }

  static Query query_of(const Job<T, D>& job, const Fields& record, const T* shift) {
    Query i;
    i.phase = static_cast<std::size_t>(record.c[Fields::extra]);
    const PhaseTable<T>& table = job.phases;
    for (std::size_t a = 0; a < D; ++a) {
      i.x[a] = L::all(record.c[Fields::x + a]);
      i.u[a] = L::all(record.c[Fields::u + a]);
      i.shift[a] = L::all(shift[a]);
      i.weight[a] = L::all(table.rest[i.phase] * job.gravity[a]);
    }
    const T volume = record.c[Fields::density];
    i.pressure = L::all(record.c[Fields::pressure]);
    i.square_volume = L::all(volume * volume);
    i.per_mass = L::all(table.per_mass[i.phase]);
    i.continuity = L::all(-table.rest[i.phase]);
    i.diffusion = L::all(table.diffusion[i.phase]);
    i.per_moment = L::all(record.c[Fields::extra + 1]);
    i.per_square = L::all(table.per_square[i.phase]);
    return i;
  }
};

}  // namespace
}  // namespace vicinal::sph
