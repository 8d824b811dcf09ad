// Bi-convex tablets: two balls of radius `cap` around ∓ `cap_centre` on the axis z, cut by a cylinder of radius `band`;
// the cylinder ends at ± `rim`. With sharp edges the cylinder would be longer by `beyond` margins at each end.
#pragma once

#include <cmath>
#include <string_view>

#include "dem/shapes/shape.hpp"

namespace vicinal::dem {

struct Tablet {
  static constexpr std::string_view name = "tablet";
  double band = 0, cap = 0, cap_centre = 0, rim = 0, beyond = 0;

  static Tablet make(const ShapeValues& values) {
    return {values.number("band"), values.number("cap"), values.number("cap_centre"), values.number("rim"),
            values.number("beyond")};
  }
  [[nodiscard]] Vec farthest(const ShapePose& at, Vec d) const {
    const Parts parts(d, at.axis);
    const double side = parts.along < 0 ? -1.0 : 1.0;
    if (on_cap(parts)) return at.centre + (side * cap_centre) * at.axis + (cap / parts.length) * d;
    const double s = parts.sine > 0 ? band / parts.sine : 0;
    return at.centre + (side * rim) * at.axis + s * parts.across;
  }
  [[nodiscard]] SurfacePart part(const ShapePose& at, Vec d) const {
    const Parts parts(d, at.axis);
    if (!on_cap(parts)) return {SurfacePart::Kind::side, at.centre, band, at.axis, rim};
    const double side = parts.along < 0 ? -1.0 : 1.0;
    return {SurfacePart::Kind::ball, at.centre + (side * cap_centre) * at.axis, cap, {}, 0};
  }
  // The line on the band that faces a direction, or a point.
  [[nodiscard]] Feature feature(const ShapePose& at, Vec d) const {
    const Parts parts(d, at.axis);
    if (!(std::abs(parts.along) < flat_sine * parts.length)) return Feature::point(farthest(at, d));
    const Vec out = at.centre + (band / parts.sine) * parts.across;
    Feature line = Feature::edge(out - rim * at.axis, out + rim * at.axis);
    line.beyond = beyond;
    return line;
  }
  [[nodiscard]] TabletCore core() const { return {band, cap, cap_centre, rim}; }

 private:
  // The components of a direction along and perpendicular to the axis.
  struct Parts {
    double along;
    Vec across;
    double sine, length;  // lengths of `across` and of the direction
    Parts(Vec d, Vec axis)
        : along(dot(d, axis)), across(d - along * axis), sine(norm(across)),
          length(std::sqrt(along * along + sine * sine)) {}
  };
  // Whether the farthest point is on a cap.
  [[nodiscard]] bool on_cap(const Parts& parts) const {
    return cap * parts.sine <= band * parts.length && parts.length > 0;
  }
};

}  // namespace vicinal::dem
