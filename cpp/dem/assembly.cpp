#include "dem/assembly.hpp"

#include <algorithm>
#include <cmath>
#include <compare>

#include "dem/parallel.hpp"
#include "dem/walls/kinds.hpp"
#include "geometry/morton.hpp"

namespace vicinal::dem {

void Assembly::number_primitives() {
  primitives.clear();
  for (std::size_t w = 0; w < walls.size(); ++w) {
    const std::size_t count = walls[w].kind == Wall::mesh ? meshes[w].faces.size() : contacts_of(walls[w]);
    for (std::size_t face = 0; face < count; ++face)
      primitives.push_back({static_cast<Number>(w), static_cast<Number>(face)});
  }
}

Assembly::Acting Assembly::acting() const {
  if (elements.used())
    return {elements.places.data(), elements.motions.data(), elements.materials.data(), elements.size()};
  return {bodies.places.data(), bodies.motions.data(), bodies.materials.data(), bodies.size()};
}

std::vector<Number> Assembly::element_rows(std::span<const Number> rows) const {
  if (!elements.used()) return {rows.begin(), rows.end()};
  std::vector<Number> all;
  for (const Number row : rows)
    for (std::size_t e = elements.offsets[row]; e < elements.offsets[row + 1]; ++e)
      all.push_back(static_cast<Number>(e));
  return all;
}

void Assembly::take(std::span<const Number> rows) {
  elements.take(rows);
  bodies.take(rows);
}

void Assembly::set_keys(Vec low, double cell) {
  constexpr double most = (1 << 21) - 1;
  const auto number = [&](double x, double from) {
    return static_cast<std::uint32_t>(std::clamp((x - from) / cell, 0.0, most));
  };
  for (std::size_t row = 0; row < bodies.size(); ++row) {
    const Place& p = bodies.places[row];
    bodies.keys[row] = morton_code<3>({number(p.x, low.x), number(p.y, low.y), number(p.z, low.z)});
  }
}

std::vector<Number> Assembly::key_order() const {
  struct Place {
    std::uint64_t key;
    std::int64_t id;
    Number row;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> places(bodies.size());
  for (std::size_t row = 0; row < places.size(); ++row)
    places[row] = {bodies.keys[row], bodies.ids[row], static_cast<Number>(row)};
  std::sort(places.begin(), places.end());
  std::vector<Number> order(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) order[k] = places[k].row;
  return order;
}

std::vector<std::size_t> Assembly::block_offsets() const {
  std::vector<std::size_t> offsets = blocks.offsets(bodies.keys);
  if (elements.used())
    for (std::size_t& offset : offsets) offset = elements.offsets[offset];
  return offsets;
}

void Assembly::wrap() {
  if (!period.any()) return;
  const auto folded = [](double x, double edge) {
    if (edge <= 0) return x;
    const double inside = x - edge * std::floor(x / edge);
    return inside >= edge ? 0.0 : inside;
  };
  for (Place& p : bodies.places)
    p = {folded(p.x, period.edge[0]), folded(p.y, period.edge[1]), folded(p.z, period.edge[2]), p.r};
}

double Assembly::speed_of(std::size_t body) const {
  const Motion& m = bodies.motions[body];
  return norm(m.v + m.dv) + (elements.used() ? tip_speed(body, body + 1) : 0);
}

double Assembly::surface_speed_of(std::size_t body) const {
  const Motion& m = bodies.motions[body];
  return norm(m.v + m.dv) + tip_speed(body, body + 1);
}

double Assembly::tip_speed(std::size_t begin, std::size_t end) const {
  constexpr double spare = 1.1;    // allows for the change of the spin within the step
  double turning = 0, kicked = 0;  // squares
  for (std::size_t body = begin; body < end; ++body) {
    const Motion& m = bodies.motions[body];
    const Vec inertia = bodies.inertias[body];
    const double r = bodies.places[body].r, square = r * r;
    if (bodies.isotropic(body)) {
      const Vec w = m.w + m.dw;
      turning = std::max(turning, square * dot(w, w));
    } else {  // the next half step adds the torque of this one
      const Vec w = m.w, impulse = bodies.half_impulses[body];
      const double least = std::min({inertia.x, inertia.y, inertia.z});
      turning = std::max(turning, square * dot(w, w));
      kicked = std::max(kicked, square * dot(impulse, impulse) / (least * least));
    }
  }
  return spare * (std::sqrt(turning) + std::sqrt(kicked));
}

void Assembly::describe_elements() {
  const Acting act = acting();
  kinds_.resize(act.size);
  sizes_.resize(any_convex ? act.size : 0);
  for (std::size_t e = 0; e < act.size; ++e) kinds_[e] = {!shape_of(e).is_ball(), shape_of(e).is_curved()};
  for (std::size_t e = 0; e < sizes_.size(); ++e) sizes_[e] = is_convex(e) ? shape_of(e).radius : act.places[e].r;
  poses_.resize(any_convex ? act.size : 0);
  for (std::size_t e = 0; e < poses_.size(); ++e) {
    const GrainShape& shape = shape_of(e);
    poses_[e] = {{0, 0, 1, is_convex(e) ? shape.margin : act.places[e].r}, shape.core()};
  }
}

void Assembly::pose_elements() {
  each_block(acting().size, block_rows, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t e = begin; e < end; ++e) {
      if (!is_convex(e) || !is_curved(e)) continue;
      poses_[e].axis = axes_of(bodies.orientations[body_of(e)]).z;
    }
  });
}

const GrainShape& Assembly::shape_of(std::size_t element) const {
  static const GrainShape ball;
  const std::int32_t number = bodies.shapes[body_of(element)];
  if (number < 0) return ball;
  const GrainShape& shape = shapes[static_cast<std::size_t>(number)];
  return shape.is_ball() ? ball : shape;
}

Posed Assembly::posed(std::size_t element) const {
  return {&shape_of(element), {centre(element_places()[element]), bodies.orientations[body_of(element)]}};
}

}  // namespace vicinal::dem
