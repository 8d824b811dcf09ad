// The right-hand side of entropically damped artificial compressibility with transport velocity (EDAC: Ramachandran &
// Puri, Comput. Fluids 179 (2019) 579; transport velocity: Adami, Hu & Adams, J. Comput. Phys. 241 (2013) 292), for one
// phase or more (Hu & Adams, J. Comput. Phys. 213 (2006) 844).
//
// A particle has a volume, which is one over the sum of the kernel, and a pressure, which follows the divergence of the
// velocity and is diffused. Nothing here depends on the masses of neighbours: at an interface, pressures and velocities
// are weighted by densities, viscosities by their harmonic mean, and pressure is diffused within a phase only. As in
// delta.hpp, what needs a pass of its own (volumes, the velocity relative to the fluid) is that of the step before.
#pragma once

#include "sph/schemes/pass.hpp"
#include "sph/schemes/sums.hpp"

namespace vicinal::sph {

namespace {

template <class L, int D>
struct Edac {
  using T = typename L::T;
  using Fields = Record<T, D>;
  using At = EdacSums<D>;

  struct Query {
    T x[D], u[D], shift[D], weight[D];  // `weight`: of a unit of volume
    T pressure, square_volume, per_mass, half_rest, continuity, diffusion, per_square, per_moment;
    std::size_t phase;
  };

  // What i and a neighbour have in common.
  template <class Real>
  struct Common {
    Real share, viscosity, same;
  };
  template <class M>
  [[gnu::always_inline]] static Common<typename M::Real> common(const Job<T, D>& job, const Query& i,
                                                                const typename M::Real& phase) {
    using Of = Common<typename M::Real>;
    const PhaseTable<T>& table = job.phases;
    const auto at = [&](std::size_t k) {
      return Of{M::all(table.share[i.phase][k]), M::all(table.viscosity[i.phase][k]),
                M::all(i.phase == k ? T(1) : T(0))};
    };
    Of c = at(0);
    for (std::size_t k = 1; k < table.count; ++k) {
      const auto before = M::less(phase, M::all(static_cast<T>(k)));
      const Of other = at(k);
      c = {M::choose(before, c.share, other.share), M::choose(before, c.viscosity, other.viscosity),
           M::choose(before, c.same, other.same)};
    }
    return c;
  }

