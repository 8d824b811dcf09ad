// The curvature of interfaces between phases, for surface tension as a force on the volume around them (CSF: Brackbill,
// Kothe & Zemach, J. Comput. Phys. 100 (1992) 335; sums after Adami, Hu & Adams, J. Comput. Phys. 229 (2010) 5011).
#pragma once

#include "sph/cell_loop.hpp"
#include "sph/schemes/sums.hpp"

namespace vicinal::sph {

namespace {

// Records have the unit normal towards the other phase in place of the velocity, and no volume if there is none.
template <class L, int D>
struct Curvature {
  using T = typename L::T;
  using Real = typename L::Real;
  using Fields = Record<T, D>;
  using At = CurvatureSums;

  static void run(const Job<T, D>& job, std::size_t begin, std::size_t end, Scratch<T, D>& tile) {
    for_cells(job.shape, job.fluid, begin, end,
              [&](const std::int32_t (&cell)[D], std::size_t first, std::size_t last) {
                bool any = false;
                for (std::size_t i = first; i < last; ++i) any |= job.fluid.records[i].c[Fields::density] > 0;
                if (any) Tile<T, D>::template collect<L>(job.shape, job.fluid, cell, tile);
                for (std::size_t i = first; i < last; ++i) query(job, job.fluid.records[i], tile, job.sums[i].c);
              });
  }

 private:
  static void query(const Job<T, D>& job, const Fields& record, const Scratch<T, D>& tile, T (&out)[16]) {
    Real sum[16];
    for (Real& s : sum) s = L::all(0);
    const bool normal = record.c[Fields::density] > 0;
    const std::size_t n = normal ? Tile<T, D>::template find<L>(tile, record.c, job.square) : 0;
    const Real phase = L::all(record.c[Fields::pressure]);
    for (std::size_t k = 0; k < n; k += L::width) {
      Real j[Fields::size];
      Tile<T, D>::template columns<L>(tile, k, j);
      // Across an interface, normals point against each other.
      const Real off = j[Fields::pressure] - phase;
      const Real sign = L::choose(L::less(off * off, L::all(T(0.25))), L::all(1), L::all(-1));
      Real r[D], bend = L::all(0), square = L::all(0);
      for (std::size_t a = 0; a < D; ++a) {
        r[a] = L::all(record.c[a]) - j[a];
        square = square + r[a] * r[a];
        bend = bend + (L::all(record.c[Fields::u + a]) - sign * j[Fields::u + a]) * r[a];
      }
      Real w, f;
      job.smoothing.template at<L>(L::root(square), w, f);
      const Real volume = L::choose(L::first(n - k), j[Fields::density], L::all(0));
      const Real g = f * volume;
      sum[At::bend] = sum[At::bend] + g * bend;
      sum[At::moment] = sum[At::moment] + g * square;
      sum[At::colour] = sum[At::colour] + (w * volume) * (L::all(T(0.5)) - L::all(T(0.5)) * sign);
    }
    L::sums(sum, out);
  }
};

}  // namespace
}  // namespace vicinal::sph
