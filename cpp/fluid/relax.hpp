// Double-density relaxation (Clavet et al. 2005) as in Porro 2021, figure 5.1 and listing A.2.
//
// Each particle has two densities: a sum of (1 - q)^2 and a near-density, a sum of (1 - q)^3, with q = distance /
// radius. The pressure drives the first towards a rest density, the second is always repulsive. All particles are
// displaced at once from their positions at the start of the step, so the order of the particles does not matter and
// rows can be distributed over threads; each row is summed by one thread in the given order, so equal rows give equal
// bits. Neighbours beyond the radius do not contribute, so rows of a list with a skin give the same bits, too.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/threads.hpp"
#include "rows/rows.hpp"

namespace vicinal::fluid {

template <class T>
struct RelaxationLaw {
  T radius;
  T rest_density;
  T stiffness;
  T near_stiffness;
  bool reaction;  // a particle also pushes its neighbours back (figure 5.1, line 19); listing A.2 leaves that out
};

// Positions, D numbers each, and a row of neighbours for each particle.
template <class T, int D>
struct RelaxationParticles {
  std::span<const T> positions;
  RowsView rows;

  [[nodiscard]] std::size_t size() const { return rows.size(); }
  [[nodiscard]] const T* at(std::size_t i) const { return positions.data() + i * D; }
};

// The result of a step: the number of neighbours within the radius and the densities of all particles, and
// displacements (D numbers each) of the first ones, which move.
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
  Relaxation(const RelaxationParticles<T, D>& particles, const RelaxationLaw<T>& law, const Relaxed<T>& result)
      : particles_(particles), law_(law), result_(result), moving_(result.displacement.size() / D) {}

  void run() const {
    for_rows(particles_.size(), [&](std::size_t i, std::span<const Seen> row) {
      weigh(i, row);
      if (!law_.reaction && i < moving_) displace(i, row);  // its own pressure is enough
    });
    if (law_.reaction) for_rows(moving_, [&](std::size_t i, std::span<const Seen> row) { displace(i, row); });
  }

 private:
  // A neighbour as seen from a particle.
  struct Seen {
    std::array<T, D> towards;
    T distance;
    T weight;  // 1 - q, or 0 where that is negative: adding 0 costs less than a branch
  };

  // Calls f(i, neighbours of particle i) for the first particles.
  template <class F>
  void for_rows(std::size_t size, F&& f) const {
    // A row has tens to hundreds of neighbours: few rows per piece balance the load of the threads.
    constexpr std::size_t grain = 256;
    parallel_ranges(size, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      std::vector<Seen> seen;
      for (std::size_t i = begin; i < end; ++i) {
        const auto row = particles_.rows[i];
        seen.resize(row.size());
        for (std::size_t k = 0; k < row.size(); ++k) seen[k] = see(particles_.at(i), row[k]);
        f(i, seen);
      }
    });
  }

  Seen see(const T* from, std::int32_t j) const {
    const T* to = particles_.at(static_cast<std::size_t>(j));
    Seen seen;
    T square = 0;
    for (std::size_t a = 0; a < D; ++a) {
      seen.towards[a] = to[a] - from[a];
      square += seen.towards[a] * seen.towards[a];
    }
    seen.distance = std::sqrt(square);
    seen.weight = std::max(T{1} - seen.distance / law_.radius, T{0});
    return seen;
  }

  void weigh(std::size_t i, std::span<const Seen> row) const {
    T density = 0;
    T near = 0;
    std::int32_t felt = 0;
    for (const Seen& seen : row) {
      const T square = seen.weight * seen.weight;
      density += square;
      near += square * seen.weight;
      felt += seen.weight > 0 ? 1 : 0;
    }
    result_.felt[i] = felt;
    result_.density[i] = density;
    result_.near_density[i] = near;
  }

  [[nodiscard]] T pressure(std::size_t i) const { return law_.stiffness * (result_.density[i] - law_.rest_density); }
  [[nodiscard]] T near_pressure(std::size_t i) const { return law_.near_stiffness * result_.near_density[i]; }

  void displace(std::size_t i, std::span<const Seen> row) const {
    const T own = pressure(i);
    const T own_near = near_pressure(i);
    const auto numbers = particles_.rows[i];
    std::array<T, D> sum{};
    for (std::size_t k = 0; k < row.size(); ++k) {
      const Seen& seen = row[k];
      if (seen.distance == 0) continue;  // the direction between coincident particles is undefined
      const auto other = static_cast<std::size_t>(numbers[k]);
      // P_i + P_j is the same number for both, so the forces cancel in the sum.
      const T p = law_.reaction ? own + pressure(other) : own;
      const T near = law_.reaction ? own_near + near_pressure(other) : own_near;
      const T push = (p * seen.weight + near * (seen.weight * seen.weight)) / (2 * seen.distance);
      for (std::size_t a = 0; a < D; ++a) sum[a] -= push * seen.towards[a];
    }
    for (std::size_t a = 0; a < D; ++a) result_.displacement[i * D + a] = sum[a];
  }

  RelaxationParticles<T, D> particles_;
  RelaxationLaw<T> law_;
  Relaxed<T> result_;
  std::size_t moving_;
};

}  // namespace vicinal::fluid
