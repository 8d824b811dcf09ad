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

  template <class M>
  [[gnu::always_inline]] static typename M::Real density_of(const Job<T, D>& job,
                                                            const typename M::Real (&j)[Fields::size],
                                                            std::size_t phase) {
    if (job.phases.count == 0) return M::all(job.rest_density) + j[Fields::density];
    return M::all(job.phases.rest[phase]);
  }

  static void query(const Job<T, D>& job, const Fields& record, const Scratch<T, D>& tile, std::size_t phase,
                    T (&out)[16]) {
    const std::size_t n = CandidateTile<T, D>::template find<L>(tile, record.c, job.square);
    if (n == 0) {
      out[At::weight] = 0;
      return;
    }
    Real sum[16] = {};
    std::size_t k = 0;
    // Most wall particles see little of the fluid.
    if constexpr (requires { typename L::Half; }) {
      using Half = typename L::Half;
      if (n <= Half::width) {
        typename Half::Real few[16] = {};
        add<Half>(job, record, tile, 0, n, phase, few);
        for (std::size_t c = 0; c < At::count; ++c) sum[c] = L::widen(few[c]);
        k = n;
      }
    }
    for (; k < n; k += L::width) add<L>(job, record, tile, k, n - k, phase, sum);
    L::template sums<At::count>(sum, out);
  }

  // Adds the neighbours from k on, as many as there are lanes of M, at most `count`.
  template <class M>
  [[gnu::always_inline]] static void add(const Job<T, D>& job, const Fields& record, const Scratch<T, D>& tile,
                                         std::size_t k, std::size_t count, std::size_t phase,
                                         typename M::Real (&sum)[16]) {
    using Some = typename M::Real;  // Real is that of L
    Some j[Fields::size];
    CandidateTile<T, D>::template columns<M>(tile, k, j);
    Some r[D];
    Some square = M::all(0);
    for (std::size_t a = 0; a < D; ++a) {
      r[a] = M::all(record.c[a]) - j[a];
      square = square + r[a] * r[a];
    }
    Some w, f;
    job.smoothing.template at<M>(M::root(square), w, f);
    w = M::choose(M::first(count), w, M::all(0));
    if (job.wall_copies > 1) {
      const Some own = j[Fields::extra], none = M::all(0);
      w = M::choose(M::less(own, M::all(static_cast<T>(phase))), none,
                    M::choose(M::less(own, M::all(static_cast<T>(phase + 1))), w, none));
    }
    sum[At::weight] = sum[At::weight] + w;
    sum[At::pressure] = sum[At::pressure] + w * j[Fields::pressure];
    const Some heavy = w * density_of<M>(job, j, phase);
    for (std::size_t a = 0; a < D; ++a) {
      sum[At::lever + a] = sum[At::lever + a] + heavy * r[a];
      sum[At::velocity + a] = sum[At::velocity + a] + w * j[Fields::u + a];
    }
  }
};

}  // namespace
}  // namespace vicinal::sph
