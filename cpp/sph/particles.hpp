// The particles of a fluid, in the order of their cells, and how they are sorted into it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/memory.hpp"
#include "sph/parallel.hpp"
#include "sph/particle_grid.hpp"

namespace vicinal::sph {

template <int D>
struct Particle {
  Vector<D> x, u;
  double excess;           // density above that at rest
  Vector<D> acceleration;  // of the last step, as is all that follows
  double rate;             // of the density
  Vector<D> gradient;      // of the density, with phases of their colour
  Vector<D> shift;         // velocity relative to the fluid
  union {
    double volume;    // with edac
    double pressure;  // with dfsph, that keeps the density
  };
  union {
    double per_moment;  // with edac, a factor that makes the Laplace operator of viscosity exact for r²
    double correction;  // with dfsph, pressure that ends compression by the velocity
  };
  double curvature;  // of the interface to other phases, positive if it bulges towards them
  std::uint32_t id;
  std::uint16_t surface;  // part of a free surface
  std::uint16_t phase;
};

// Orders items by cell: counts them, and finds the place of each. Equal keys keep their order.
class CellSort {
 public:
  // Keys of all items, to be filled in before `sort`.
  std::uint32_t* keys(std::size_t items) {
    keys_.reset(items);
    return keys_.data();
  }
  void sort(std::size_t cells) {
    const std::size_t n = keys_.size();
    offsets_.reset(cells + 1);
    std::fill_n(offsets_.data(), cells + 1, 0U);
    // Where the next item of a cell goes: at first to its beginning, at last to its end, where the next cell begins.
    std::uint32_t* const next = offsets_.data() + 1;
    const std::uint32_t* const keys = keys_.data();
    for (std::size_t k = 0; k < n; ++k) ++next[keys[k]];
    std::uint32_t sum = 0, largest = 0;
    for (std::size_t c = 0; c < cells; ++c) {
      const std::uint32_t count = next[c];
      next[c] = sum;
      sum += count;
      largest = std::max(largest, count);
    }
    largest_ = largest;
    places_.reset(n);
    std::uint32_t* const places = places_.data();
    for (std::size_t k = 0; k < n; ++k) places[k] = next[keys[k]]++;
  }
  [[nodiscard]] const std::uint32_t* offsets() const { return offsets_.data(); }
  [[nodiscard]] std::uint32_t place(std::size_t item) const { return places_[item]; }
  // The number of items in the fullest cell.
  [[nodiscard]] std::size_t largest() const { return largest_; }

 private:
  Buffer<std::uint32_t> keys_, offsets_, places_;
  std::size_t largest_ = 0;
};

}  // namespace vicinal::sph
