// Pairs of bodies and planes. Every body is tested against every plane, so no structure is needed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "index/bodies.hpp"

namespace vicinal {

// Points on planes and their normals, row by row.
template <class T, int D>
struct Planes {
  std::span<const T> points;
  std::span<const T> normals;
  [[nodiscard]] std::size_t size() const { return points.size() / D; }
};

// By body, then by plane.
struct Touching {
  Region bodies, planes;  // int32
  Region distances;       // of the body's position; of a box, of its corner farthest behind the plane
  std::size_t size = 0;
};

// How far a body is in front of a plane: nx*(x - px) + ny*(y - py) + nz*(z - pz), rounded in T, not fused.
template <class T, int D>
T in_front(const BodyView<T, D>& bodies, std::size_t body, const T* point, const T* normal) {
  T sum = 0;
  for (int axis = 0; axis < D; ++axis) {
    T d = normal[axis] * (bodies.at(body, axis) - point[axis]);
    if (bodies.shape == Shape::box) d = std::min(d, normal[axis] * (bodies.upper(body, axis) - point[axis]));
    sum = axis == 0 ? d : sum + d;
  }
  return sum;
}

// Bodies some part of which is on or behind a plane.
template <class T, int D>
Touching find_touching(const BodyView<T, D>& bodies, T cutoff, const Planes<T, D>& planes) {
  struct Hit {
    std::int32_t body, plane;
    T distance;
  };
  constexpr std::size_t grain = 1 << 14;
  std::vector<std::vector<Hit>> hits_of_piece((bodies.size + grain - 1) / grain);
  parallel_ranges(bodies.size, grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    std::vector<Hit>& hits = hits_of_piece[piece];
    for (std::size_t k = begin; k < end; ++k) {
      const T reach = bodies.shape == Shape::point ? cutoff : bodies.shape == Shape::sphere ? bodies.radius(k) : T{0};
      for (std::size_t p = 0; p < planes.size(); ++p) {
        const T d = in_front(bodies, k, planes.points.data() + p * D, planes.normals.data() + p * D);
        if (d <= reach) hits.push_back({static_cast<std::int32_t>(k), static_cast<std::int32_t>(p), d});
      }
    }
  });
  Touching result;
  for (const auto& hits : hits_of_piece) result.size += hits.size();
  result.bodies = Region(result.size * sizeof(std::int32_t));
  result.planes = Region(result.size * sizeof(std::int32_t));
  result.distances = Region(result.size * sizeof(T));
  std::size_t at = 0;
  for (const auto& hits : hits_of_piece)
    for (const Hit& hit : hits) {
      static_cast<std::int32_t*>(result.bodies.data())[at] = hit.body;
      static_cast<std::int32_t*>(result.planes.data())[at] = hit.plane;
      static_cast<T*>(result.distances.data())[at] = hit.distance;
      ++at;
    }
  return result;
}

}  // namespace vicinal
