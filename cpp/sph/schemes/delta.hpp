// The right-hand side of δ⁺-SPH in one pass (Sun et al., Comput. Phys. Commun. 239 (2019) 115; Antuono et al. 2010).
//
// Continuity, density diffusion with renormalised gradients, pressure with control of the tensile instability,
// viscosity, the change of velocity that shifting brings about, and the sums from which the next step takes its
// gradients, its shifting and the free surface. Gradients and shifting are those of the step before: one pass is
// enough, and what they enter changes by the order of the time step.
#pragma once

#include "sph/schemes/pass.hpp"
#include "sph/schemes/sums.hpp"

namespace vicinal::sph {

namespace {

template <class L, int D>
struct Delta {
  using T = typename L::T;
  using Real = typename L::Real;
  using Fields = Record<T, D>;
  using At = DeltaSums<D>;

  // A particle and what its neighbours are compared with.
  struct Query {
    Real x[D], u[D], extra[D], shift[D];
    Real density, pressure, continuity, per_density, viscosity;
  };

  template <bool wall>
  [[gnu::always_inline]] static void add(const Job<T, D>& job, const Query& i, const Scratch<T, D>& tile, std::size_t n,
                                         Real (&sum)[16], bool& near) {
    for (std::size_t k = 0; k < n; k += L::width) {
      Real j[Fields::size];
      Tile<T, D>::template columns<L>(tile, k, j);
      Real r[D], du[D], seen[D];  // `seen`: the velocity difference that viscosity sees
      for (std::size_t a = 0; a < D; ++a) {
        r[a] = i.x[a] - j[Fields::x + a];
        du[a] = j[Fields::u + a] - i.u[a];
        seen[a] = wall ? j[Fields::extra + a] - i.u[a] : du[a];
      }
      const Real square = dot<L, D>(r, r);
      Real w, f;
      job.smoothing.template at<L>(L::root(square), w, f);
      const auto inside = L::first(n - k);
      f = L::choose(inside, f, L::all(0));
      const Real g = f * (L::all(job.mass) / (L::all(job.rest_density) + j[Fields::density]));  // ∇W V / r
      const Real excess = j[Fields::density] - i.density;

      Real rate = i.continuity * dot<L, D>(du, r);
      if constexpr (!wall) {
        Real slope[D];
        for (std::size_t a = 0; a < D; ++a) slope[a] = i.extra[a] + j[Fields::extra + a];
        rate = rate - L::all(job.diffusion + job.diffusion) * (excess + L::all(T(0.5)) * dot<L, D>(slope, r));
        near |= L::any(L::both(inside, L::odd(j[Fields::pressure])));
      }
      sum[At::rate] = sum[At::rate] + g * rate;

      Real along_r = L::all(0) - (j[Fields::pressure] + i.pressure) * i.per_density;
      Real along_du = dot<L, D>(i.shift, r);
      with_viscosity(job.viscosity_kind, [&]<class Kind>() {
        Kind::template add<L>(i.viscosity, dot<L, D>(seen, r), square, L::all(job.floor), along_r, along_du);
      });
      const Real ratio = w * L::all(job.per_closest);
      const Real ratio2 = ratio * ratio;
      const Real crowding = g * (L::all(1) + L::all(crowding_strength<T>) * (ratio2 * ratio2));
      const Real gradient = g * excess;
      std::size_t m = At::moments;
      for (std::size_t a = 0; a < D; ++a) {
        sum[a] = sum[a] + g * (along_r * r[a] + along_du * seen[a]);
        sum[At::gradient + a] = sum[At::gradient + a] + gradient * r[a];
        sum[At::crowding + a] = sum[At::crowding + a] + crowding * r[a];
        const Real moment = g * r[a];
        for (std::size_t b = a; b < D; ++b, ++m) sum[m] = sum[m] - moment * r[b];
      }
    }
  }

  static Query query_of(const Job<T, D>& job, const Fields& record, const T* shift) {
    Query i;
    for (std::size_t a = 0; a < D; ++a) {
      i.x[a] = L::all(record.c[Fields::x + a]);
      i.u[a] = L::all(record.c[Fields::u + a]);
      i.extra[a] = L::all(record.c[Fields::extra + a]);
      i.shift[a] = L::all(shift[a]);
    }
    const T density = job.rest_density + record.c[Fields::density], pressure = record.c[Fields::pressure];
    i.density = L::all(record.c[Fields::density]);
    // Where the pressure is negative, the difference of pressures is taken: a sum would pull particles into clumps.
    i.pressure = L::all(job.tensile_control && pressure < 0 && !is_marked(pressure) ? -pressure : pressure);
    i.continuity = L::all(-density);
    i.per_density = L::all(T(1) / density);
    i.viscosity = L::all(job.viscosity * (job.rest_density / density));
    return i;
  }
};

}  // namespace
}  // namespace vicinal::sph
