// Surface tension as a force on the volume around interfaces between phases, and the curvature of these (CSF:
// Brackbill, Kothe & Zemach, J. Comput. Phys. 100 (1992) 335; sums after Adami, Hu & Adams, J. Comput. Phys. 229 (2010)
// 5011).
//
// The pressure jumps between neighbours of two phases by the surface tension times the mean of their curvatures.
// Surfaces parallel to the interface are more curved on one side of it and less on the other; the mean is that of the
// interface. With the curvature of a particle alone, the jump would not change along the interface for it, and waves on
// the surface would be too slow. Curvatures are those of the step before.
#pragma once

#include "sph/cell_loop.hpp"
#include "sph/schemes/sums.hpp"

namespace vicinal::sph {

namespace {

template <class L, int D>
struct Curvature {
  using T = typename L::T;
  using Real = typename L::Real;
  using Fields = Record<T, D>;
  using At = CurvatureSums<D>;
  // Records have the unit normal towards other phases in place of the velocity, and 0 if there is none.
  static constexpr std::size_t normal = Fields::u;
  static constexpr std::size_t volume = Fields::density;
  static constexpr std::size_t phase = Fields::pressure;
  static constexpr std::size_t curvature = Fields::extra;

  static void run(const Job<T, D>& job, std::size_t begin, std::size_t end, Scratch<T, D>& tile) {
    for_cells(job.shape, job.fluid, begin, end,
              [&](const std::int32_t (&cell)[D], std::size_t first, std::size_t last) {
                bool any = false;
                for (std::size_t i = first; i < last; ++i) any |= has_normal(job.fluid.records[i]);
                if (any) CandidateTile<T, D>::template collect<L>(job.shape, job.fluid, cell, tile);
                for (std::size_t i = first; i < last; ++i) query(job, job.fluid.records[i], tile, job.sums[i].c);
              });
  }

 private:
  static bool has_normal(const Fields& record) {
    bool any = false;
    for (std::size_t a = 0; a < D; ++a) any |= record.c[normal + a] != 0;
    return any;
  }

  static void query(const Job<T, D>& job, const Fields& record, const Scratch<T, D>& tile, T (&out)[16]) {
    Real sum[16] = {};
    const std::size_t n = has_normal(record) ? CandidateTile<T, D>::template find<L>(tile, record.c, job.square) : 0;
    const PhaseTable<T>& table = job.phases;
    const auto own = static_cast<std::size_t>(record.c[phase]);
    const Real none = L::all(0), half = L::all(T(0.5)), own_phase = L::all(record.c[phase]);
    const Real own_curvature = L::all(record.c[curvature]), square_volume = L::all(record.c[volume] * record.c[volume]);
    for (std::size_t k = 0; k < n; k += L::width) {
      Real j[Fields::size];
      CandidateTile<T, D>::template columns<L>(tile, k, j);
      const Real off = j[phase] - own_phase;
      const auto same = L::less(off * off, L::all(T(0.25)));
      const Real sign =
          L::choose(same, L::all(1), L::all(-1));  // across an interface, normals point against each other
      Real share = L::all(table.share[own][0]);
      for (std::size_t p = 1; p < table.count; ++p)
        share = L::choose(L::less(j[phase], L::all(static_cast<T>(p))), share, L::all(table.share[own][p]));
      Real r[D], bend = none, square = none, along = none, unit = none;
      for (std::size_t a = 0; a < D; ++a) {
        const Real ours = L::all(record.c[normal + a]), theirs = j[normal + a];
        r[a] = L::all(record.c[a]) - j[a];
        square = square + r[a] * r[a];
        along = along + ours * r[a];
        unit = unit + theirs * theirs;
        bend = bend + (ours - sign * theirs) * r[a];
      }
      Real w, f;
      job.smoothing.template at<L>(L::root(square), w, f);
      f = L::choose(L::first(n - k), f, none);
      const auto known = L::less(half, unit);
      const Real g = L::choose(known, f * j[volume], none);
      sum[At::bend] = sum[At::bend] + g * bend;
      sum[At::moment] = sum[At::moment] + g * (square - along * along);
      // What has no normal has no curvature.
      const Real mean = L::choose(known, half * (own_curvature - j[curvature]), own_curvature);
      const Real both = f * (square_volume + j[volume] * j[volume]);
      const Real jump = L::choose(same, none, both * (share * mean));
      for (std::size_t a = 0; a < D; ++a) sum[At::jump + a] = sum[At::jump + a] + jump * r[a];
    }
    L::template sums<At::count>(sum, out);
  }
};

}  // namespace
}  // namespace vicinal::sph
