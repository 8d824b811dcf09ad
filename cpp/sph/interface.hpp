// How far away the interface to another phase is, by the share of the kernel that is beyond it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "sph/settings.hpp"

namespace vicinal::sph {

template <int D>
class Interface {
 public:
  explicit Interface(const Settings<D>& settings) : reach_(settings.reach()) {
    // The kernel integrated over planes parallel to a flat interface, then from the far end towards it.
    const double step = reach_ / static_cast<double>(last);
    const auto middle = [&](std::size_t k) { return (static_cast<double>(k) + 0.5) * step; };
    const auto plane = [&](double x, double power) {
      double sum = 0;
      for (std::size_t k = 0; k < last; ++k) {
        const double y = middle(k), distance = std::hypot(x, y);
        if (distance < reach_)
          sum += settings.kernel(distance) * std::pow(y, power) * step * (D == 2 ? 2 : 2 * std::numbers::pi * y);
      }
      return sum;
    };
    for (std::size_t k = last; k-- > 0;) beyond_[k] = beyond_[k + 1] + step * plane(middle(k), 0);
    for (double& share : beyond_) share *= 0.5 / beyond_[0];
    for (std::size_t k = 0; k < last; ++k) bulge_[k] = plane(static_cast<double>(k) * step, 2) / (2 * (D - 1));
  }

  // The curvature by which the gradient of the colour at a particle is multiplied, from that of the surface through the
  // particle that is parallel to the interface, and from the share of the kernel beyond it. The interface is more or
  // less curved, by its distance. Summed up from the interface on, the gradient in front of a flat one is 1, twice the
  // share there; in front of a curved one it is more or less by what the curvature adds to the share. Radii below half
  // of the reach are not resolved: they are noise of particles that see little of the interface.
  [[nodiscard]] double curvature(double raw, double share) const {
    const double most = 2 * (D - 1) / reach_, own = std::clamp(raw, -most, most);
    double found = own;
    for (int pass = 0; pass < 2; ++pass) {
      const double away = distance(share), flat = share - found * bulge(away);
      found = own / std::max(1 + own * distance(flat) / (D - 1), 0.5);
    }
    return found / std::max(1 + 2 * found * bulge_[0], 0.5);
  }

 private:
  static constexpr std::size_t last = 64;

  // 0 for half of the kernel and more.
  [[nodiscard]] double distance(double share) const {
    const auto after = std::lower_bound(beyond_.rbegin(), beyond_.rend(), share);
    if (after == beyond_.rend()) return 0;
    const auto k = static_cast<std::size_t>(beyond_.rend() - after) - 1;
    if (k == last) return reach_;
    const double part = (beyond_[k] - share) / (beyond_[k] - beyond_[k + 1]);
    return reach_ * (static_cast<double>(k) + part) / static_cast<double>(last);
  }
  [[nodiscard]] double bulge(double away) const {
    return bulge_[static_cast<std::size_t>(away / reach_ * static_cast<double>(last))];
  }

  double reach_;
  // By distance of the interface, in equal steps up to the reach.
  std::array<double, last + 1> beyond_{};  // share of the kernel
  std::array<double, last + 1> bulge_{};   // change of the share with curvature
};

}  // namespace vicinal::sph
