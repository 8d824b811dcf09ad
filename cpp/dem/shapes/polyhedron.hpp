// Convex polyhedra, described by their vertices and the normals of their faces.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include "dem/shapes/shape.hpp"

namespace vicinal::dem {

struct Polyhedron {
  static constexpr std::string_view name = "polyhedron";
  std::vector<Vec> vertices;
  struct Face {
    Vec normal;
    std::vector<std::size_t> ring;  // vertices in order around the face
    double beyond = 0;              // see Feature
  };
  std::vector<Face> faces;
  std::vector<std::vector<std::size_t>> neighbours;  // per vertex, along edges
  double flat = 0;  // a vertex at most this far from the plane of a face belongs to the face

  static Polyhedron make(const ShapeValues& values) {
    Polyhedron made;
    made.vertices = values.list("vertices");
    made.flat = values.number("flat");
    made.neighbours.resize(made.vertices.size());
    for (const Vec& normal : values.list("normals")) made.add_face(normal);
    for (Face& face : made.faces) face.beyond = made.beyond(face);
    return made;
  }
  [[nodiscard]] Vec farthest(const ShapePose& at, Vec d) const {
    return at.centre + rotate(at.turned, vertices[farthest_vertex(rotate(conjugate(at.turned), d))]);
  }
  [[nodiscard]] Feature feature(const ShapePose& at, Vec d) const {
    const Vec own = rotate(conjugate(at.turned), d);
    const auto world = [&](std::size_t k) { return at.centre + rotate(at.turned, vertices[k]); };
    const Face* best = nullptr;
    double most = flat_cosine;
    for (const Face& face : faces) {
      const double along = dot(face.normal, own);
      if (along > most) most = along, best = &face;
    }
    if (best != nullptr) {
      Feature face;
      face.normal = rotate(at.turned, best->normal);
      face.beyond = best->beyond;
      const std::size_t every =
          (best->ring.size() + Feature::most - 1) / Feature::most;  // uses every n-th of too many corners
      for (std::size_t k = 0; k < best->ring.size(); k += every) face.add(world(best->ring[k]));
      return face;
    }
    const std::size_t first = farthest_vertex(own);
    std::size_t second = first;
    double least = flat_sine;
    for (const std::size_t k : neighbours[first]) {
      const Vec edge = vertices[first] - vertices[k];
      const double slope = dot(edge, own) / norm(edge);
      if (slope < least) least = slope, second = k;
    }
    if (second == first) return Feature::point(world(first));
    Feature edge = Feature::edge(world(std::min(first, second)), world(std::max(first, second)));
    edge.beyond = 1;
    return edge;
  }

 private:
  [[nodiscard]] std::size_t farthest_vertex(Vec own) const {
    double most = -std::numeric_limits<double>::infinity();
    std::size_t best = 0;
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      const double along = dot(vertices[k], own);
      if (along > most) most = along, best = k;
    }
    return best;
  }
  // The distance from the edges of the core to those of the sharp shape, in margins: the tangent of half the angle
  // between the normals of two adjacent faces. Returns the mean over the edges.
  [[nodiscard]] double beyond(const Face& face) const {
    double sum = 0;
    for (std::size_t k = 0; k < face.ring.size(); ++k) {
      const std::size_t from = face.ring[k], to = face.ring[(k + 1) % face.ring.size()];
      for (const Face& other : faces) {
        const bool shared = std::count(other.ring.begin(), other.ring.end(), from) > 0 &&
                            std::count(other.ring.begin(), other.ring.end(), to) > 0;
        if (&other == &face || !shared) continue;
        const double cosine = dot(face.normal, other.normal);
        sum += std::sqrt(std::max(1 - cosine, 0.0) / std::max(1 + cosine, 0.1));
      }
    }
    return sum / static_cast<double>(face.ring.size());
  }
  // A face whose area is zero within rounding is left out.
  void add_face(Vec normal) {
    double height = -std::numeric_limits<double>::infinity();
    for (const Vec& v : vertices) height = std::max(height, dot(normal, v));
    std::vector<std::size_t> ring;
    Vec middle;
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      if (dot(normal, vertices[k]) < height - flat) continue;
      ring.push_back(k);
      middle += vertices[k];
    }
    if (ring.size() < 3) return;
    middle = (1.0 / static_cast<double>(ring.size())) * middle;
    const Vec x = vertices[ring[0]] - middle, y = cross(normal, x);
    const auto angle = [&](std::size_t k) {
      return std::atan2(dot(vertices[k] - middle, y), dot(vertices[k] - middle, x));
    };
    std::sort(ring.begin(), ring.end(), [&](std::size_t a, std::size_t b) { return angle(a) < angle(b); });
    for (std::size_t k = 0; k < ring.size(); ++k) {
      const std::size_t from = ring[k], to = ring[(k + 1) % ring.size()];
      neighbours[from].push_back(to);  // each of the two faces at an edge adds one direction
    }
    faces.push_back({normal, ring, 0});
  }
};

}  // namespace vicinal::dem
