// The difference of the positions of a query and a body, as the definition computes it (docs/definition.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "index/bodies.hpp"
#include "index/structure.hpp"

namespace vicinal {

// Differences from one image of a query to bodies given by slot. Needs details (Bodies::complete).
template <class T, int D>
class Measure {
 public:
  Measure(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, Slot query, const Shift& shift)
      : bodies_(bodies.details.data()), image_(bodies.box.image(shift)), x_(queries.details[query].x) {
    // Along open axes the definition adds nothing: adding -0 changes no number, while adding 0 turns -0 into 0, as it
    // does along periodic axes.
    for (std::size_t a = 0; a < D; ++a)
      if (!bodies.box.tilted && !(bodies.box.edge[a] > 0)) image_[a] = -T{0};
  }

  // Writes the difference to `d` and returns the squared distance.
  T squared(std::size_t slot, std::array<T, D>& d) const {
    T sum = 0;
    for (std::size_t a = 0; a < D; ++a) {
      d[a] = (bodies_[slot].x[a] - x_[a]) + image_[a];
      sum = a == 0 ? d[a] * d[a] : sum + d[a] * d[a];
    }
    return sum;
  }
  [[nodiscard]] T squared(std::size_t slot) const {
    std::array<T, D> d;
    return squared(slot, d);
  }
  // The user's number of a body.
  [[nodiscard]] std::int32_t id(std::size_t slot) const { return bodies_[slot].id; }

 private:
  const BodyDetail<T, D>* bodies_;
  std::array<T, D> image_, x_;
};

}  // namespace vicinal
