// The difference of the positions of a query and a body, as the definition computes it (docs/definition.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "index/bodies.hpp"
#include "index/structure.hpp"

namespace vicinal {

// What the definition adds to differences in an image.
template <class T, int D>
std::array<T, D> image_of(const Box<T, D>& box, const Shift& shift) {
  std::array<T, D> image = box.image(shift);
  // Along open axes the definition adds nothing: adding -0 changes no number, while adding 0 turns -0 into 0, as it
  // does along periodic axes.
  for (std::size_t a = 0; a < D; ++a)
    if (!box.tilted && !(box.edge[a] > 0)) image[a] = -T{0};
  return image;
}

// Differences from one image of a query to bodies given by slot. Needs details (Bodies::complete).
template <class T, int D>
class Measure {
 public:
  Measure(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, Slot query, const Shift& shift)
      : bodies_(bodies.details.data()), image_(image_of(bodies.box, shift)), x_(queries.details[query].x) {}

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
