// The common parts of both sweeps: the bodies, their extents, and the axis along which they are sorted.
#pragma once

#include <cstddef>

#include "index/bulk.hpp"
#include "index/parts.hpp"
#include "index/structure.hpp"
#include "index/sweep/direction.hpp"
#include "index/sweep/extent.hpp"

namespace vicinal::sweep {

template <class T, int D>
class Sweep : public Structure<T, D> {
 public:
  explicit Sweep(const StructureSettings<T, D>& settings) : settings_(settings) {}

  void arrange(const BodyView<T, D>& points, Bodies<T, D>& queries) const final {
    queries.reset(points, settings_.box, bodies_.frame);
    sort_along(direction_, extent_, queries);
  }
  [[nodiscard]] const Bodies<T, D>& bodies() const final { return bodies_; }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const final { return part_count(queries); }

 protected:
  // Sets all members except the slots of the bodies. Returns the bulk of the bodies.
  Bulk<D> survey(const BodyView<T, D>& points) {
    const Reach<D> reach = points.reach(settings_.cutoff);
    const Bulk<D> bulk = find_bulk(points, settings_.box, reach.largest(), most_strays(points.size));
    extent_ = Extent<T, D>(points, settings_.cutoff, settings_.box);
    direction_ = choose_direction(points, settings_.box, reach, bulk);
    bodies_.reset(points, settings_.box, near_frame(points, settings_.box, reach.largest()));
    return bulk;
  }

  StructureSettings<T, D> settings_;
  Extent<T, D> extent_;
  SweepDirection direction_;
  Bodies<T, D> bodies_;
};

}  // namespace vicinal::sweep
