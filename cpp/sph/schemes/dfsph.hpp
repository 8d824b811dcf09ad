// What the solvers of DFSPH need of the neighbours of a step, in one pass: rows, densities, divergences and viscosity
// (Bender & Koschier, IEEE Trans. Vis. Comput. Graph. 23 (2017) 1193).
//
// Walls need no rows. A wall particle has the pressure of the fluid particle that meets it, and a difference that was
// extrapolated in the step before; the first is one sum of gradients times the pressure, the second a constant.
#pragma once

#include <bit>

#include "sph/schemes/pass.hpp"
#include "sph/schemes/rows.hpp"
#include "sph/schemes/sums.hpp"

namespace vicinal::sph {

namespace {

template <class L, int D>
struct Dfsph {
  using T = typename L::T;
  using Real = typename L::Real;
  using Fields = Record<T, D>;
  using At = DfsphSums<D>;

  // Treats the cells from `begin` on, as long as there is room for their rows. Returns where it stopped.
  static std::size_t run(const Job<T, D>& job, std::size_t begin, std::size_t end, Scratch<T, D>& tile,
                         RowSink<T, D>& rows) {
    for (std::size_t number = begin; number < end; ++number) {
      bool room = true;
      for_cells(job.shape, job.fluid, number, number + 1,
                [&](const std::int32_t (&cell)[D], std::size_t first, std::size_t last) {
                  room = cell_of(job, cell, first, last, tile, rows);
                });
      if (!room) return number;
    }
    return end;
  }

 private:
  struct Query {
    Real x[D], u[D], pressure;
  };

  static bool cell_of(const Job<T, D>& job, const std::int32_t (&cell)[D], std::size_t first, std::size_t last,
                      Scratch<T, D>& tile, RowSink<T, D>& rows) {
    CandidateTile<T, D>::template collect<L>(job.shape, job.fluid, cell, tile);
    const std::size_t before = rows.used;
    for (std::size_t i = first; i < last; ++i) {
      if (is_ghost(job, i)) continue;
      if (rows.capacity - rows.used < tile.size / L::width + 1) {
        rows.used = before;
        return false;
      }
      const std::size_t n = CandidateTile<T, D>::template find<L>(tile, job.fluid.records[i].c, job.square);
      Real sum[16] = {};
      add<false>(job, query_of(job.fluid.records[i]), tile, n, sum, rows.blocks + rows.used);
      rows.counts[i] = static_cast<std::uint32_t>((n + L::width - 1) / L::width);
      rows.used += rows.counts[i];
      L::template sums<At::count>(sum, job.sums[i].c);
    }
    if (!job.has_walls) return true;
    CandidateTile<T, D>::template collect<L>(job.shape, job.walls, cell, tile);
    if (tile.size == 0) return true;
    for (std::size_t i = first; i < last; ++i) {
      if (is_ghost(job, i)) continue;
      const std::size_t n = CandidateTile<T, D>::template find<L>(tile, job.fluid.records[i].c, job.square);
      if (n == 0) continue;
      Real sum[16] = {};
      add<true>(job, query_of(job.fluid.records[i]), tile, n, sum, nullptr);
      T walls[16];
      L::template sums<At::count>(sum, walls);
      for (std::size_t k = 0; k < At::count; ++k) job.sums[i].c[k] += walls[k];
    }
    return true;
  }

  // Those of other ranks have their sums there.
  static bool is_ghost(const Job<T, D>& job, std::size_t i) { return job.ghosts != nullptr && job.ghosts[i] != 0; }

  template <bool wall>
  [[gnu::always_inline]] static void add(const Job<T, D>& job, const Query& i, const Scratch<T, D>& tile, std::size_t n,
                                         Real (&sum)[16], RowBlock<T, D>* row) {
    for (std::size_t k = 0; k < n; k += L::width) {
      Real j[Fields::size];
      CandidateTile<T, D>::template columns<L>(tile, k, j);
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
      w = L::choose(inside, w, L::all(0));
      const Real g = L::choose(inside, f, L::all(0)) * L::all(job.volume);  // ∇W V / r
      Real slope[D];
      for (std::size_t a = 0; a < D; ++a) slope[a] = g * r[a];
      sum[At::kernel] = sum[At::kernel] + w;
      const Real closing = dot<L, D>(slope, du);
      sum[At::rate] = sum[At::rate] - (wall ? closing + closing : closing);
      Real along_r = L::all(0), along_du = L::all(0);
      with_viscosity(job.viscosity_kind, [&]<class Kind>() {
        const Real per_square = L::all(1) / (square + L::all(job.floor));
        Kind::template add<L>(L::all(job.viscosity), dot<L, D>(seen, r), per_square, along_r, along_du);
      });
      const std::size_t gradient = wall ? At::wall_gradient : At::gradient;
      for (std::size_t a = 0; a < D; ++a) {
        sum[gradient + a] = sum[gradient + a] + slope[a];
        sum[At::viscosity + a] = sum[At::viscosity + a] + (along_r * slope[a] + g * (along_du * seen[a]));
      }
      if constexpr (wall) {
        const Real above = j[Fields::pressure] - i.pressure;
        for (std::size_t a = 0; a < D; ++a) sum[At::above + a] = sum[At::above + a] + above * slope[a];
      } else {
        sum[At::square] = sum[At::square] + dot<L, D>(slope, slope);
        RowBlock<T, D>& block = row[k / L::width];
        for (std::size_t a = 0; a < D; ++a) L::store(slope[a], block.slope[a]);
        T places[L::width];
        L::store(j[Fields::place], places);
        for (std::size_t lane = 0; lane < L::width; ++lane)
          block.place[lane] = static_cast<std::uint32_t>(std::bit_cast<Bits<T>>(places[lane]));
      }
    }
  }

  static Query query_of(const Fields& record) {
    Query i;
    for (std::size_t a = 0; a < D; ++a) {
      i.x[a] = L::all(record.c[Fields::x + a]);
      i.u[a] = L::all(record.c[Fields::u + a]);
    }
    i.pressure = L::all(record.c[Fields::pressure]);
    return i;
  }
};

}  // namespace
}  // namespace vicinal::sph
