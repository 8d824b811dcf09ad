// Contact patches: if faces or edges lie on each other, a contact acts at four points instead of one.
//
// The region of contact is the part of the plane perpendicular to the normal in which the projections of the two facing
// features intersect and the features overlap. The overlap is a linear function on it. A contact with the stiffness of
// the law acts at the centre of pressure, which is the point c of the region that maximises
//
//   overlap(c) - R(c),   R(c) = 1/2 bending × deepest overlap × (c - c0)ᵀ Σ⁻¹ (c - c0),
//
// with the centroid c0 and the covariance Σ of the region. Parallel faces carry their load at the centroid; a tilt
// moves the load towards the deepest edge or corner, where it stays if the tilt grows further. The maximum is the
// overlap that is passed to the law: if R were constant, forces and moments would be derivatives of a potential. The
// square of a small length is added to Σ so that R vanishes for small regions: a corner or an edge then has the
// stiffness of a single contact.
//
// The contact is then spread over four points of equal weight around the centre of pressure. The points have the
// covariance of the region, reduced in a direction in which the centre of pressure is near the border, and each has its
// own spring. A patch therefore resists rotation about the normal as a uniform pressure would, and damps rocking. The
// covariance is that of the shapes with sharp edges, from which mass and inertia are computed too.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "dem/contact.hpp"
#include "dem/feature.hpp"
#include "dem/kernels.hpp"
#include "dem/polygon.hpp"
#include "dem/vec.hpp"

namespace vicinal::dem {

inline constexpr std::size_t most_points = 4;

struct Patch {
  std::size_t size = 1;  // number of points: 1 or 4
  double overlap = 0;    // that is passed to the law
  Vec points[most_points];

  [[nodiscard]] Vec middle() const { return 0.5 * (points[0] + points[2]); }  // the mean of four points
  [[nodiscard]] double weight() const { return size == 1 ? 1.0 : 1.0 / most_points; }
  // A contact at one point.
  static Patch single(const Contact& contact) { return {1, contact.overlap, {contact.point}}; }
};

// The plane of a contact; its origin is the point of contact. The axes are fixed to one of the two bodies, so that the
// points of a patch rotate with it and do not depend on the order of the two.
struct ContactPlane {
  Vec origin, normal, x, y;

  // `body` is the orientation of that body; `outwards`: whether the normal points away from it.
  ContactPlane(const Contact& contact, Quat body, bool outwards) : origin(contact.point), normal(contact.normal) {
    // The axes follow from the z axis of the body, or from its x axis if z is close to the normal. The limit between
    // the two is not the angle of a face of a common solid, so rounding does not switch between them.
    constexpr double close = 0.77;
    Vec axis = rotate(body, {0, 0, 1});
    if (std::abs(dot(axis, normal)) > close) axis = rotate(body, {1, 0, 0});
    const Vec across = axis - dot(axis, normal) * normal;
    x = (1 / norm(across)) * across;
    y = cross(outwards ? normal : -normal, x);
  }
  [[nodiscard]] Flat flat(Vec p) const { return {dot(p - origin, x), dot(p - origin, y)}; }
  [[nodiscard]] double height(Vec p) const { return dot(p - origin, normal); }
  [[nodiscard]] Vec at(Flat p, double height) const { return origin + p.x * x + p.y * y + height * normal; }
};

namespace patches {

// Determines by which fraction the overlap passed to the law falls if the load moves to the border (1.5 × bending for
// an edge of a face), and the stiffness of faces against rocking, covariance × stiffness / bending. The latter sets the
// fastest oscillation, which the time step must resolve.
inline constexpr double bending = 0.05;
// The length whose square is added to Σ, relative to the size of the bodies.
inline constexpr double fading = 0.05;
// The ratio of the dashpots against rocking to those against approach. It is the root of the ratio of the stiffnesses,
// so that both motions have the same fraction of critical damping.
inline constexpr double rocking_damping = 4.5;
// Regions smaller than this, relative to the size of the bodies, count as points.
inline constexpr double smallest = 1e-5;

// Sides of a region shorter than this, relative to the size of the bodies, are left out.
inline constexpr double shortest = 1e-7;

// A linear function on the plane.
struct PlaneFunction {
  double value = 0;
  Flat slope{0, 0};
  [[nodiscard]] double at(Flat p) const { return value + dot(slope, p); }
};

// The projection of a feature onto the plane of contact, and its height above the plane.
struct Projected {
  Polygon outline;  // empty: an infinite plane
  PlaneFunction height;

