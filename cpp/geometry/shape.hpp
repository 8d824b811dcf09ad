// The shapes of bodies, and the number of columns that describe each.
//
// This header is included by translation units compiled for different instruction sets, so it must not pull in
// anything whose inline functions the linker could share between them: plain types only.
#pragma once

#include <cstdint>

namespace vicinal {

// Points with a common cutoff, spheres with radii of their own, axis-aligned boxes.
enum class Shape : std::int32_t { point, sphere, box };
inline constexpr int shapes = 3;

// Numbers that describe one body: its position, then the radius of a sphere; the lower, then the upper corner of a box.
constexpr int columns_of(Shape shape, int dimensions) {
  return shape == Shape::point ? dimensions : shape == Shape::sphere ? dimensions + 1 : 2 * dimensions;
}
inline constexpr int most_columns = 6;

}  // namespace vicinal
