#include "geometry/box.hpp"

namespace vicinal {

template <class T, int D>
void Box<T, D>::wrap_tilted(Position& x, Turns& turns) const {
  for (int again = 0; again < 2; ++again) {
    std::array<T, D> whole{};
    std::int32_t outside = 0;
    for (std::size_t k = 0; k < D; ++k) {
      if (!(edge[k] > 0)) continue;
      // Rounded down without a branch or a call. (Positions are not so many lengths away that an int32 is too short.)
      const double f = fraction(x, k);
      auto down = static_cast<std::int32_t>(f);
      down -= f < static_cast<double>(down) ? 1 : 0;
      whole[k] = static_cast<T>(down);
      turns[k] += down;
      outside |= down;
    }
    if (outside == 0) return;
    const Position moved = image(whole);
    for (std::size_t a = 0; a < D; ++a) x[a] = x[a] - moved[a];
  }
}

template void Box<float, 2>::wrap_tilted(Position&, Turns&) const;
template void Box<float, 3>::wrap_tilted(Position&, Turns&) const;
template void Box<double, 2>::wrap_tilted(Position&, Turns&) const;
template void Box<double, 3>::wrap_tilted(Position&, Turns&) const;

}  // namespace vicinal
