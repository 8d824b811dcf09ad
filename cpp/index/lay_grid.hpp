// Lays a grid over given points: axes from their bounds, the box and the reach.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "geometry/grid.hpp"
#include "index/bulk.hpp"
#include "index/structure.hpp"

namespace vicinal {

// Cells of reach / subdivision, but at least `least` long. Strides and stencil are not set: call `finish`.
template <class T, int D>
Grid lay_grid(const BodyView<T, D>& points, const Box<T, D>& box, const Reach<D>& reaches, int subdivision,
              double least);

// The same for the bulk of the bodies; strays share the outermost cells.
template <class T, int D>
Grid lay_bulk_grid(const BodyView<T, D>& bodies, const Box<T, D>& box, const Reach<D>& reaches, int subdivision,
                   double least);

inline Details grid_details(const Grid& grid) {
  double cells = 1;
  for (const Axis& axis : grid.axis) cells *= static_cast<double>(axis.cells);
  double stencil = 0;
  for (const StencilRow& row : grid.rows) stencil += 2 * row.reach_x + 1;
  return {{"cells", cells}, {"cell", grid.axis[0].size()}, {"stencil", stencil}};
}

}  // namespace vicinal
