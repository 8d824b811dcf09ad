// Contacts at one point are processed in several passes over a chunk of contacts. Each pass is a short chain of
// operations, so the processor can overlap several groups of lanes; a single long pass would wait for its square roots
// and divisions. Here are the two passes that apply the law: the first ends where it is not yet known whether contacts
// slip. sphere_contacts.hpp, wall_passes.hpp and curved_contacts.hpp have the others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "dem/laws/response.hpp"

namespace vicinal::dem {
namespace {

// One vector per lane, from rows whose fourth number is not needed.
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> vectors(const typename Lanes::Row (&rows)[Lanes::width]) {
  Real c[4];
  Lanes::columns(rows, c);
  return {c[0], c[1], c[2]};
}
// The same from rows that lie anywhere in memory; see Lanes::gather.
template <class Lanes, class RowOf, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> gathered(RowOf&& row_of) {
  Real c[4];
  Lanes::gather(row_of, c);
  return {c[0], c[1], c[2]};
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> springs_of(const Spring* springs, const Number* entry) {
  return gathered<Lanes>([&](std::size_t lane) -> const Spring& { return springs[entry[lane]]; });
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline void keep(Spring* springs, const Number* entry, Triple<Real> stretch) {
  Lanes::scatter({stretch.x, stretch.y, stretch.z, Lanes::all(0)},
                 [&](std::size_t lane) -> Spring& { return springs[entry[lane]]; });
}

template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Turned<Real> turnings_of(const Turning* turnings, const Number* entry) {
  Real c[4];
  Lanes::gather([&](std::size_t lane) -> const Turning& { return turnings[entry[lane]]; }, c);
  return {{c[0], c[1], c[2]}, c[3]};
}
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline void keep(Turning* turnings, const Number* entry, const Turned<Real>& turned) {
  Lanes::scatter({turned.rolled.x, turned.rolled.y, turned.rolled.z, turned.twisted},
                 [&](std::size_t lane) -> Turning& { return turnings[entry[lane]]; });
}

template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline LaneCoefficients<Real> coefficients_of(const Coefficients* table, const Number* which) {
  Real a[4], b[4];
  Lanes::gather([&](std::size_t lane) -> const SpringCoefficients& { return table[which[lane]]; }, a);
  Lanes::gather([&](std::size_t lane) -> const FrictionCoefficients& { return table[which[lane]]; }, b);
  const auto more = [&](const double& column) { return Lanes::pick(&column, coefficient_stride, which); };
  return {a[0],
          a[1],
          a[2],
          a[3],
          b[0],
          b[1],
          b[2],
          b[3],
          more(table->cohesion),
          more(table->torsion),
          more(table->softness_t)};
}
template <class Lanes, class Real = typename Lanes::Real>
LaneCoefficients<Real> uniform_coefficients(const Coefficients& p) {
  const auto all = [](double a) { return Lanes::all(a); };
  return {all(p.kn),       all(p.kt),      all(p.rate_n),   all(p.rate_t),  all(p.damping_n), all(p.damping_t),
          all(p.friction), all(p.rolling), all(p.cohesion), all(p.torsion), all(p.softness_t)};
}

// Intermediate results of a few contacts, stored in columns.
template <class Lanes>
struct ChunkOf {
  // Enough groups of lanes to overlap, and so few contacts that they leave room for bodies in the level-1 cache.
  static constexpr std::size_t size = Lanes::width > 4 ? 4 * Lanes::width : 16;
  using Column = double[size];
  struct Vectors {
    Column x, y, z;
  };
  Vectors normal, midway, travel, rate, rolled, rolling_rate;  // see Touch
  Column overlap, inverse_mass, radius, turn;
  Column closeness, arm_i, arm_j;  // 1 / distance of the centres; distances of the centres from the point of contact
  Vectors spring, dashpot;         // see Pressed
  Column push, limit, stiffness_t, softness_t;
  Load actions[size];  // what is added to loads
  Load moments[size];  // moment on the first, without a force
};
template <class Lanes, class Vectors>
[[gnu::always_inline]] inline Triple<typename Lanes::Real> get(const Vectors& v, std::size_t c) {
  return {Lanes::load_lanes(v.x + c), Lanes::load_lanes(v.y + c), Lanes::load_lanes(v.z + c)};
}
template <class Lanes, class Vectors>
[[gnu::always_inline]] inline void set(Vectors& v, std::size_t c, Triple<typename Lanes::Real> value) {
  Lanes::store_lanes(value.x, v.x + c);
  Lanes::store_lanes(value.y, v.y + c);
  Lanes::store_lanes(value.z, v.z + c);
}

// The normal halfway through a step, from those at its beginning and its end; its product with either is 1. A normal
// that turns by a right angle or more in one step belongs to another contact: the result is then the normal at the end,
// so that the spring is projected onto the new tangential plane.
template <class Lanes, class Real = typename Lanes::Real>
[[gnu::always_inline]] inline Triple<Real> halfway(Triple<Real> before, Triple<Real> now) {
  const Real one = Lanes::all(1), turned = dot(before, now);
  const auto middle = (one / (one + turned)) * (before + now);
  const auto known = turned > Lanes::all(0);
  return {choose(known, middle.x, now.x), choose(known, middle.y, now.y), choose(known, middle.z, now.z)};
}

template <class Law, bool dashpots, bool extras, class Lanes>
class Passes {
 protected:
  using Real = typename Lanes::Real;
  using Chunk = ChunkOf<Lanes>;
  static constexpr std::size_t width = Lanes::width;

  explicit Passes(const ContactJob& job) : law_(job) {}

  [[nodiscard]] bool rolls() const { return extras && law_.terms.turning(); }
  [[nodiscard]] bool remembers() const { return !extras || law_.terms.history; }

  // Applies the law to all contacts of the chunk, whose springs belong to the entries entry[0], entry[1], … `uniform`:
  // their coefficients if they are equal, or null; then those from contact c on are coefficients(c). Calls
  // share(c, forces, normals) with the forces on the second bodies.
  template <class CoefficientsFrom, class Share>
  void respond_to_all(std::size_t count, const Number* entry, const Coefficients* uniform,
                      CoefficientsFrom&& coefficients, Share&& share) {
    if (uniform != nullptr) {
      const auto same = uniform_coefficients<Lanes>(*uniform);
      for (std::size_t c = 0; c < count; c += width) press_at(c, entry + c, same);
    } else {
      for (std::size_t c = 0; c < count; c += width) press_at(c, entry + c, coefficients(c));
    }
    for (std::size_t c = 0; c < count; c += width) {
      const Triple<Real> normal = get<Lanes>(chunk_.normal, c);
      share(c, hold_at(c, entry + c, normal), normal);
    }
  }
  // Stores vectors in rows that lie anywhere in memory.
  template <class RowOf>
  [[gnu::always_inline]] static void put(const Triple<Real>& value, RowOf&& row_of) {
    Lanes::scatter({value.x, value.y, value.z, Lanes::all(0)}, row_of);
  }

 private:
  [[gnu::always_inline]] void press_at(std::size_t c, const Number* entry, const LaneCoefficients<Real>& p) {
    const Triple<Real> none{Lanes::all(0), Lanes::all(0), Lanes::all(0)};
    Touch<Real> touch;
    touch.normal = get<Lanes>(chunk_.normal, c);
    touch.midway = get<Lanes>(chunk_.midway, c);
    touch.travel = get<Lanes>(chunk_.travel, c);
    touch.rate = get<Lanes>(chunk_.rate, c);
    touch.overlap = Lanes::load_lanes(chunk_.overlap + c);
    touch.inverse_mass = Lanes::load_lanes(chunk_.inverse_mass + c);
    if constexpr (Law::reads_radius || extras) touch.radius = Lanes::load_lanes(chunk_.radius + c);
    touch.turn = Lanes::load_lanes(chunk_.turn + c);
    touch.step = Lanes::all(law_.dt);
    touch.rolled = rolls() ? get<Lanes>(chunk_.rolled, c) : none;
    touch.rolling_rate = rolls() ? get<Lanes>(chunk_.rolling_rate, c) : none;
    const auto spring = remembers() ? springs_of<Lanes>(law_.springs, entry) : none;
    auto turned = rolls() ? turnings_of<Lanes>(law_.turnings, entry) : Turned<Real>{none, none.x};
    const auto pressed = press<Law, dashpots, extras, Lanes>(p, touch, law_.terms, spring, turned);
    if (rolls()) keep<Lanes>(law_.turnings, entry, turned);
    set<Lanes>(chunk_.spring, c, pressed.spring);
    if constexpr (dashpots) set<Lanes>(chunk_.dashpot, c, pressed.dashpot);
    Lanes::store_lanes(pressed.push, chunk_.push + c);
    Lanes::store_lanes(pressed.limit, chunk_.limit + c);
    Lanes::store_lanes(pressed.stiffness_t, chunk_.stiffness_t + c);
    if constexpr (Law::constant_stiffness) Lanes::store_lanes(pressed.softness_t, chunk_.softness_t + c);
    if constexpr (extras)
      put(pressed.moment, [&](std::size_t lane) -> Vec4& { return chunk_.moments[c + lane].torque; });
  }
  [[gnu::always_inline]] Forced<Real> hold_at(std::size_t c, const Number* entry, const Triple<Real>& normal) {
    const Triple<Real> none{Lanes::all(0), Lanes::all(0), Lanes::all(0)};
    Pressed<Real> pressed;
    pressed.spring = get<Lanes>(chunk_.spring, c);
    pressed.dashpot = dashpots ? get<Lanes>(chunk_.dashpot, c) : none;
    pressed.push = Lanes::load_lanes(chunk_.push + c);
    pressed.limit = Lanes::load_lanes(chunk_.limit + c);
    pressed.stiffness_t = Lanes::load_lanes(chunk_.stiffness_t + c);
    pressed.softness_t = Law::constant_stiffness ? Lanes::load_lanes(chunk_.softness_t + c) : none.x;
    const auto forced = hold<Law, dashpots, Lanes>(pressed, normal);
    if (remembers()) keep<Lanes>(law_.springs, entry, pressed.spring);
    return forced;
  }

 protected:
  const ContactJob law_;  // a local copy: stores cannot alias it
  Chunk chunk_;
};

}  // namespace
}  // namespace vicinal::dem
