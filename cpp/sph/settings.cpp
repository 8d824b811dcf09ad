#include "sph/settings.hpp"

#include <algorithm>
#include <cmath>

#include "sph/lanes.hpp"

namespace vicinal::sph {

template <int D>
double Settings<D>::reach() const {
  return with_smoothing(smoothing, [&]<class Kind>() { return Kind::support; }) * smoothing_length;
}
template <int D>
double Settings<D>::volume() const {
  return std::pow(spacing, D);
}
template <int D>
double Settings<D>::kernel(double distance) const {
  const double scale = with_smoothing(smoothing, []<class Kind>() { return D == 2 ? Kind::scale2 : Kind::scale3; }) /
                       std::pow(smoothing_length, D);
  PlainLanes<double>::Real value, slope;
  Smoothing<double>{smoothing, 1 / smoothing_length, scale, 0}.template at<PlainLanes<double>>(
      PlainLanes<double>::all(distance), value, slope);
  return value[0];
}
template <int D>
double Settings<D>::lattice_sum() const {
  const auto most = static_cast<int>(reach() / spacing);
  double sum = 0;
  for (int i = -most; i <= most; ++i)
    for (int j = -most; j <= most; ++j)
      for (int k = D == 2 ? 0 : -most; k <= (D == 2 ? 0 : most); ++k) {
        const double distance = spacing * std::sqrt(i * i + j * j + k * k);
        if (distance < reach()) sum += kernel(distance);
      }
  return sum;
}
template <int D>
double Settings<D>::pressure(double excess, std::size_t phase) const {
  if (scheme == Scheme::delta) return state.pressure(excess);
  return LinearState::pressure(excess, phases[phase].rest, phases[phase].sound);
}
template <int D>
double Settings<D>::fastest_sound() const {
  double fastest = 0;
  for (const Phase& phase : phases) fastest = std::max(fastest, phase.sound);
  return fastest;
}
template <int D>
double Settings<D>::largest_viscosity() const {
  double largest = 0;
  if (viscosity_kind == ViscosityKind::laminar)
    for (const Phase& phase : phases) largest = std::max(largest, phase.viscosity / phase.rest);
  return largest;
}

template struct Settings<2>;
template struct Settings<3>;

}  // namespace vicinal::sph
