// Sweep and prune (Schornbaum 2009, section 4.5): bodies sorted by the ends of their intervals along one axis, or along
// all axes.
//
// The sweep along one axis is built for a single search. The sweep along all axes is kept: while few bodies move, an
// update costs little more than a pass over the bodies. Ends that wrap around a border would have to be stored once per
// image, so a periodic box is always swept along one axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "index/structure.hpp"
#include "index/sweep/all_axes.hpp"
#include "index/sweep/one_axis.hpp"

namespace vicinal {

template <class T, int D>
class SweepAndPrune final : public Structure<T, D> {
 public:
  explicit SweepAndPrune(const StructureSettings<T, D>& settings) {
    if (settings.option("axes") == 1 || settings.box.periodic())
      sweep_ = std::make_unique<sweep::OneAxis<T, D>>(settings);
    else sweep_ = std::make_unique<sweep::AllAxes<T, D>>(settings);
  }

  void build(const BodyView<T, D>& bodies) override { sweep_->build(bodies); }
  void update(const BodyView<T, D>& bodies) override { sweep_->update(bodies); }
  void insert(const BodyView<T, D>& all) override { sweep_->insert(all); }
  void remove(std::span<const std::uint32_t> ids, const BodyView<T, D>& rest) override { sweep_->remove(ids, rest); }
  void arrange(const BodyView<T, D>& bodies, Bodies<T, D>& queries) const override { sweep_->arrange(bodies, queries); }
  [[nodiscard]] const Bodies<T, D>& bodies() const override { return sweep_->bodies(); }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const override { return sweep_->parts(queries); }
  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    sweep_->blocks(queries, mode, part, sink);
  }
  [[nodiscard]] Details details() const override { return sweep_->details(); }
  [[nodiscard]] std::size_t bytes() const override { return sweep_->bytes(); }

 private:
  std::unique_ptr<Structure<T, D>> sweep_;
};

}  // namespace vicinal
