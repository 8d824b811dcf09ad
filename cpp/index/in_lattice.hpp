// A tilted cell for structures that look at the extents of bodies along the axes: they work in lattice coordinates
// (geometry/box.hpp), in which the cell is a cuboid.
//
// The inner structure holds a copy of the bodies in lattice coordinates; this one holds them in space, in the same
// slots, for the exact test. Spheres are larger in the copy, and the cutoff of points is, by what rounding may add.
// Axis-aligned boxes are tilted against the axes of the lattice: in the copy they are points, with the reach of the
// largest box as the cutoff.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "index/near_frame.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class InLattice final : public Structure<T, D> {
 public:
  using Make = std::unique_ptr<Structure<T, D>> (*)(const Settings<T, D>&);

  InLattice(const Settings<T, D>& settings, Make make) : settings_(settings), make_(make) {}

  void build(const BodyView<T, D>& bodies) override {
    constexpr double room = 1 + 0x1p-10;  // bounds that change a little must not cause another build
    reach_ = bodies.reach(settings_.cutoff).largest() * room;
    slack_ = bodies.shape == Shape::sphere ? 2 * slack_of(bodies) : 0;
    Settings<T, D> inner = settings_;
    inner.box.tilted = false;
    inner.cutoff = bodies.shape == Shape::sphere ? settings_.cutoff : up(reach_);
    inner_ = make_(inner);
    change(bodies, [&](const BodyView<T, D>& view) { inner_->build(view); });
  }
  void update(const BodyView<T, D>& bodies) override {
    if (outgrown(bodies)) build(bodies);
    else change(bodies, [&](const BodyView<T, D>& view) { inner_->update(view); });
  }
  void insert(const BodyView<T, D>& all) override {
    if (outgrown(all)) build(all);
    else change(all, [&](const BodyView<T, D>& view) { inner_->insert(view); });
  }
  void remove(std::span<const std::uint32_t> ids, const BodyView<T, D>& rest) override {
    change(rest, [&](const BodyView<T, D>& view) { inner_->remove(ids, view); });
  }

  [[nodiscard]] const Bodies<T, D>& bodies() const override { return bodies_; }
  void arrange(const BodyView<T, D>& points, Bodies<T, D>& queries) const override {
    auto copy = std::make_shared<LatticeBodies<T, D>>();
    const BodyView<T, D> view = project(in_box(points, settings_.box), *copy);
    inner_->arrange(view, copy->bodies);
    queries.reset(points, settings_.box, bodies_.frame);
    follow(copy->bodies, queries);
    queries.lattice = std::move(copy);
  }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const override { return inner_->parts(inner(queries)); }
  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    inner_->blocks(inner(queries), mode, part, sink);
  }

  [[nodiscard]] Details details() const override { return inner_->details(); }
  [[nodiscard]] std::size_t bytes() const override {
    return inner_->bytes() + inner_->bodies().bytes() + copy_.positions.bytes() + copy_.radii.bytes();
  }

 private:
  // The next number above a length.
  static T up(double length) { return std::nextafter(static_cast<T>(length), std::numeric_limits<T>::max()); }
  // Larger than a radius so that two spheres reach as far as `reach_of` their sum, and half of `slack` each.
  static T larger(T radius, double slack) {
    constexpr double more = 1 + 32 * static_cast<double>(std::numeric_limits<T>::epsilon());
    const double tiny = std::sqrt(3 * static_cast<double>(std::numeric_limits<T>::denorm_min()));
    return up(static_cast<double>(radius) * more + tiny + slack / 2);
  }

  [[nodiscard]] bool outgrown(const BodyView<T, D>& bodies) const {
    return bodies.shape != bodies_.raw.shape || bodies.reach(settings_.cutoff).largest() > reach_ ||
           (bodies.shape == Shape::sphere && slack_of(bodies) > slack_);
  }
  [[nodiscard]] const Bodies<T, D>& inner(const Bodies<T, D>& queries) const {
    return &queries == &bodies_ ? inner_->bodies() : queries.lattice->bodies;
  }

  // Changes the inner structure by f(the bodies in lattice coordinates), and puts the bodies into its slots.
  template <class F>
  void change(const BodyView<T, D>& bodies, F&& f) {
    LatticeBodies<T, D> copy;
    f(project(bodies, copy));
    copy_ = std::move(copy);
    bodies_.reset(bodies, settings_.box, near_frame(bodies, settings_.box, reach_));
    follow(inner_->bodies(), bodies_);
  }

  // A view of the bodies in lattice coordinates, which are stored in `copy`.
  BodyView<T, D> project(const BodyView<T, D>& bodies, LatticeBodies<T, D>& copy) const {
    BodyView<T, D> view = bodies;
    view.box.tilted = false;
    if (bodies.shape == Shape::box) {
      view.shape = Shape::point;
      view.extra = nullptr;
      view.largest = view.largest_query = {};
    }
    std::array<T, D> highest{};
    for (std::size_t a = 0; a < D; ++a) {
      const T edge = settings_.box.edge[a];
      highest[a] = edge > 0 ? std::nextafter(edge, T{0}) : std::numeric_limits<T>::max();
    }
    copy.positions.reset(bodies.size * D);
    parallel_ranges(bodies.size, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t k = begin; k < end; ++k) {
        const auto x = settings_.box.wrap(bodies.data + k * D);
        for (std::size_t a = 0; a < D; ++a) {
          const auto at = static_cast<T>(settings_.box.along(x, static_cast<int>(a)));
          // The inner structure must not wrap a body that is outside by a rounding error.
          copy.positions[k * D + a] = settings_.box.edge[a] > 0 ? std::min(std::max(at, T{0}), highest[a]) : at;
        }
      }
    });
    view.data = copy.positions.data();
    if (bodies.shape != Shape::sphere) return view;
    copy.radii.reset(bodies.size);
    parallel_ranges(bodies.size, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t k = begin; k < end; ++k) copy.radii[k] = larger(bodies.radius(k), slack_);
    });
    view.extra = copy.radii.data();
    for (std::size_t a = 0; a < D; ++a) {
      view.largest[a] = larger(bodies.largest[a], slack_);
      view.largest_query[a] = larger(bodies.largest_query[a], slack_);
    }
    return view;
  }
  // How much farther than the sum of their radii two spheres, or queries, can be apart along an axis.
  [[nodiscard]] double slack_of(const BodyView<T, D>& bodies) const {
    const T sum = bodies.largest[0] + std::max(bodies.largest[0], bodies.largest_query[0]);
    return std::max(bodies.reach(settings_.cutoff).largest() - reach_of(sum), 0.0);
  }

  // Puts bodies into the slots that the copy of them has.
  static void follow(const Bodies<T, D>& copy, Bodies<T, D>& bodies) {
    if (copy.slots > bodies.slots) bodies.resize(copy.slots);
    parallel_ranges(copy.slots, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t slot = begin; slot < end; ++slot) {
        if (copy.ids[slot] >= 0) bodies.place(static_cast<std::size_t>(copy.ids[slot]), slot);
        else bodies.ids[slot] = -1;
      }
    });
  }

  static constexpr std::size_t grain = std::size_t{1} << 14;

  Settings<T, D> settings_;
  Make make_;
  double reach_ = 0;  // of the bodies that the inner structure was made for
  double slack_ = 0;  // of spheres: see slack_of
  std::unique_ptr<Structure<T, D>> inner_;
  LatticeBodies<T, D> copy_;
  Bodies<T, D> bodies_;
};

}  // namespace vicinal
