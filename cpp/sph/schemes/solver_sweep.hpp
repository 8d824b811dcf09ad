// Sweeps over the rows of a step (rows.hpp), one after the other for every iteration of a pressure solver.
#pragma once

#include "sph/lanes.hpp"
#include "sph/schemes/rows.hpp"

namespace vicinal::sph {

namespace {

// `values` has four numbers per particle. Particles share the shuffles of L::sums, as many as fill 16 sums.
template <class L, int D>
struct SolverSweep {
  using T = typename L::T;
  using Real = typename L::Real;
  using Block = RowBlock<T, D>;
  static_assert(Block::width == L::width);

  // Σ p V ∇W of n particles, D numbers each; p is the first value of a neighbour.
  static void gradient(const Block* block, const std::uint32_t* counts, std::size_t n, const T* values, T* out) {
    each_group<16 / D, D>(counts, n, out, [&](std::size_t count, Real* sum) {
      Real s[D];
      for (Real& one : s) one = L::all(0);
      for (std::size_t k = 0; k < count; ++k, ++block) {
        Real j[4];
        L::columns(values, block->place, j);
        for (std::size_t a = 0; a < D; ++a) s[a] = s[a] + L::load(block->slope[a]) * j[0];
      }
      for (std::size_t a = 0; a < D; ++a) sum[a] = s[a];
    });
  }

  // Σ a · V ∇W of n particles; a are the first D values of a neighbour.
  static void divergence(const Block* block, const std::uint32_t* counts, std::size_t n, const T* values, T* out) {
    each_group<16, 1>(counts, n, out, [&](std::size_t count, Real* sum) {
      Real s = L::all(0);
      for (std::size_t k = 0; k < count; ++k, ++block) {
        Real j[4];
        L::columns(values, block->place, j);
        for (std::size_t a = 0; a < D; ++a) s = s + L::load(block->slope[a]) * j[a];
      }
      *sum = s;
    });
  }

 private:
  // Calls f(blocks, sums) for every particle, and writes the `numbers` sums of each.
  template <std::size_t group, std::size_t numbers, class F>
  [[gnu::always_inline]] static void each_group(const std::uint32_t* counts, std::size_t n, T* out, F&& f) {
    for (std::size_t first = 0; first < n; first += group) {
      const std::size_t some = n - first < group ? n - first : group;
      Real sum[16];
      for (std::size_t k = 0; k < some; ++k) f(counts[first + k], sum + k * numbers);
      for (std::size_t k = some * numbers; k < 16; ++k) sum[k] = L::all(0);
      T whole[16];
      L::sums(sum, whole);
      for (std::size_t k = 0; k < some * numbers; ++k) out[first * numbers + k] = whole[k];
    }
  }
};

}  // namespace
}  // namespace vicinal::sph
