#include "sph/settings.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "sph/lanes.hpp"

namespace vicinal::sph {

template <int D>
double FluidSettings<D>::reach() const {
  return with_smoothing(smoothing, [&]<class Kind>() { return Kind::support; }) * smoothing_length;
}
template <int D>
double FluidSettings<D>::volume() const {
  return std::pow(spacing, D);
}
template <int D>
double FluidSettings<D>::kernel(double distance) const {
  const double scale = with_smoothing(smoothing, []<class Kind>() { return D == 2 ? Kind::scale2 : Kind::scale3; }) /
                       std::pow(smoothing_length, D);
  PlainLanes<double>::Real value, slope;
  Smoothing<double>{smoothing, 1 / smoothing_length, scale, 0}.template at<PlainLanes<double>>(
      PlainLanes<double>::all(distance), value, slope);
  return value[0];
}
template <int D>
double FluidSettings<D>::lattice_sum() const {
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
double FluidSettings<D>::lattice_stiffness() const {
  const auto most = static_cast<int>(reach() / spacing);
  const double small = 1e-6 * spacing;
  std::vector<Vector<D>> places, slopes;
  double square = 0;
  for (int i = -most; i <= most; ++i)
    for (int j = -most; j <= most; ++j)
      for (int k = D == 2 ? 0 : -most; k <= (D == 2 ? 0 : most); ++k) {
        const double distance = spacing * std::sqrt(i * i + j * j + k * k);
        if (distance == 0 || distance + small >= reach()) continue;
        const double slope = (kernel(distance + small) - kernel(distance - small)) / (2 * small * distance);
        Vector<D> place{};
        place[0] = i, place[1] = j;
        if constexpr (D == 3) place[2] = k;
        places.push_back(place);
        for (double& c : place) c *= slope, square += c * c;
        slopes.push_back(place);
      }
  // Waves along axes and diagonals, which hardly differ.
  double largest = square;
  for (std::size_t axes = 1; axes <= D; ++axes)
    for (int wave = 1; wave < 64; ++wave) {
      Vector<D> sum{};
      for (std::size_t n = 0; n < places.size(); ++n) {
        double phase = 0;
        for (std::size_t a = 0; a < axes; ++a) phase += wave * std::numbers::pi / 64 * places[n][a];
        for (std::size_t a = 0; a < D; ++a) sum[a] += std::sin(phase) * slopes[n][a];
      }
      double size = 0;
      for (const double c : sum) size += c * c;
      largest = std::max(largest, size);
    }
  return square > 0 ? largest / square : 1;
}
template <int D>
double FluidSettings<D>::pressure(double excess, std::size_t phase) const {
  if (scheme == Scheme::delta) return state.pressure(excess);
  return LinearState::pressure(excess, phases[phase].rest, phases[phase].sound);
}
template <int D>
double FluidSettings<D>::fastest_sound() const {
  double fastest = 0;
  for (const Phase& phase : phases) fastest = std::max(fastest, phase.sound);
  return fastest;
}
template <int D>
double FluidSettings<D>::largest_viscosity() const {
  double largest = 0;
  // The steps of dfsph are so long that artificial viscosity limits them as well.
  if (viscosity_kind == ViscosityKind::laminar || scheme == Scheme::dfsph)
    for (const Phase& phase : phases) largest = std::max(largest, phase.viscosity / phase.rest);
  return largest;
}

template struct FluidSettings<2>;
template struct FluidSettings<3>;

}  // namespace vicinal::sph
