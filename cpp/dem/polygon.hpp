// Convex polygons in a plane. A segment is a polygon with two corners, a point is one with one corner.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace vicinal::dem {

// Not initialised, since most polygons use few of their corners.
struct Flat {
  double x, y;
};
inline Flat operator+(Flat a, Flat b) { return {a.x + b.x, a.y + b.y}; }
inline Flat operator-(Flat a, Flat b) { return {a.x - b.x, a.y - b.y}; }
inline Flat operator*(double s, Flat a) { return {s * a.x, s * a.y}; }
inline double dot(Flat a, Flat b) { return a.x * b.x + a.y * b.y; }
inline double cross(Flat a, Flat b) { return a.x * b.y - a.y * b.x; }

// A symmetric matrix.
struct Symmetric {
  double xx = 0, xy = 0, yy = 0;
  [[nodiscard]] double trace() const { return xx + yy; }
  [[nodiscard]] double determinant() const { return xx * yy - xy * xy; }
  [[nodiscard]] Flat operator*(Flat a) const { return {xx * a.x + xy * a.y, xy * a.x + yy * a.y}; }
  [[nodiscard]] Symmetric scaled(double s) const { return {s * xx, s * xy, s * yy}; }
  [[nodiscard]] Symmetric plus_unit(double s) const { return {xx + s, xy, yy + s}; }
  // The determinant must be above 0.
  [[nodiscard]] Symmetric inverse() const {
    const double d = 1 / determinant();
    return {d * yy, -d * xy, d * xx};
  }
  // The positive square root; zero for the zero matrix.
  [[nodiscard]] Symmetric root() const {
    const double d = std::sqrt(std::max(determinant(), 0.0)), t = trace() + 2 * d;
    return t > 0 ? plus_unit(d).scaled(1 / std::sqrt(t)) : Symmetric{};
  }
};
inline Symmetric outer(Flat a) { return {a.x * a.x, a.x * a.y, a.y * a.y}; }
inline Symmetric operator+(Symmetric a, Symmetric b) { return {a.xx + b.xx, a.xy + b.xy, a.yy + b.yy}; }
// The product a b a.
inline Symmetric sandwich(Symmetric a, Symmetric b) {
  const Flat p = a * (b * (a * Flat{1, 0})), q = a * (b * (a * Flat{0, 1}));
  return {p.x, p.y, q.y};
}

struct Polygon {
  static constexpr std::size_t most = 72;  // enough for two features and the corner that each cut may add
  std::size_t size = 0;
  Flat corners[most];

  Polygon() = default;
  Polygon(const Polygon& other) : size(other.size) { std::copy_n(other.corners, size, corners); }
  Polygon& operator=(const Polygon& other) {
    size = other.size;
    std::copy_n(other.corners, size, corners);
    return *this;
  }
  void add(Flat corner) {
    if (size < most) corners[size++] = corner;
  }
  [[nodiscard]] Flat next(std::size_t k) const { return corners[k + 1 < size ? k + 1 : 0]; }
  [[nodiscard]] double twice_area() const {
    double sum = 0;
    for (std::size_t k = 1; k + 1 < size; ++k) sum += cross(corners[k] - corners[0], corners[k + 1] - corners[0]);
    return sum;
  }
  // Orders the corners counter-clockwise.
  void orient() {
    if (twice_area() < 0) std::reverse(corners, corners + size);
  }
  // Keeps the part where normal · x + offset is not negative.
  void cut(Flat normal, double offset) {
    double at[most];
    bool all = true;
    for (std::size_t k = 0; k < size; ++k) {
      at[k] = dot(normal, corners[k]) + offset;
      all = all && at[k] >= 0;
    }
    if (all) return;
    const std::size_t sides = size > 2 ? size : size - 1;
    Polygon kept;
    for (std::size_t k = 0; k < size; ++k) {
      if (at[k] >= 0) kept.add(corners[k]);
      if (k >= sides) continue;
      const std::size_t n = k + 1 < size ? k + 1 : 0;
      if ((at[k] >= 0) != (at[n] >= 0)) kept.add(corners[k] + (at[k] / (at[k] - at[n])) * (corners[n] - corners[k]));
    }
    *this = kept;
  }
  // Removes corners that nearly coincide with the one before: the direction of such a side is determined by rounding.
  void tidy(double length) {
    Polygon kept;
    for (std::size_t k = 0; k < size; ++k) {
      const Flat d = corners[k] - (kept.size > 0 ? kept.corners[kept.size - 1] : corners[size - 1]);
      if (dot(d, d) > length * length) kept.add(corners[k]);
    }
    *this = kept;
  }
  // Keeps the part that is inside another polygon, which must be counter-clockwise, or within a distance of it.
  void cut(const Polygon& other, double tolerance) {
    for (std::size_t k = 0; k < other.size && size > 0; ++k) {
      const Flat from = other.corners[k], along = other.next(k) - from;
      const Flat inwards{-along.y, along.x};
      cut(inwards, tolerance * std::sqrt(dot(along, along)) - dot(inwards, from));
    }
  }
};

// The convex hull of points, counter-clockwise. Sorts the points.
inline Polygon hull_of(std::vector<Flat>& places) {
  std::sort(places.begin(), places.end(), [](Flat a, Flat b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  std::vector<Flat> chain;
  const auto extend = [&chain](Flat p, std::size_t fixed) {
    while (chain.size() > fixed + 1 && cross(chain.back() - chain[chain.size() - 2], p - chain.back()) <= 0)
      chain.pop_back();
    chain.push_back(p);
  };
  for (const Flat& p : places) extend(p, 0);
  const std::size_t lower = chain.size();
  for (std::size_t k = places.size(); k-- > 1;) extend(places[k - 1], lower - 1);
  if (chain.size() > 1) chain.pop_back();  // equal to the first
  Polygon hull;
  for (const Flat& p : chain) hull.add(p);
  return hull;
}

// Sums of the integrals of 1, x and x xᵀ over polygons.
struct Moments {
  double size = 0;
  Flat first{0, 0};
  Symmetric second;

  void add(const Polygon& p) {
    for (std::size_t k = 1; k + 1 < p.size; ++k) {
      const Flat a = p.corners[0], b = p.corners[k], c = p.corners[k + 1], sum = a + b + c;
      const double area = 0.5 * cross(b - a, c - a);
      size += area;
      first = first + (area / 3) * sum;
      second = second + (outer(sum) + outer(a) + outer(b) + outer(c)).scaled(area / 12);
    }
  }
  [[nodiscard]] Flat centre() const { return (1 / size) * first; }
  [[nodiscard]] Symmetric covariance() const {
    const Symmetric mean = second.scaled(1 / size), shift = outer(centre());
    return {std::max(mean.xx - shift.xx, 0.0), mean.xy - shift.xy, std::max(mean.yy - shift.yy, 0.0)};
  }
};

}  // namespace vicinal::dem
