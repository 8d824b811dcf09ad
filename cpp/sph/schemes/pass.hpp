// One pass over the neighbours of all fluid particles: a scheme says what a pair adds to their sums.
#pragma once

#include "sph/cell_loop.hpp"

namespace vicinal::sph {

namespace {

template <class L, int D>
[[gnu::always_inline]] inline typename L::Real dot(const typename L::Real (&a)[D], const typename L::Real (&b)[D]) {
  typename L::Real sum = a[0] * b[0];
  for (std::size_t k = 1; k < D; ++k) sum = sum + a[k] * b[k];
  return sum;
}

// A scheme has At::count sums, query_of(job, record, shift), and add<M, wall>(job, query, tile, k, count, sums, near)
// for `count` of the neighbours found in a tile, from k on, with lanes M; `near`: some neighbour is part of a free
// surface.
template <class L, int D, template <class, int> class Scheme>
struct Pass {
  using T = typename L::T;
  using Real = typename L::Real;
  using Fields = Record<T, D>;
  using Of = Scheme<L, D>;

  static void run(const Job<T, D>& job, std::size_t begin, std::size_t end, Scratch<T, D>& tile) {
    for_cells(job.shape, job.fluid, begin, end,
              [&](const std::int32_t (&cell)[D], std::size_t first, std::size_t last) {
                cell_of(job, cell, first, last, tile);
              });
  }

 private:
  static void cell_of(const Job<T, D>& job, const std::int32_t (&cell)[D], std::size_t first, std::size_t last,
                      Scratch<T, D>& tile) {
    CandidateTile<T, D>::template collect<L>(job.shape, job.fluid, cell, tile);
    for (std::size_t i = first; i < last; ++i) {
      const Fields& record = job.fluid.records[i];
      const std::size_t n = CandidateTile<T, D>::template find<L>(tile, record.c, job.square);
      bool near = false;
      sum_up<false>(job, Of::query_of(job, record, job.shifts + i * D), tile, n, job.sums[i].c, near);
      job.near[i] = near ? 1 : 0;
    }
    if (!job.has_walls) return;
    for (std::size_t k = 0; k < job.wall_copies; ++k)
      if (!add_walls(job, k, cell, first, last, tile)) return;
  }

  // Adds what particles of a phase see of walls to their sums. Returns whether there are walls.
  [[gnu::noinline]] static bool add_walls(const Job<T, D>& job, std::size_t phase, const std::int32_t (&cell)[D],
                                          std::size_t first, std::size_t last, Scratch<T, D>& tile) {
    const auto meant = [&](std::size_t i) {
      return job.wall_copies == 1 || job.fluid.records[i].c[Fields::extra] == static_cast<T>(phase);
    };
    while (first < last && !meant(first)) ++first;
    if (first == last) return true;
    CellRecords<T, D> walls = job.walls;
    walls.records += phase * job.wall_count;
    CandidateTile<T, D>::template collect<L>(job.shape, walls, cell, tile);
    if (tile.size == 0) return false;
    for (std::size_t i = first; i < last; ++i) {
      if (!meant(i)) continue;
      const Fields& record = job.fluid.records[i];
      const std::size_t n = CandidateTile<T, D>::template find<L>(tile, record.c, job.square);
      if (n == 0) continue;
      bool near = false;
      T sums[16];
      sum_up<true>(job, Of::query_of(job, record, job.shifts + i * D), tile, n, sums, near);
      for (std::size_t k = 0; k < Of::At::count; ++k) job.sums[i].c[k] += sums[k];
    }
    return true;
  }

  // The block that is not full comes first: sums begin with it, so half a register does where it has few neighbours.
  template <bool wall>
  [[gnu::always_inline]] static void sum_up(const Job<T, D>& job, const typename Of::Query& query,
                                            const Scratch<T, D>& tile, std::size_t n, T (&out)[16], bool& near) {
    Real sum[16] = {};
    std::size_t k = 0, count = n % L::width;
    if constexpr (requires { typename L::Half; }) {
      using Half = typename L::Half;
      if (count > 0 && count <= Half::width) {
        typename Half::Real few[16] = {};
        Of::template add<Half, wall>(job, query, tile, 0, count, few, near);
        for (std::size_t c = 0; c < Of::At::count; ++c) sum[c] = L::widen(few[c]);
        k = count;
        count = 0;
      }
    }
    if (count == 0) count = L::width;
    for (; k < n; k += count, count = L::width) Of::template add<L, wall>(job, query, tile, k, count, sum, near);
    L::template sums<Of::At::count>(sum, out);
  }
};

}  // namespace
}  // namespace vicinal::sph
