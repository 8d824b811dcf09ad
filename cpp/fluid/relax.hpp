// Double-density relaxation (Clavet et al. 2005), as paper C runs it: figure 5.1 and listing A.2.
//
// A particle weighs its neighbours twice: a density of (1 - q)^2 and a near-density of (1 - q)^3 with q = distance /
// radius. The first is drawn towards a rest density, the second only pushes. All particles are displaced at once, from
// where they were at the start of the step, so the order of the particles does not matter and rows can be shared out
// among threads; each row is summed by one thread in the order given, so equal rows give equal bits. Who is farther
// away than the radius does not count, so rows of a list with a skin give the same bits, too.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/threads.hpp"

namespace vicinal::fluid {

template <class T>
struct Law {
  T radius;
  T rest_density;
  T stiffness;
  T near_stiffness;
  bool reaction;  // a particle also pushes its neighbours back (figure 5.1, line 19); listing A.2 leaves that out
};

// Positions, D numbers each, and the neighbours of particle i: neighbors[offsets[i]] to neighbors[offsets[i + 1] - 1].
template <class T, int D>
struct Particles {
  std::span<const T> positions;
  std::span<const std::int64_t> offsets;
  std::span<const std::int32_t> neighbors;

  [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
  [[nodiscard]] const T* at(std::size_t i) const { return positions.data() + i * D; }
  [[nodiscard]] std::span<const std::int32_t> row(std::size_t i) const {
    return neighbors.subspan(static_cast<std::size_t>(offsets[i]),
                             static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  }
};

// What a step computes: how many neighbours all particles feel and their densities, and displacements (D numbers each)
// of the first ones, which move.
template <class T>
struct Relaxed {
  std::span<std::int32_t> felt;
  std::span<T> density;
  std::span<T> near_density;
  std::span<T> displacement;
};

template <class T, int D>
class Relaxation {
 public:
  Relaxation(const Particles<T, D>& particles, const Law<T>& law, const Relaxed<T>& result)
      : particles_(particles), law_(law), result_(result), moving_(result.displacement.size() / D) {}

  void run() const {
    // A row is some ten to some hundred neighbours: few rows to a piece keep the threads evenly busy.
    constexpr std::size_t grain = 256;
    parallel_ranges(particles_.size(), grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t i = begin; i < end; ++i) {
        weigh(i);
        if (!law_.reaction && i < moving_) displace(i);  // its own pressure is enough, and its row is in the cache
      }
    });
    if (!law_.reaction) return;
    parallel_ranges(moving_, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t i = begin; i < end; ++i) displace(i);
    });
  }

 private:
  // A neighbour as seen from particle i.
  struct Seen {
    std::array<T, D> towards;
    T distance;
    T weight;  // 1 - q, not positive where it does not count
  };

  Seen see(const T* from, std::int32_t j) const {
    const T* to = particles_.at(static_cast<std::size_t>(j));
    Seen seen;
    T square = 0;
    for (std::size_t a = 0; a < D; ++a) {
      seen.towards[a] = to[a] - from[a];
      square += seen.towards[a] * seen.towards[a];
    }
    seen.distance = std::sqrt(square);
    seen.weight = T{1} - seen.distance / law_.radius;
    return seen;
  }

  void weigh(std::size_t i) const {
    T density = 0;
    T near = 0;
    std::int32_t felt = 0;
    for (const std::int32_t j : particles_.row(i)) {
      const T w = see(particles_.at(i), j).weight;
      if (w <= 0) continue;
      ++felt;
      density += w * w;
      near += w * w * w;
    }
    result_.felt[i] = felt;
    result_.density[i] = density;
    result_.near_density[i] = near;
  }

  [[nodiscard]] T pressure(std::size_t i) const { return law_.stiffness * (result_.density[i] - law_.rest_density); }
  [[nodiscard]] T near_pressure(std::size_t i) const { return law_.near_stiffness * result_.near_density[i]; }

  void displace(std::size_t i) const {
    const T own = pressure(i);
    const T own_near = near_pressure(i);
    std::array<T, D> sum{};
    for (const std::int32_t j : particles_.row(i)) {
      const Seen seen = see(particles_.at(i), j);
      const T w = seen.weight;
      if (w <= 0 || seen.distance == 0) continue;  // at the same place there is no direction to be pushed in
      const auto other = static_cast<std::size_t>(j);
      // P_i + P_j is the same number seen from both sides, so what one gains the other loses.
      const T p = law_.reaction ? own + pressure(other) : own;
      const T near = law_.reaction ? own_near + near_pressure(other) : own_near;
      const T push = (p * w + near * (w * w)) / (2 * seen.distance);
      for (std::size_t a = 0; a < D; ++a) sum[a] -= push * seen.towards[a];
    }
    for (std::size_t a = 0; a < D; ++a) result_.displacement[i * D + a] = sum[a];
  }

  Particles<T, D> particles_;
  Law<T> law_;
  Relaxed<T> result_;
  std::size_t moving_;
};

}  // namespace vicinal::fluid
