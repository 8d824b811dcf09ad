#include "geometry/box.hpp"

namespace vicinal {

template <class T, int D>
void Box<T, D>::wrap_tilted(Position& x, Turns& turns) const {
  for (int again = 0; again < 2; ++again) {
    std::array<T, D> whole{};
    bool outside = false;
    for (std::size_t k = 0; k < D; ++k) {
      if (!(edge[k] > 0)) continue;
      const double f = fraction(x, k);
      if (f >= 0 && f < 1) continue;
      outside = true;
      whole[k] = static_cast<T>(std::floor(f));
      turns[k] += static_cast<std::int32_t>(std::floor(f));
    }
    if (!outside) return;
    const Position moved = image(whole);
    for (std::size_t a = 0; a < D; ++a) x[a] = x[a] - moved[a];
  }
}

template void Box<float, 2>::wrap_tilted(Position&, Turns&) const;
template void Box<float, 3>::wrap_tilted(Position&, Turns&) const;
template void Box<double, 2>::wrap_tilted(Position&, Turns&) const;
template void Box<double, 3>::wrap_tilted(Position&, Turns&) const;

}  // namespace vicinal
