// The right-hand side of δ⁺-SPH in one pass (Sun et al., Comput. Phys. Commun. 239 (2019) 115; Antuono et al. 2010).
//
// Continuity, density diffusion with renormalised gradients, pressure with control of the tensile instability,
// viscosity, the change of velocity that shifting brings about, and the sums from which the next step takes its
// gradients, its shifting and the free surface. Gradients and shifting are those of the step before: one pass is
// enough, and what they enter changes by the order of the time step. Without diffusion and shifting there are fewer
// sums.
#pragma once

#include <type_traits>

#include "sph/schemes/pass.hpp"
#include "sph/schemes/sums.hpp"

namespace vicinal::sph {

namespace {

// `evens`: densities by diffusion, or places by shifting.
template <class L, int D, bool evens>
struct DeltaOf {
  using T = typename L::T;
  using Fields = Record<T, D>;
  using At = std::conditional_t<evens, DeltaSums<D>, PlainDeltaSums<D>>;

  // A particle and what its neighbours are compared with.
  struct Query {
    T x[D], u[D], half_slope[D], shift[D];
    T density, pressure, continuity, less_per_density, viscosity;
  };

  template <class M, bool wall>
  [[gnu::always_inline]] static void add(const Job<T, D>& job, const Query& i, const Scratch<T, D>& tile, std::size_t k,
                                         std::size_t count, typename M::Real (&sum)[16], bool& near) {
    using Real = typename M::Real;
    Real j[Fields::size];
    CandidateTile<T, D>::template columns<M>(tile, k, j);
    Real r[D], du[D], seen[D];  // `seen`: the velocity difference that viscosity sees
    for (std::size_t a = 0; a < D; ++a) {
      r[a] = M::all(i.x[a]) - j[Fields::x + a];
      du[a] = j[Fields::u + a] - M::all(i.u[a]);
      seen[a] = wall ? j[Fields::extra + a] - M::all(i.u[a]) : du[a];
    }
    const Real square = dot<M, D>(r, r);
    Real w, f;
    job.smoothing.template without_scales<M>(M::root(square), w, f);
    const auto inside = M::first(count);
    f = M::choose(inside, f, M::all(0));
    // One division for the volume and for the viscosity.
    const Real density = M::all(job.rest_density) + j[Fields::density], far = square + M::all(job.floor);
    const Real per_both = M::all(1) / (density * far);
    const Real g = f * (M::all(job.mass_slope) * (far * per_both));  // ∇W V / r
    const Real excess = j[Fields::density] - M::all(i.density);

    const Real approach = dot<M, D>(du, r);
    Real rate = M::all(i.continuity) * approach;
    if (evens && !wall && job.diffusion != 0) {
      Real slope[D];
      for (std::size_t a = 0; a < D; ++a) slope[a] = M::all(i.half_slope[a]) + j[Fields::extra + a];
      rate = rate - M::all(job.diffusion + job.diffusion) * (excess + dot<M, D>(slope, r));
    }
    sum[At::rate] = sum[At::rate] + g * rate;

    Real along_r = (j[Fields::pressure] + M::all(i.pressure)) * M::all(i.less_per_density);
    Real along_du = M::all(0);
    if constexpr (evens) {
      Real shift[D];
      for (std::size_t a = 0; a < D; ++a) shift[a] = M::all(i.shift[a]);
      along_du = dot<M, D>(shift, r);
    }
    with_viscosity(job.viscosity_kind, [&]<class Kind>() {
      Kind::template add<M>(M::all(i.viscosity), wall ? dot<M, D>(seen, r) : approach, density * per_both, along_r,
                            along_du);
    });
    along_du = g * along_du;
    Real gradient[D];  // ∇W V
    for (std::size_t a = 0; a < D; ++a) {
      gradient[a] = g * r[a];
      sum[a] = sum[a] + (along_r * gradient[a] + along_du * seen[a]);
    }
    const auto moment = [&](std::size_t m, std::size_t a, std::size_t b) {
      sum[At::moments + m] = sum[At::moments + m] - gradient[a] * r[b];
    };
    if constexpr (D == 2) {
      moment(0, 0, 0), moment(1, 0, 1), moment(2, 1, 1);
    } else {
      moment(0, 0, 0), moment(1, 0, 1), moment(2, 0, 2), moment(3, 1, 1), moment(4, 1, 2), moment(5, 2, 2);
    }
    if constexpr (evens) {
      if constexpr (!wall) near |= M::any(M::both(inside, M::odd(j[Fields::pressure])));
      const Real ratio = w * M::all(job.per_closest);
      const Real ratio2 = ratio * ratio;
      const Real crowding = M::all(1) + M::all(crowding_strength<T>) * (ratio2 * ratio2);
      for (std::size_t a = 0; a < D; ++a) {
        sum[At::gradient + a] = sum[At::gradient + a] + excess * gradient[a];
        sum[At::crowding + a] = sum[At::crowding + a] + crowding * gradient[a];
      }
    }
  }

  static Query query_of(const Job<T, D>& job, const Fields& record, const T* shift) {
    Query i;
    for (std::size_t a = 0; a < D; ++a) {
      i.x[a] = record.c[Fields::x + a];
      i.u[a] = record.c[Fields::u + a];
      i.half_slope[a] = record.c[Fields::extra + a];
      i.shift[a] = shift[a];
    }
    const T density = job.rest_density + record.c[Fields::density], pressure = record.c[Fields::pressure];
    i.density = record.c[Fields::density];
    // Where the pressure is negative, the difference of pressures is taken: a sum would pull particles into clumps.
    i.pressure = job.tensile_control && pressure < 0 && !is_marked(pressure) ? -pressure : pressure;
    i.continuity = -density;
    i.less_per_density = T(-1) / density;
    i.viscosity = job.viscosity * (job.rest_density / density);
    return i;
  }
};

template <class L, int D>
using Delta = DeltaOf<L, D, true>;
template <class L, int D>
using PlainDelta = DeltaOf<L, D, false>;

}  // namespace
}  // namespace vicinal::sph
