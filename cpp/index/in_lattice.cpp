#include "index/in_lattice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "exec/threads.hpp"
#include "index/near_frame.hpp"

namespace vicinal {

namespace {

// The next number above a length.
template <class T>
T up(double length) {
  return std::nextafter(static_cast<T>(length), std::numeric_limits<T>::max());
}

// Larger than a radius so that two spheres reach as far as `reach_of` their sum, and half of `slack` each.
template <class T>
T larger(T radius, double slack) {
  constexpr double more = 1 + 32 * static_cast<double>(std::numeric_limits<T>::epsilon());
  const double tiny = std::sqrt(3 * static_cast<double>(std::numeric_limits<T>::denorm_min()));
  return up<T>(static_cast<double>(radius) * more + tiny + slack / 2);
}

// For each axis the power of two by which it is shortened.
template <class T, int D>
std::array<double, D> scale_of(const Reach<D>& reach) {
  // Coordinates must not become denormal numbers: these would not be exact.
  const double tiny = std::sqrt(static_cast<double>(std::numeric_limits<T>::denorm_min()));
  const double least = std::max(*std::min_element(reach.axis.begin(), reach.axis.end()), tiny);
  std::array<double, D> scale{};
  for (std::size_t a = 0; a < D; ++a)
    scale[a] = std::exp2(-std::floor(std::log2(std::max(reach.axis[a] / least, 1.0))));
  return scale;
}

}  // namespace

template <class T, int D>
template <class F>
void InLattice<T, D>::change(const BodyView<T, D>& bodies, F&& f) {
  LatticeBodies<T, D> copy;
  f(project(bodies, copy));
  copy_ = std::move(copy);
  bodies_.reset(bodies, settings_.box, near_frame(bodies, settings_.box, bodies.reach(settings_.cutoff).largest()));
  follow(inner_->bodies(), bodies_);
}

template <class T, int D>
void InLattice<T, D>::build(const BodyView<T, D>& bodies) {
  constexpr double room = 1 + 0x1p-10;  // bounds that change a little must not cause another build
  scale_ = scale_of<T>(bodies.reach(settings_.cutoff));
  reach_ = reach_in_copy(bodies) * room;
  slack_ = bodies.shape == Shape::sphere ? 2 * slack_of(bodies) : 0;
  StructureSettings<T, D> inner = settings_;
  inner.box = box_of_copy();
  inner.cutoff = bodies.shape == Shape::sphere ? settings_.cutoff : up<T>(reach_);
  inner_ = make_(inner);
  change(bodies, [&](const BodyView<T, D>& view) { inner_->build(view); });
}

template <class T, int D>
void InLattice<T, D>::update(const BodyView<T, D>& bodies) {
  if (outgrown(bodies)) build(bodies);
  else change(bodies, [&](const BodyView<T, D>& view) { inner_->update(view); });
}

template <class T, int D>
void InLattice<T, D>::insert(const BodyView<T, D>& all) {
  if (outgrown(all)) build(all);
  else change(all, [&](const BodyView<T, D>& view) { inner_->insert(view); });
}

template <class T, int D>
void InLattice<T, D>::remove(std::span<const std::uint32_t> ids, const BodyView<T, D>& rest) {
  change(rest, [&](const BodyView<T, D>& view) { inner_->remove(ids, view); });
}

template <class T, int D>
void InLattice<T, D>::arrange(const BodyView<T, D>& points, Bodies<T, D>& queries) const {
  auto copy = std::make_shared<LatticeBodies<T, D>>();
  const BodyView<T, D> view = project(in_box(points, settings_.box), *copy);
  inner_->arrange(view, copy->bodies);
  queries.reset(points, settings_.box, bodies_.frame);
  follow(copy->bodies, queries);
  queries.lattice = std::move(copy);
}

template <class T, int D>
std::size_t InLattice<T, D>::bytes() const {
  return inner_->bytes() + inner_->bodies().bytes() + copy_.positions.bytes() + copy_.radii.bytes();
}

template <class T, int D>
bool InLattice<T, D>::outgrown(const BodyView<T, D>& bodies) const {
  return bodies.shape != bodies_.raw.shape || reach_in_copy(bodies) > reach_ ||
         (bodies.shape == Shape::sphere && slack_of(bodies) > slack_);
}

template <class T, int D>
BodyView<T, D> InLattice<T, D>::project(const BodyView<T, D>& bodies, LatticeBodies<T, D>& copy) const {
  BodyView<T, D> view = bodies;
  view.box = box_of_copy();
  for (std::size_t a = 0; a < D; ++a) {
    view.low[a] *= static_cast<T>(scale_[a]);
    view.high[a] *= static_cast<T>(scale_[a]);
  }
  if (bodies.shape == Shape::box) {
    view.shape = Shape::point;
    view.extra = nullptr;
    view.largest = view.largest_query = {};
  }
  std::array<T, D> highest{};
  for (std::size_t a = 0; a < D; ++a) {
    const T edge = view.box.edge[a];
    highest[a] = edge > 0 ? std::nextafter(edge, T{0}) : std::numeric_limits<T>::max();
  }
  copy.positions.reset(bodies.size * D);
  parallel_ranges(bodies.size, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto x = settings_.box.wrap(bodies.data + k * D);
      for (std::size_t a = 0; a < D; ++a) {
        const auto at = static_cast<T>(settings_.box.along(x, static_cast<int>(a)) * scale_[a]);
        // The inner structure must not wrap a body that is outside by a rounding error.
        copy.positions[k * D + a] = view.box.edge[a] > 0 ? std::min(std::max(at, T{0}), highest[a]) : at;
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

template <class T, int D>
Box<T, D> InLattice<T, D>::box_of_copy() const {
  Box<T, D> box = settings_.box;
  box.tilted = false;
  for (std::size_t a = 0; a < D; ++a) box.edge[a] *= static_cast<T>(scale_[a]);
  return box;
}

template <class T, int D>
double InLattice<T, D>::reach_in_copy(const BodyView<T, D>& bodies) const {
  const Reach<D> reach = bodies.reach(settings_.cutoff);
  double most = 0;
  for (std::size_t a = 0; a < D; ++a) most = std::max(most, reach.axis[a] * scale_[a]);
  return most;
}

template <class T, int D>
double InLattice<T, D>::slack_of(const BodyView<T, D>& bodies) const {
  const T larger = std::max(bodies.largest[0], bodies.largest_query[0]);
  const double apart = reach_of(bodies.widest ? larger : bodies.largest[0] + larger);
  const Reach<D> reach = bodies.reach(settings_.cutoff);
  double most = 0;
  for (std::size_t a = 0; a < D; ++a) most = std::max(most, (reach.axis[a] - apart) * scale_[a]);
  return most;
}

template <class T, int D>
void InLattice<T, D>::follow(const Bodies<T, D>& copy, Bodies<T, D>& bodies) {
  if (copy.slots > bodies.slots) bodies.resize(copy.slots);
  parallel_ranges(copy.slots, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t slot = begin; slot < end; ++slot) {
      if (copy.ids[slot] >= 0) bodies.place(static_cast<std::size_t>(copy.ids[slot]), slot);
      else bodies.ids[slot] = -1;
    }
  });
}

template class InLattice<float, 2>;
template class InLattice<float, 3>;
template class InLattice<double, 2>;
template class InLattice<double, 3>;

}  // namespace vicinal
