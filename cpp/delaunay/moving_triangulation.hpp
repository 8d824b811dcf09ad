// The kinetic Delaunay triangulation of points as the user numbers them: build, move, insert, remove, query.
//
// Points live in *slots* along a Hilbert curve, so that neighbours in space are neighbours in memory; `ids` maps slots
// to points. Coordinates are converted to double, which is exact for both float and double.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "delaunay/angles.hpp"
#include "delaunay/move.hpp"
#include "delaunay/triangulation.hpp"
#include "delaunay/verify.hpp"

namespace vicinal::delaunay {

template <class T>
class MovingTriangulation {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);

 public:
  MovingTriangulation() = default;
  // `xy`: x and y of every point, interleaved, all finite.
  explicit MovingTriangulation(std::span<const T> xy) { build(xy); }

  void build(std::span<const T> xy);

  // Moves every point; `xy` in the order of the ids. With a skin, only the positions are stored while no point is
  // farther than half the skin from its position in the triangulation: see `settled`.
  MotionResult update(std::span<const T> xy, double skin = 0);

  // Whether the triangulation is that of the current positions. If not, every point is at most slack() / 2 away from
  // its position in the triangulation, and two points are at most slack() farther apart there than they are now: walk
  // that much farther than the cutoff, and test at the current positions.
  [[nodiscard]] bool settled() const { return settled_; }
  [[nodiscard]] double slack() const { return settled_ ? 0 : slack_; }

  // Updates the triangulation to the current positions.
  MotionResult settle();

  // New points get the ids size(), size() + 1, ...
  void insert(std::span<const T> xy);

  // The points that stay are renumbered in the same order, without gaps. `ids` must be distinct.
  void remove(std::span<const std::uint32_t> ids);

  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> ids() const { return ids_; }      // by slot
  [[nodiscard]] std::span<const std::uint32_t> slots() const { return slots_; }  // by id
  // Changes with every change of the triangulation or of the slots.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] const Triangulation& triangulation() const { return tri_; }
  // The current positions of the points, by slot.
  [[nodiscard]] std::span<const Point2> places() const { return settled_ ? tri_.points : next_; }

  // ---- Queries; call settle() first if the triangulation should be that of the current positions ------------------

  [[nodiscard]] Flaw verify() const;

  // Corners of the real triangles, counter-clockwise. Of coincident points only the smallest id appears.
  [[nodiscard]] std::vector<std::array<std::uint32_t, 3>> triangles() const;

  // Every edge once, smaller id first. Coincident points are joined to the smallest id among them.
  [[nodiscard]] std::vector<std::array<std::uint32_t, 2>> edges() const;

  // For each position the row of `triangles()` that contains it, edges included, or -1 outside the hull.
  [[nodiscard]] std::vector<std::int64_t> locate(std::span<const T> xy) const;

  // The id of the nearest other point of each point, by id (`none` if there is no other). Of several equally near ones,
  // the smallest id.
  [[nodiscard]] std::vector<std::uint32_t> nearest() const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  static Point2 point(std::span<const T> xy, std::size_t k) {
    return {static_cast<double>(xy[2 * k]), static_cast<double>(xy[2 * k + 1])};
  }

  // Edges are numbered with 32 bits, eight for every point.
  static void check(std::size_t points);

  // Points by id.
  void triangulate(std::span<const Point2> points);

  // An upper bound of the distance of any point from its position in the triangulation; infinite if it cannot be
  // computed.
  [[nodiscard]] double farthest_move() const;

  // The mean distance of the slots of joined vertices, in bits. Small sets are in the cache in any order.
  [[nodiscard]] double disorder() const;

  Triangulation tri_;
  Angles angles_;
  std::vector<std::uint32_t> ids_, slots_;
  std::vector<Point2> next_;  // the current positions while not settled
  bool settled_ = true;
  double slack_ = 0;
  double fresh_disorder_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace vicinal::delaunay