  Projected(const Feature& feature, const ContactPlane& plane) {
    for (std::size_t k = 0; k < feature.size; ++k) outline.add(plane.flat(feature.corners[k]));
    if (feature.size == 0) return;
    const Flat start = outline.corners[0];
    if (feature.size == 2) {
      const Flat along = outline.corners[1] - start;
      const double square = dot(along, along);
      const double rise = plane.height(feature.corners[1]) - plane.height(feature.corners[0]);
      height.slope = square > 0 ? (rise / square) * along : Flat{0, 0};
    } else if (feature.size > 2) {
      const double steep = dot(feature.normal, plane.normal);
      height.slope = {-dot(feature.normal, plane.x) / steep, -dot(feature.normal, plane.y) / steep};
      outline.orient();
    }
    height.value = plane.height(feature.corners[0]) - dot(height.slope, start);
  }
};

// The segment along which two nearly parallel edges are close to each other.
inline Polygon along_both(const Polygon& first, const Polygon& second, double overlap) {
  Flat one = first.corners[1] - first.corners[0], two = second.corners[1] - second.corners[0];
  const double length = std::sqrt(dot(one, one)), other = std::sqrt(dot(two, two));
  if (!(length > 0 && other > 0)) return {};
  one = (1 / length) * one;
  two = ((dot(one, two) < 0 ? -1 : 1) / other) * two;
  const double sine = std::abs(cross(one, two));
  if (sine > flat_sine) return {};
  Flat along = one + two;
  along = (1 / std::sqrt(dot(along, along))) * along;
  double low = -INFINITY, high = INFINITY;
  for (const Polygon* edge : {&first, &second}) {
    const double a = dot(edge->corners[0], along), b = dot(edge->corners[1], along);
    low = std::max(low, std::min(a, b));
    high = std::min(high, std::max(a, b));
  }
  // Crossed edges separate from each other like faces that are tilted by the same angle.
  if (sine > 0) {
    low = std::max(low, -overlap / sine);
    high = std::min(high, overlap / sine);
  }
  if (!(high > low)) return {};
  Polygon segment;
  segment.add(low * along);
  segment.add(high * along);
  return segment;
}

inline Polygon intersection(const Polygon& first, const Polygon& second, double overlap) {
  if (first.size == 2 && second.size == 2) return along_both(first, second, overlap);
  const bool swap = first.size == 0 || second.size == 2;
  Polygon common = swap ? second : first;
  const Polygon& other = swap ? first : second;
  // The tolerance is for an edge that lies on the border of a face, as it does inside a cylinder.
  constexpr double on_border = 1e-3;  // relative to the overlap
  common.cut(other, common.size == 2 ? on_border * overlap : 0);
  return common;
}

// A region of contact: its border (convex), and centroid and covariance of those that are not segments.
struct PatchRegion {
  Polygon border;
  Flat centre{0, 0};
  Symmetric covariance;

