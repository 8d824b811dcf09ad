// Sweep and prune (paper B, section 4.5): bodies sorted by the ends of what they cover along an axis, or along all.
//
// Along one axis it is built for a single search. Along all axes it lasts: while little moves, an update costs little
// more than a look at the bodies. Ends that wrap around a border would have to be kept once per image, so in a periodic
// box there is the sweep along one axis only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "index/index.hpp"
#include "index/parts.hpp"
#include "sweep/all_axes.hpp"
#include "sweep/one_axis.hpp"

namespace vicinal {

template <class T, int D>
class SweepAndPrune {
 public:
  explicit SweepAndPrune(const Settings<T, D>& settings) {
    if (settings.option("axes") == 1 || settings.box.periodic())
      one_ = std::make_unique<sweep::OneAxis<T, D>>(settings);
    else all_ = std::make_unique<sweep::AllAxes<T, D>>(settings);
  }

  void build(const BodyView<T, D>& points) { one_ ? one_->build(points) : all_->build(points); }
  void update(const BodyView<T, D>& points) { one_ ? one_->build(points) : all_->update(points); }
  void insert(const BodyView<T, D>& points) { one_ ? one_->build(points) : all_->insert(points); }
  void remove(std::span<const std::uint32_t> ids, const BodyView<T, D>& points) {
    one_ ? one_->build(points) : all_->remove(ids, points);
  }
  void arrange(const BodyView<T, D>& points, Bodies<T, D>& queries) const {
    one_ ? one_->arrange(points, queries) : all_->arrange(points, queries);
  }
  [[nodiscard]] const Bodies<T, D>& bodies() const { return one_ ? one_->bodies() : all_->bodies(); }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const { return part_count(queries); }
  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const {
    one_ ? one_->blocks(queries, mode, part, sink) : all_->blocks(queries, mode, part, sink);
  }
  [[nodiscard]] Details details() const { return one_ ? one_->details() : all_->details(); }
  [[nodiscard]] std::size_t bytes() const { return one_ ? one_->bytes() : all_->bytes(); }

 private:
  std::unique_ptr<sweep::OneAxis<T, D>> one_;  // one of the two
  std::unique_ptr<sweep::AllAxes<T, D>> all_;
};

}  // namespace vicinal
