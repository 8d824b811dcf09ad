// The feature of a core that faces a direction: a face, an edge or a point.
#pragma once

#include <cstddef>

#include "dem/vec.hpp"

namespace vicinal::dem {

// A face or edge faces a direction if it is perpendicular to it within an angle of this sine and cosine.
inline constexpr double flat_sine = 0.2, flat_cosine = 0.98;
// Beyond this sine none does, however the sine was rounded.
inline constexpr double sure_sine = flat_sine * (1 + 1e-9);

struct Feature {
  static constexpr std::size_t most = 32;
  std::size_t size = 0;  // number of corners; 0: an infinite plane; 1: a point; 2: an edge; more: a face
  Vec normal;            // set for a face or a plane
  double beyond = 0;     // how far the feature of the sharp shape extends beyond that of the core, in margins
  // Corners are not initialised, since most features have few of them.
  struct Corner {
    double x, y, z;
    operator Vec() const { return {x, y, z}; }
  };
  Corner corners[most];

  void add(Vec corner) {
    if (size < most) corners[size++] = {corner.x, corner.y, corner.z};
  }
  static Feature point(Vec at) {
    Feature feature;
    feature.add(at);
    return feature;
  }
  static Feature edge(Vec from, Vec to) {
    Feature feature;
    feature.add(from);
    feature.add(to);
    return feature;
  }
  static Feature plane(Vec normal) {
    Feature feature;
    feature.normal = normal;
    return feature;
  }
};

}  // namespace vicinal::dem
