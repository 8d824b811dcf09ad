// A tilted cell for structures that look at the extents of bodies along the axes: they work in lattice coordinates
// (geometry/box.hpp), in which the cell is a cuboid.
//
// The inner structure holds a copy of the bodies in lattice coordinates; this one holds them in space, in the same
// slots, for the exact test. Spheres are larger in the copy, and the cutoff of points is, by what rounding may add.
// Axis-aligned boxes are tilted against the axes of the lattice: in the copy they are points, with the reach of the
// largest box as the cutoff.
//
// The inner structure knows one cutoff for all axes. Bodies may reach much farther along a long axis than along a thin
// one, because of the rounding of long coordinates, or because boxes are long; so long axes are shortened in the copy
// until their reach is less than twice that of the axis along which it is the least. Otherwise the structure would see
// many images along the thin axis in vain, more than there are numbers for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class InLattice final : public Structure<T, D> {
 public:
  using Make = std::unique_ptr<Structure<T, D>> (*)(const StructureSettings<T, D>&);

  InLattice(const StructureSettings<T, D>& settings, Make make) : settings_(settings), make_(make) {}

  void build(const BodyView<T, D>& bodies) override;
  void update(const BodyView<T, D>& bodies) override;
  void insert(const BodyView<T, D>& all) override;
  void remove(std::span<const std::uint32_t> ids, const BodyView<T, D>& rest) override;

  [[nodiscard]] const Bodies<T, D>& bodies() const override { return bodies_; }
  void arrange(const BodyView<T, D>& points, Bodies<T, D>& queries) const override;
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const override { return inner_->parts(inner(queries)); }
  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    inner_->blocks(inner(queries), mode, part, sink);
  }

  [[nodiscard]] Details details() const override { return inner_->details(); }
  [[nodiscard]] std::size_t bytes() const override;

 private:
  [[nodiscard]] bool outgrown(const BodyView<T, D>& bodies) const;
  [[nodiscard]] const Bodies<T, D>& inner(const Bodies<T, D>& queries) const {
    return &queries == &bodies_ ? inner_->bodies() : queries.lattice->bodies;
  }

  // Changes the inner structure by f(the bodies in lattice coordinates), and puts the bodies into its slots.
  template <class F>
  void change(const BodyView<T, D>& bodies, F&& f);

  // A view of the bodies in lattice coordinates, which are stored in `copy`.
  BodyView<T, D> project(const BodyView<T, D>& bodies, LatticeBodies<T, D>& copy) const;
  // The cuboid that the cell is in the copy.
  [[nodiscard]] Box<T, D> box_of_copy() const;
  // The largest reach along an axis of the copy.
  [[nodiscard]] double reach_in_copy(const BodyView<T, D>& bodies) const;
  // How much farther than the sum of their radii two spheres, or queries, can be apart along an axis of the copy.
  [[nodiscard]] double slack_of(const BodyView<T, D>& bodies) const;

  // Puts bodies into the slots that the copy of them has.
  static void follow(const Bodies<T, D>& copy, Bodies<T, D>& bodies);

  static constexpr std::size_t grain = std::size_t{1} << 14;

  StructureSettings<T, D> settings_;
  Make make_;
  std::array<double, D> scale_{};  // from lattice coordinates to the copy, a power of two for each axis
  double reach_ = 0;               // in the copy, of the bodies that the inner structure was made for
  double slack_ = 0;               // of spheres: see slack_of
  std::unique_ptr<Structure<T, D>> inner_;
  LatticeBodies<T, D> copy_;
  Bodies<T, D> bodies_;
};

}  // namespace vicinal