  // Sets centroid and covariance from moments. A region whose area is negligible becomes a segment.
  void set(const Moments& moments) {
    if (border.size < 2) return;
    std::size_t a = 0, b = 0;
    double longest = 0;
    for (std::size_t k = 0; k < border.size; ++k) {
      for (std::size_t m = k + 1; m < border.size; ++m) {
        const Flat d = border.corners[m] - border.corners[k];
        if (dot(d, d) > longest) longest = dot(d, d), a = k, b = m;
      }
    }
    constexpr double negligible = 1e-9;
    if (border.size < 3 || !(moments.size > negligible * longest)) {
      const Flat from = border.corners[a], to = border.corners[b];
      border.size = 0;
      border.add(from);
      border.add(to);
      return;
    }
    centre = moments.centre();
    covariance = moments.covariance();
  }
};

// The point c of a region that maximises slope · c - 1/2 (c - centre) precision (c - centre).
inline Flat best_place(const PatchRegion& region, Flat slope, Symmetric precision) {
  const Polygon& border = region.border;
  const Symmetric spread = precision.inverse();
  const Flat free = region.centre + spread * slope;
  const auto value = [&](Flat c) {
    const Flat off = c - region.centre;
    return dot(slope, off) - 0.5 * dot(off, precision * off);
  };
  bool inside = true;
  for (std::size_t k = 0; k < border.size && inside; ++k)
    inside = cross(border.next(k) - border.corners[k], free - border.corners[k]) >= 0;
  if (inside) return free;
  Flat best = region.centre;
  double most = -INFINITY;
  for (std::size_t k = 0; k < border.size; ++k) {
    const Flat from = border.corners[k], along = border.next(k) - from;
    const double curve = dot(along, precision * along);
    if (!(curve > 0)) continue;
    const double t = dot(along, slope - precision * (from - region.centre)) / curve;
    const Flat c = from + std::clamp(t, 0.0, 1.0) * along;
    if (value(c) > most) most = value(c), best = c;
  }
  return best;
}

// The standard deviation of a uniform distribution between -1 and 1: by so much it grows if a region grows by 1.
inline constexpr double deviation_of_beyond = 0.57735026918962576;  // 1 / √3
// The least factor by which a standard deviation falls near the border.
inline constexpr double least_narrowing = 1e-6;

// The covariance of the points of a patch around a place in a region. If the place is nearer to a side than the
// centroid is, the variance perpendicular to that side falls with the square of the distance. `beyond` is the distance
// by which the region of the sharp shapes extends beyond this one.
inline Symmetric narrowed(const PatchRegion& region, Flat place, double beyond) {
  const Polygon& border = region.border;
  const Symmetric root = region.covariance.root().plus_unit(beyond * deviation_of_beyond);
  Symmetric stiff{1, 0, 1};
  const auto narrow = [&](double now, double before, Flat direction) {
    const Flat stretched = root * direction;
    const double square = dot(stretched, stretched);
    if (!(now < before && square > 0)) return;
    const double ratio = std::max(now / before, 0.0);
    stiff =
        stiff + outer(stretched).scaled((1 / std::max(ratio * ratio, least_narrowing * least_narrowing) - 1) / square);
  };
  for (std::size_t k = 0; k < border.size; ++k) {
    const Flat along = border.next(k) - border.corners[k], inwards{-along.y, along.x};
    narrow(dot(inwards, place - border.corners[k]), dot(inwards, region.centre - border.corners[k]), inwards);
  }
  return sandwich(root, stiff.inverse());
}

// The ratio of the mean distance from the centre to the root mean square distance on a segment.
inline constexpr double mean_of_segment = 0.866;

// The ratio of the mean distance from the centre to the root mean square distance for a uniform distribution: a fit for
// rectangles, as a function of the ratio of the variances along their sides.
inline double mean_by_root_mean_square(Symmetric covariance) {
  const double half = 0.5 * covariance.trace();
  const double off = std::sqrt(std::max(half * half - covariance.determinant(), 0.0));
  const double ratio = std::max(half - off, 0.0) / (half + off);
  return mean_of_segment + 0.0797 * ratio / (ratio + 0.12);
}

}  // namespace patches

// Two features that face each other. `margins` is the sum of the radii that round them.
struct Facing {
  patches::Projected first, second;
  patches::PlaneFunction overlap;