  template <class M, bool wall>
  [[gnu::always_inline]] static void add(const Job<T, D>& job, const Query& i, const Scratch<T, D>& tile, std::size_t k,
                                         std::size_t count, typename M::Real (&sum)[16], bool& /*near*/) {
    using Real = typename M::Real;
    Real j[Fields::size];
    CandidateTile<T, D>::template columns<M>(tile, k, j);
    Real r[D], du[D], seen[D], shift[D], weight[D];  // `seen`: the velocity difference that viscosity sees
    for (std::size_t a = 0; a < D; ++a) {
      r[a] = M::all(i.x[a]) - j[Fields::x + a];
      du[a] = j[Fields::u + a] - M::all(i.u[a]);
      seen[a] = wall ? j[Fields::extra + a] - M::all(i.u[a]) : du[a];
      shift[a] = M::all(i.shift[a]);
      weight[a] = M::all(i.weight[a]);
    }
    Real w, f;
    const Real square = dot<M, D>(r, r);
    job.smoothing.template at<M>(M::root(square), w, f);
    const auto inside = M::first(count);
    f = M::choose(inside, f, M::all(0));
    w = M::choose(inside, w, M::all(0));
    const Real volume = j[Fields::density];
    const Real g = f * volume;  // ∇W V / r
    // ∇W (Vᵢ² + Vⱼ²) / (m r)
    const Real per_mass = f * ((M::all(i.square_volume) + volume * volume) * M::all(i.per_mass));
    // A wall is of the phase of the particle that meets it.
    Common<Real> c{M::all(T(0.5)), M::all(job.phases.viscosity[i.phase][i.phase]), M::all(1)};
    if constexpr (!wall) c = common<M>(job, i, j[Fields::extra]);

    const Real difference = j[Fields::pressure] - M::all(i.pressure);
    const Real pull = c.share * difference;  // pressure between both, above that of i
    // The velocity between both is weighted the other way round, so that pressures do the work that they store: with
    // plain means a splash gains energy without end. Twice the share of j.
    const Real entry = M::all(2) - (c.share + c.share);
    const Real drift = dot<M, D>(shift, r);
    const Real diffused = c.same * (M::all(i.diffusion) * (difference + dot<M, D>(weight, r)));
    const Real moved = M::all(i.per_square) * ((pull + pull) * drift);
    const Real approach = M::all(i.continuity) * (entry * dot<M, D>(du, r));
    if (job.conserves)
      sum[At::rate] = sum[At::rate] + (per_mass * M::all(i.half_rest) * approach - g * (diffused - moved));
    else sum[At::rate] = sum[At::rate] + g * (approach - diffused + moved);
    sum[At::kernel] = sum[At::kernel] + w;
    sum[At::difference] = sum[At::difference] + w * (c.same * difference);
    sum[At::moment] = sum[At::moment] - per_mass * square;

    const Real ratio = w * M::all(job.per_closest);
    const Real ratio2 = ratio * ratio;
    const Real crowding = g * (M::all(1) + M::all(crowding_strength<T>) * (ratio2 * ratio2));
    const Real friction = M::all(i.per_moment) * c.viscosity;
    // The velocity of a phase is not carried into another one: that of a gas would drag a liquid along.
    const Real carried = g * (c.same * drift);
    // The stresses μ (∇u + ∇uᵀ) as a whole are a friction along the line of centres, averaged over directions one part
    // in D + 2 of a friction along the velocity. This one stands for μ ∇u, whose divergence is the same within a phase.
    Real rubbed[D];
    if (job.phases.stresses) {
      const Real away = M::choose(M::less(M::all(job.floor * T(1e-4)), square), square, M::all(1));
      const Real along = M::all(T(D + 2)) * dot<M, D>(seen, r) / away;
      for (std::size_t a = 0; a < D; ++a) rubbed[a] = along * r[a];
    } else
      for (std::size_t a = 0; a < D; ++a) rubbed[a] = seen[a];
    const Real colour = per_mass * (c.share * (M::all(1) - c.same));
    for (std::size_t a = 0; a < D; ++a) {
      sum[a] = sum[a] + (carried * seen[a] - per_mass * (pull * r[a] + friction * rubbed[a]));
      sum[At::background + a] = sum[At::background + a] + per_mass * r[a];
      sum[At::crowding + a] = sum[At::crowding + a] + crowding * r[a];
      if constexpr (!wall) sum[At::colour + a] = sum[At::colour + a] + colour * r[a];
    }
  }

  static Query query_of(const Job<T, D>& job, const Fields& record, const T* shift) {
    Query i;
    i.phase = static_cast<std::size_t>(record.c[Fields::extra]);
    const PhaseTable<T>& table = job.phases;
    for (std::size_t a = 0; a < D; ++a) {
      i.x[a] = record.c[Fields::x + a];
      i.u[a] = record.c[Fields::u + a];
      i.shift[a] = shift[a];
      i.weight[a] = table.rest[i.phase] * job.gravity[a];
    }
    const T volume = record.c[Fields::density];
    i.pressure = record.c[Fields::pressure];
    i.square_volume = volume * volume;
    i.per_mass = table.per_mass[i.phase];
    i.half_rest = T(0.5) * table.rest[i.phase];
    i.continuity = -table.rest[i.phase];
    i.diffusion = table.diffusion[i.phase];
    i.per_moment = record.c[Fields::extra + 1];
    i.per_square = table.per_square[i.phase];
    return i;
  }
};

}  // namespace
}  // namespace vicinal::sph
