// A fast first answer to "is this edge legal?" for many edges at once: the cotangents of all angles.
//
// An edge between two triangles that turn left is legal if the angles opposite it add up to at most pi, that is, if the
// sum of their cotangents is not negative. At corner c of a b c the cotangent is D / A with D = (a - c).(b - c), and A
// the determinant of orient2d. So a triangle is evaluated once, not once per edge, and an edge costs one addition of
// numbers already computed. Only if the sum is too close to 0 do the exact predicates decide.
//
// Bounds. Let A' and D' be computed in double, u = 2^-53. |A' - A| <= 5 u P' with P' as in predicates.hpp, and only
// triangles with A' > 2^-20 P' are measured; so A' has a relative error of at most 2^-30. D is a sum of two products p
// + q, |D' - D| <= 5 u (|p| + |q|), and |p| + |q| <= |a - c| |b - c| = sqrt(D^2 + A^2) <= |D| + A. So the error of the
// quotient is at most 2^-29 |cot| + 2^-50, that of its float 2^-23.9 |cot| + 2^-50, and that of the float sum of two
// cotangents 2^-22 (|cot| + |cot'| + 1), with room for the rounding of this bound itself. Size: the one negative
// cotangent of an obtuse triangle is smaller in magnitude than the others, so the sum of all three is at least as large
// as each; where it is below 2^100 the floats do not overflow.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "delaunay/triangulation.hpp"
#include "exec/threads.hpp"

namespace vicinal::delaunay {

class Angles {
 public:
  void resize(std::size_t triangles) { corner_.resize(triangles); }

  [[nodiscard]] std::size_t bytes() const { return corner_.capacity() * sizeof(corner_[0]); }

  // Measures triangle t at tri.points. False if it is real and does not turn left.
  bool measure(const Triangulation& tri, std::uint32_t t) {
    const Triangle& here = tri.triangles[t];
    std::array<float, 4>& cot = corner_[t];
    if (!here.real()) {
      for (std::uint32_t i = 0; i < 3; ++i) cot[i] = here.v[i] == ghost ? surely_legal : in_doubt;
      return true;
    }
    const Point2 a = tri.points[here.v[0]], b = tri.points[here.v[1]], c = tri.points[here.v[2]];
    const double abx = b.x - a.x, aby = b.y - a.y;
    const double bcx = c.x - b.x, bcy = c.y - b.y;
    const double cax = a.x - c.x, cay = a.y - c.y;
    const double left = abx * cay, right = aby * cax;
    const double area = right - left;
    if (!(area > shapely * (std::abs(left) + std::abs(right))) || !tri.tame) {
      cot = {in_doubt, in_doubt, in_doubt, 0};
      return tri.orient(a, b, c) > 0;
    }
    const double inverse = -1 / area;
    const double at_a = (abx * cax + aby * cay) * inverse;
    const double at_b = (bcx * abx + bcy * aby) * inverse;
    const double at_c = (cax * bcx + cay * bcy) * inverse;
    if (!(at_a + at_b + at_c < largest)) {
      cot = {in_doubt, in_doubt, in_doubt, 0};
      return true;
    }
    cot = {static_cast<float>(at_a), static_cast<float>(at_b), static_cast<float>(at_c), 0};
    return true;
  }

  // Whether the edge e, whose other side is `other`, is not known to be legal.
  [[nodiscard]] bool not_cleared(Edge e, Edge other) const {
    const float one = corner_[triangle_of(e)][side_of(e)];
    const float two = corner_[triangle_of(other)][side_of(other)];
    return !(one + two > relative_error * (std::abs(one) + std::abs(two) + 1));
  }
  // Positive if the edge e, whose other side is `other`, is legal, negative if it is not, 0 if in doubt.
  [[nodiscard]] int judge(Edge e, Edge other) const {
    const float one = corner_[triangle_of(e)][side_of(e)];
    const float two = corner_[triangle_of(other)][side_of(other)];
    const float error = relative_error * (std::abs(one) + std::abs(two) + 1);
    if (one + two > error) return 1;
    return one + two < -error ? -1 : 0;
  }

 private:
  static constexpr double shapely = 0x1p-20;
  static constexpr float relative_error = 0x1p-22F;
  // The entry of a ghost triangle: its hull edge is always legal; nothing is known about the other two.
  static constexpr double largest = 0x1p100;
  static constexpr float surely_legal = 0x1p125F;
  static constexpr float in_doubt = std::numeric_limits<float>::quiet_NaN();  // every comparison with it is false

  std::vector<std::array<float, 4>> corner_;  // cotangents of the angles of each triangle
};

// The result of a pass over all triangles.
struct Suspects {
  std::vector<std::uint32_t> inverted;  // real triangles that do not turn left
  std::vector<Edge> edges;              // not known to be legal
};

// Measures all triangles at tri.points.
inline Suspects survey(const Triangulation& tri, Angles& angles) {
  constexpr std::size_t grain = std::size_t{1} << 13U;
  const std::size_t n = tri.triangles.size();
  angles.resize(n);
  std::vector<Suspects> parts((n + grain - 1) / grain);
  parallel_ranges(n, grain, [&](std::size_t begin, std::size_t end, std::size_t part) {
    std::vector<std::uint32_t> inverted;
    for (auto t = static_cast<std::uint32_t>(begin); t < end; ++t)
      if (!angles.measure(tri, t)) inverted.push_back(t);
    parts[part].inverted = std::move(inverted);
  });
  // Edges are listed without branches: each is written, and the cursor moves on only if it is kept.
  parallel_ranges(n, grain, [&](std::size_t begin, std::size_t end, std::size_t part) {
    constexpr std::size_t batch = 512;
    std::array<Edge, 3 * batch + 1> edges;
    for (std::size_t first = begin; first < end; first += batch) {
      std::size_t kept = 0;
      for (auto t = static_cast<std::uint32_t>(first); t < std::min(end, first + batch); ++t) {
        const Triangle& here = tri.triangles[t];
        if (here.dead()) continue;
        for (std::uint32_t i = 0; i < 3; ++i) {
          const Edge e = edge_of(t, i), other = here.n[i];
          edges[kept] = e;
          kept += static_cast<std::size_t>(angles.not_cleared(e, other)) & static_cast<std::size_t>(e < other);
        }
      }
      parts[part].edges.insert(parts[part].edges.end(), edges.data(), edges.data() + kept);
    }
  });
  Suspects all;
  for (const Suspects& part : parts) {
    all.inverted.insert(all.inverted.end(), part.inverted.begin(), part.inverted.end());
    all.edges.insert(all.edges.end(), part.edges.begin(), part.edges.end());
  }
  return all;
}

}  // namespace vicinal::delaunay