  Facing(const ContactPlane& plane, const Feature& one, const Feature& other, double margins)
      : first(one, plane), second(other, plane) {
    const patches::PlaneFunction &a = first.height, &b = second.height;
    overlap = {margins - (b.value - a.value), a.slope - b.slope};
  }
  // The part of the plane in which they overlap.
  [[nodiscard]] Polygon region(double deepest) const {
    Polygon common = patches::intersection(first.outline, second.outline, deepest);
    if (common.size > 0) common.cut(overlap.slope, overlap.value);
    return common;
  }
};

// A patch on a segment: the formulas for regions, with all directions but that of the segment left out.
inline Patch patch_on_segment(Flat from, Flat to, const Contact& contact, const ContactPlane& plane,
                              const patches::PlaneFunction& overlap, double size, double beyond,
                              const patches::PlaneFunction& level) {
  using namespace patches;
  const Flat along = to - from;
  const double square = dot(along, along), deepest = std::max(overlap.at(from), overlap.at(to));
  const double width = smallest * size, fade = fading * size, variance = square / 12;
  if (!(deepest > 0 && variance > width * width)) return Patch::single(contact);

  const double length = std::sqrt(square), half = 0.5 * length;
  const Flat unit = (1 / length) * along, centre = 0.5 * (from + to);
  const double rise = dot(overlap.slope, unit), stiffness = bending * deepest / (variance + fade * fade);
  const double off = std::clamp(rise / stiffness, -half, half);
  Patch patch;
  patch.overlap = overlap.at(centre) + (rise - 0.5 * stiffness * off) * off;
  if (!(patch.overlap > 0)) return Patch::single(contact);
  const double narrowed = std::max(1 - std::abs(off) / half, least_narrowing);
  const double reach = mean_of_segment * narrowed * (length / std::sqrt(12.0) + beyond * deviation_of_beyond);
  patch.size = most_points;
  const Flat place = centre + off * unit;
  const double height = level.at(place);
  const auto at = [&](double way) { return plane.at(place + (reach * way) * unit, height); };
  patch.points[0] = at(unit.x + unit.y);
  patch.points[1] = at(unit.x - unit.y);
  patch.points[2] = at(-unit.x - unit.y);
  patch.points[3] = at(unit.y - unit.x);
  return patch;
}

// The patch on a region. `size` is that of the bodies, `level` the height of the contact above the plane; `beyond`: see
// `narrowed`.
inline Patch patch_on(const patches::PatchRegion& region, const Contact& contact, const ContactPlane& plane,
                      const patches::PlaneFunction& overlap, double size, double beyond,
                      const patches::PlaneFunction& level) {
  using namespace patches;
  const Polygon& border = region.border;
  if (border.size < 2) return Patch::single(contact);
  if (border.size == 2)
    return patch_on_segment(border.corners[0], border.corners[1], contact, plane, overlap, size, beyond, level);
  double deepest = 0;
  for (std::size_t k = 0; k < border.size; ++k) deepest = std::max(deepest, overlap.at(border.corners[k]));
  const double width = smallest * size, fade = fading * size;
  if (!(deepest > 0 && region.covariance.trace() > width * width)) return Patch::single(contact);

  const Symmetric precision = region.covariance.plus_unit(fade * fade).inverse().scaled(bending * deepest);
  const Flat place = best_place(region, overlap.slope, precision), off = place - region.centre;
  Patch patch;
  patch.overlap = overlap.at(place) - 0.5 * dot(off, precision * off);
  if (!(patch.overlap > 0)) return Patch::single(contact);
  const Symmetric around = narrowed(region, place, beyond);
  const Symmetric root = around.root().scaled(mean_by_root_mean_square(around));
  const Flat a{root.xx, root.xy}, b{root.xy, root.yy};
  patch.size = most_points;
  const double height = level.at(place);
  patch.points[0] = plane.at(place + a + b, height);
  patch.points[1] = plane.at(place + a - b, height);
  patch.points[2] = plane.at(place - a - b, height);
  patch.points[3] = plane.at(place - a + b, height);
  return patch;
}

// Sets the point of a contact to point p of a patch. `spring` is its index into the springs.
inline void set_point(PointContact& contact, const Patch& patch, std::size_t p, std::size_t spring) {
  const Vec at = patch.points[p];
  contact.point = {at.x, at.y, at.z, patch.overlap};
  contact.weight = patch.weight();
  contact.spring = static_cast<Number>(spring);
}

// Makes the dashpots against rocking stronger by a change of the normal velocity of the second body. `spin` is that of
// the first relative to the second.
inline void damp_rocking(const Patch& patch, std::span<PointContact> points, Vec normal, Vec spin) {
  if (patch.size == 1) return;
  const Vec middle = patch.middle();
  for (PointContact& point : points) {
    const double rocking = dot(cross(spin, Vec(point.point) - middle), normal);
    point.speed_at_end = Vec(point.speed_at_end) - ((patches::rocking_damping - 1) * rocking) * normal;
  }
}

// The patch of a contact of two bodies, or of a body and a wall whose feature is not rounded.
inline Patch patch_of(const Contact& contact, const ContactPlane& plane, const Feature& first, const Feature& second,
                      double first_margin, double second_margin, double size) {
  if (first.size == 1 || second.size == 1) return Patch::single(contact);
  const Facing facing(plane, first, second, first_margin + second_margin);
  patches::PatchRegion region;
  region.border = facing.region(contact.overlap);
  region.border.tidy(patches::shortest * size);
  if (region.border.size < 2) return Patch::single(contact);
  Moments moments;
  moments.add(region.border);
  region.set(moments);
  // The points are halfway between two surfaces, or on the surface of a wall.
  const patches::PlaneFunction &a = facing.first.height, &b = facing.second.height;
  const double share = second_margin > 0 ? 0.5 : 0;
  const patches::PlaneFunction level{share * (a.value + first_margin) + (1 - share) * (b.value - second_margin),
                                     share * a.slope + (1 - share) * b.slope};
  // Most of the border belongs to the smaller of two faces.
  double beyond = first_margin * first.beyond;
  if (second.size > 0 && facing.second.outline.twice_area() < facing.first.outline.twice_area())
    beyond = second_margin * second.beyond;
  return patch_on(region, contact, plane, facing.overlap, size, beyond, level);
}

}  // namespace vicinal::dem
