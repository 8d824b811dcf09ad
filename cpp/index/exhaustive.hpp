// Tests all pairs: the reference, and the fastest structure for a few hundred bodies.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "exec/threads.hpp"
#include "index/images.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class Exhaustive final : public Structure<T, D> {
 public:
  static constexpr bool takes_tilted_cells = true;
  explicit Exhaustive(const StructureSettings<T, D>& settings) : settings_(settings) {}

  void build(const BodyView<T, D>& points) override {
    const Reach<D> reach = points.reach(settings_.cutoff);
    shifts_ = images_within(reach, settings_.box);
    keep(points, near_frame(points, settings_.box, reach.largest()), bodies_);
  }
  void arrange(const BodyView<T, D>& points, Bodies<T, D>& queries) const override {
    keep(points, bodies_.frame, queries);
  }
  [[nodiscard]] const Bodies<T, D>& bodies() const override { return bodies_; }

  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const override {
    return (queries.size + tile - 1) / tile;
  }

  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    const auto first = static_cast<Slot>(part * tile);
    const auto last = static_cast<Slot>(std::min(queries.size, (part + 1) * tile));
    const auto n = static_cast<Slot>(bodies_.size);
    std::vector<Range> ranges;
    const std::size_t middle = shifts_.size() / 2;  // no shift; the shifts before it are the opposites of those after
    if (mode == Mode::half) ranges.push_back({first, n, {}, Own::after});
    else ranges.push_back({0, n, {}, mode == Mode::full ? Own::except : Own::absent});
    for (std::size_t s = mode == Mode::half ? middle + 1 : 0; s < shifts_.size(); ++s)
      if (s != middle) ranges.push_back({0, n, shifts_[s]});
    sink({first, last, ranges});
  }

  [[nodiscard]] Details details() const override { return {{"images", static_cast<double>(shifts_.size())}}; }
  [[nodiscard]] std::size_t bytes() const override { return 0; }

 private:
  static constexpr std::size_t tile = 32;

  void keep(const BodyView<T, D>& points, const NearFrame<D>& frame, Bodies<T, D>& bodies) const {
    bodies.reset(points, settings_.box, frame);
    parallel_ranges(points.size, 1 << 16, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t k = begin; k < end; ++k) bodies.place(k, k);
    });
  }

  StructureSettings<T, D> settings_;
  std::vector<Shift> shifts_;
  Bodies<T, D> bodies_;
};

}  // namespace vicinal
