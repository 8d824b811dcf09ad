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

// A scheme has query_of(job, record, shift), and add<wall>(job, query, tile, n, sums, near) for the first n neighbours
// found in a tile; `near`: some neighbour is part of a free surface.
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
    Tile<T, D>::collect(job.shape, job.fluid, cell, tile);
    for (std::size_t i = first; i < last; ++i) {
      const Fields& record = job.fluid.records[i];
      const std::size_t n = Tile<T, D>::template find<L>(tile, record.c, job.square);
      Real sum[16];
      for (Real& s : sum) s = L::all(0);
      bool near = false;
      Of::template add<false>(job, Of::query_of(job, record, job.shifts + i * D), tile, n, sum, near);
      L::sums(sum, job.sums[i].c);
      job.near[i] = near ? 1 : 0;
    }
    if (!job.has_walls) return;
    Tile<T, D>::collect(job.shape, job.walls, cell, tile);
    if (tile.size == 0) return;
    for (std::size_t i = first; i < last; ++i) {
      const Fields& record = job.fluid.records[i];
      const std::size_t n = Tile<T, D>::template find<L>(tile, record.c, job.square);
      if (n == 0) continue;
      Real sum[16];
      for (Real& s : sum) s = L::all(0);
      bool near = false;
      Of::template add<true>(job, Of::query_of(job, record, job.shifts + i * D), tile, n, sum, near);
      T walls[16];
      L::sums(sum, walls);
      for (std::size_t k = 0; k < 16; ++k) job.sums[i].c[k] += walls[k];
    }
  }
};

}  // namespace
}  // namespace vicinal::sph
