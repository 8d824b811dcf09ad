// The force of the fluid on wall particles of bodies: what they do to the fluid in delta.hpp, turned around.
//
// Pressure and viscosity only: what shifting changes near a wall is where the fluid is, and no force.
#pragma once

#include "sph/cell_loop.hpp"
#include "sph/schemes/sums.hpp"

namespace vicinal::sph {

namespace {

template <class L, int D>
struct React {
  using T = typename L::T;
  using Real = typename L::Real;
  using Fields = Record<T, D>;
  using At = ReactSums<D>;

  static void run(const Job<T, D>& job, std::size_t begin, std::size_t end, Scratch<T, D>& tile) {
    for_cells(job.shape, job.walls, begin, end,
              [&](const std::int32_t (&cell)[D], std::size_t first, std::size_t last) {
                bool some = false;
                for (std::size_t i = first; i < last; ++i) some |= job.reacts[i] != 0;
                if (!some) return;
                CandidateTile<T, D>::template collect<L>(job.shape, job.fluid, cell, tile);
                for (std::size_t i = first; i < last; ++i)
                  if (job.reacts[i] != 0) query(job, job.walls.records[i], tile, job.sums[i].c);
              });
  }

 private:
  static void query(const Job<T, D>& job, const Fields& wall, const Scratch<T, D>& tile, T (&out)[16]) {
    Real sum[16] = {};
    const std::size_t n = tile.size == 0 ? 0 : CandidateTile<T, D>::template find<L>(tile, wall.c, job.square);
    const Real volume = L::all(job.mass / (job.rest_density + wall.c[Fields::density]));
    for (std::size_t k = 0; k < n; k += L::width) {
      Real j[Fields::size];
      CandidateTile<T, D>::template columns<L>(tile, k, j);
      Real r[D], seen[D];
      Real square = L::all(0), approach = L::all(0);
      for (std::size_t a = 0; a < D; ++a) {
        r[a] = j[Fields::x + a] - L::all(wall.c[Fields::x + a]);
        seen[a] = L::all(wall.c[Fields::extra + a]) - j[Fields::u + a];
        square = square + r[a] * r[a];
        approach = approach + seen[a] * r[a];
      }
      Real w, f;
      job.smoothing.template at<L>(L::root(square), w, f);
      const Real g = L::choose(L::first(n - k), f, L::all(0)) * volume;
      // One division for both.
      const Real density = L::all(job.rest_density) + j[Fields::density], far = square + L::all(job.floor);
      const Real per_both = L::all(1) / (density * far);
      const Real per_density = far * per_both, per_square = density * per_both;
      Real pressure = j[Fields::pressure];
      if (job.tensile_control)
        pressure = L::choose(L::odd(pressure), pressure,
                             L::choose(L::less(pressure, L::all(0)), L::all(0) - pressure, pressure));
      Real along_r = L::all(0) - (L::all(wall.c[Fields::pressure]) + pressure) * per_density;
      Real along_du = L::all(0);
      with_viscosity(job.viscosity_kind, [&]<class Kind>() {
        Kind::template add<L>(L::all(job.viscosity) * (L::all(job.rest_density) * per_density), approach, per_square,
                              along_r, along_du);
      });
      for (std::size_t a = 0; a < D; ++a)
        sum[At::acceleration + a] = sum[At::acceleration + a] + g * (along_r * r[a] + along_du * seen[a]);
    }
    L::sums(sum, out);
  }
};

}  // namespace
}  // namespace vicinal::sph
