// The Lennard-Jones law over half rows: a model of a compiled loop over a list, and a benchmark of its cost.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "geometry/box.hpp"
#include "lists/shares.hpp"
#include "rows/rows.hpp"

namespace vicinal {

template <class T>
struct LennardJones {
  T epsilon, sigma, cutoff;
};

namespace detail {

template <class T, int D, bool shifted, bool tilted>
double lennard_jones(const RowsView& rows, const std::int32_t* shifts, std::span<const T> points, const Box<T, D>& box,
                     const LennardJones<T>& law, T* forces) {
  const std::size_t n = rows.size();
  // If positions are wrapped, two comparisons find the nearest image. Shifts apply to positions that are not wrapped.
  Buffer<T> wrapped;
  const T* x = points.data();
  if (box.periodic() && !shifted) {
    wrapped.reset(points.size());
    parallel_ranges(n, row_grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t k = begin * D; k < end * D; k += D) {
        const auto position = box.wrap(points.data() + k);
        std::copy(position.begin(), position.end(), wrapped.data() + k);
      }
    });
    x = wrapped.data();
  }
  std::array<T, D> edge{};
  std::array<T, D> half{};
  for (std::size_t a = 0; a < D; ++a) {
    edge[a] = box.edge[a];
    half[a] = edge[a] > 0 ? edge[a] / 2 : std::numeric_limits<T>::infinity();
  }
  const T cutoff2 = law.cutoff * law.cutoff;
  const T sigma2 = law.sigma * law.sigma;
  std::fill_n(forces, n * D, T{0});
  // Energies of blocks of rows, which are added in the order of the rows.
  constexpr std::size_t block = 1024;
  std::vector<double> energies((n + block - 1) / block, 0.0);
  for_each_share(n, block, [&](const BodyShare& share) {
    for (std::size_t row = 0; row < share.end; ++row) {
      const bool mine = row >= share.begin;
      const auto entries = rows[row];
      const auto [first, last] = mine ? std::pair(std::size_t{0}, entries.size()) : share.piece(entries);
      if (first == last) continue;
      std::array<T, D> from;
      std::array<T, D> sum;
      for (std::size_t a = 0; a < D; ++a) {
        from[a] = x[row * D + a];
        sum[a] = forces[row * D + a];
      }
      double energy = 0;
      for (std::size_t e = first; e < last; ++e) {
        const auto other = static_cast<std::size_t>(entries[e]);
        std::array<T, D> way;
        if constexpr (tilted) {
          for (std::size_t a = 0; a < D; ++a) way[a] = x[other * D + a] - from[a];
          std::array<std::int32_t, D> image{};
          if constexpr (shifted)
            std::copy_n(shifts + (static_cast<std::size_t>(rows.offsets[row]) + e) * D, D, image.begin());
          else image = box.nearest(way);
          const auto moved = box.image(shifted ? box.reduced(image) : image);
          for (std::size_t a = 0; a < D; ++a) way[a] += shifted ? moved[a] : -moved[a];
        }
        T r2 = 0;
        for (std::size_t a = 0; a < D; ++a) {
          if constexpr (!tilted) way[a] = x[other * D + a] - from[a];
          if constexpr (tilted) {
          } else if constexpr (shifted) {
            way[a] += static_cast<T>(shifts[(static_cast<std::size_t>(rows.offsets[row]) + e) * D + a]) * edge[a];
          } else {
            way[a] -= way[a] > half[a] ? edge[a] : T{0};
            way[a] += way[a] < -half[a] ? edge[a] : T{0};
          }
          r2 += way[a] * way[a];
        }
        if (!(r2 <= cutoff2)) continue;
        const T inverse = 1 / r2;  // the only division, since divisions are slow
        const T q2 = sigma2 * inverse;
        const T q6 = q2 * q2 * q2;
        energy += static_cast<double>(4 * law.epsilon * q6 * (q6 - 1));
        const T pull = 24 * law.epsilon * q6 * (1 - 2 * q6) * inverse;
        if (shifted && other == row) continue;  // the forces of a body and its own images cancel
        const bool theirs = other < share.end;
        for (std::size_t a = 0; a < D; ++a) {
          const T force = pull * way[a];
          sum[a] += force;
          if (theirs) forces[other * D + a] -= force;
        }
      }
      if (!mine) continue;
      for (std::size_t a = 0; a < D; ++a) forces[row * D + a] = sum[a];
      energies[row / block] += energy;
    }
  });
  double total = 0;
  for (const double energy : energies) total += energy;
  return total;
}

}  // namespace detail

// Fills the forces and returns the energy, the sum of 4 epsilon ((sigma / r)^12 - (sigma / r)^6) over all pairs within
// the cutoff. Entries refer to the images in `shifts`, or to the nearest images if `shifts` is null.
template <class T, int D>
double lennard_jones(const RowsView& rows, const std::int32_t* shifts, std::span<const T> points, const Box<T, D>& box,
                     const LennardJones<T>& law, T* forces) {
  const auto run =
      box.tilted
          ? (shifts == nullptr ? detail::lennard_jones<T, D, false, true> : detail::lennard_jones<T, D, true, true>)
          : (shifts == nullptr ? detail::lennard_jones<T, D, false, false> : detail::lennard_jones<T, D, true, false>);
  return run(rows, shifts, points, box, law, forces);
}

}  // namespace vicinal
