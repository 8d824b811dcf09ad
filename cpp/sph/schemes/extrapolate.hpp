// What a wall particle takes over from the fluid around it (Adami, Hu & Adams, J. Comput. Phys. 231 (2012) 7057), from
// each phase on its own: where an interface meets a wall, the pressure of the heavy phase would throw the light one.
#pragma once

#include "sph/cell_loop.hpp"
#include "sph/schemes/sums.hpp"

namespace vicinal::sph {

namespace {

template <class L, int D>
struct Extrapolate {
  using T = typename L::T;
  using Real = typename L::Real;
  using Fields = Record<T, D>;
  using At = WallSums<D>;

  static void run(const Job<T, D>& job, std::size_t begin, std::size_t end, Scratch<T, D>& tile) {
    for_cells(job.shape, job.walls, begin, end,
              [&](const std::int32_t (&cell)[D], std::size_t first, std::size_t last) {
                CandidateTile<T, D>::template collect<L>(job.shape, job.fluid, cell, tile);
                for (std::size_t k = 0; k < job.wall_copies; ++k) {
                  Sums<T>* const sums = job.sums + k * job.wall_count;
                  const bool some = holds(job, tile, k);
                  for (std::size_t i = first; i < last; ++i) {
                    if (some) query(job, job.walls.records[i], tile, k, sums[i].c);
                    else sums[i].c[At::weight] = 0;
                  }
                }
              });
  }

 private:
  // Whether there are candidates of a phase.
  static bool holds(const Job<T, D>& job, const Scratch<T, D>& tile, std::size_t phase) {
    if (job.wall_copies == 1) return tile.size > 0;
    for (std::size_t k = 0; k < tile.size; ++k)
      if (tile.records[k].c[Fields::extra] == static_cast<T>(phase)) return true;
    return false;
  }

  [[gnu::always_inline]] static Real density_of(const Job<T, D>& job, const Real (&j)[Fields::size],
                                                std::size_t phase) {
    if (job.phases.count == 0) return L::all(job.rest_density) + j[Fields::density];
    return L::all(job.phases.rest[phase]);
  }

  static void query(const Job<T, D>& job, const Fields& record, const Scratch<T, D>& tile, std::size_t phase,
                    T (&out)[16]) {
    Real sum[16];
    for (Real& s : sum) s = L::all(0);
    const std::size_t n = CandidateTile<T, D>::template find<L>(tile, record.c, job.square);
    for (std::size_t k = 0; k < n; k += L::width) {
      Real j[Fields::size];
      CandidateTile<T, D>::template columns<L>(tile, k, j);
      Real r[D];
      Real square = L::all(0);
      for (std::size_t a = 0; a < D; ++a) {
        r[a] = L::all(record.c[a]) - j[a];
        square = square + r[a] * r[a];
      }
      Real w, f;
      job.smoothing.template at<L>(L::root(square), w, f);
      w = L::choose(L::first(n - k), w, L::all(0));
      if (job.wall_copies > 1) {
        const Real own = j[Fields::extra], none = L::all(0);
        w = L::choose(L::less(own, L::all(static_cast<T>(phase))), none,
                      L::choose(L::less(own, L::all(static_cast<T>(phase + 1))), w, none));
      }
      sum[At::weight] = sum[At::weight] + w;
      sum[At::pressure] = sum[At::pressure] + w * j[Fields::pressure];
      const Real heavy = w * density_of(job, j, phase);
      for (std::size_t a = 0; a < D; ++a) {
        sum[At::lever + a] = sum[At::lever + a] + heavy * r[a];
        sum[At::velocity + a] = sum[At::velocity + a] + w * j[Fields::u + a];
      }
    }
    L::template sums<At::count>(sum, out);
  }
};

}  // namespace
}  // namespace vicinal::sph
