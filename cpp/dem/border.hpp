// The exchange with other ranks in every step: which rows are sent, which rows are ghosts, and the buffers of messages.
// Ghosts drift on their own, so only velocities, spins and their changes travel. Their state is kept here, side by
// side: the loops over rows treat ghosts like other bodies, with forces that are not complete, and what they compute
// for them is replaced afterwards. Skipping ghosts would cut these loops into short pieces.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/bodies.hpp"

namespace vicinal::dem {

class Border {
 public:
  // Sends `outgoing`, fills `incoming`, and replaces the numbers in `agreed` by the largest of all ranks. May set the
  // last of them above 0 to ask all ranks to stop after the step that has begun.
  std::function<void()> exchange;
  // Replaces the numbers in `agreed` only.
  std::function<void()> agree;
  std::array<double, 4> agreed{};
  std::vector<double> outgoing, incoming;
  Bodies ghosts;  // in the order in which they arrive; only columns that change in a step, and inertias

  [[nodiscard]] bool used() const { return exchange != nullptr; }
  // Numbers per body. Bodies that are not round have an angular momentum in addition.
  [[nodiscard]] std::size_t width() const { return width_; }

  // `sent`: own rows in the order of the message; `arriving`: rows of ghosts in the order in which they arrive.
  void set(const Bodies& bodies, std::span<const Number> sent, std::span<const Number> arriving, bool all_round) {
    width_ = all_round ? 12 : 18;
    sent_.resize(sent.size());
    for (std::size_t slot = 0; slot < sent.size(); ++slot) sent_[slot] = {sent[slot], slot};
    std::sort(sent_.begin(), sent_.end(), [](const Sent& a, const Sent& b) { return a.row < b.row; });
    rows_.assign(arriving.begin(), arriving.end());
    outgoing.assign(width_ * sent.size(), 0.0);
    incoming.assign(width_ * arriving.size(), 0.0);
    each_column(ghosts, bodies, [&](auto& to, const auto& from) {
      to.clear();
      for (const Number row : rows_) to.push_back(from[row]);
    });
  }
  // Puts the motion of a range of rows into the message.
  void pack(const Bodies& bodies, std::size_t begin, std::size_t end) {
    auto one = std::lower_bound(sent_.begin(), sent_.end(), begin,
                                [](const Sent& sent, std::size_t row) { return sent.row < row; });
    for (; one != sent_.end() && one->row < end; ++one) {
      double* const to = outgoing.data() + width_ * one->slot;
      const Motion& m = bodies.motions[one->row];
      const Vec parts[4] = {m.v, m.w, m.dv, m.dw};
      for (std::size_t k = 0; k < 4; ++k) put(to + 3 * k, parts[k]);
      if (width_ == 12) continue;
      put(to + 12, bodies.momenta[one->row]);
      put(to + 15, bodies.half_impulses[one->row]);
    }
  }
  // Gives the ghosts the motion that has arrived.
  void unpack() {
    for (std::size_t slot = 0; slot < rows_.size(); ++slot) {
      const double* const from = incoming.data() + width_ * slot;
      Motion& m = ghosts.motions[slot];
      m.v = at(from), m.w = at(from + 3), m.dv = at(from + 6), m.dw = at(from + 9);
      if (width_ == 12) continue;
      ghosts.momenta[slot] = at(from + 12);
      ghosts.half_impulses[slot] = at(from + 15);
    }
  }
  // The largest speed of a ghost in the next half step.
  [[nodiscard]] double fastest() const {
    double square = 0;
    for (const Motion& m : ghosts.motions) {
      const Vec next = Vec(m.v) + Vec(m.dv);
      square = std::max(square, dot(next, next));
    }
    return std::sqrt(square);
  }
  // Copies the state of ghosts to their rows.
  void place(Bodies& bodies) const {
    for (std::size_t slot = 0; slot < rows_.size(); ++slot) {
      bodies.places[rows_[slot]] = ghosts.places[slot];
      bodies.motions[rows_[slot]] = ghosts.motions[slot];
      bodies.orientations[rows_[slot]] = ghosts.orientations[slot];
    }
    if (width_ == 12) return;
    for (std::size_t slot = 0; slot < rows_.size(); ++slot) {
      bodies.momenta[rows_[slot]] = ghosts.momenta[slot];
      bodies.half_impulses[rows_[slot]] = ghosts.half_impulses[slot];
    }
  }

 private:
  template <class F>
  static void each_column(Bodies& to, const Bodies& from, F&& f) {
    f(to.places, from.places);
    f(to.motions, from.motions);
    f(to.orientations, from.orientations);
    f(to.inertias, from.inertias);
    f(to.momenta, from.momenta);
    f(to.half_impulses, from.half_impulses);
  }
  struct Sent {
    std::size_t row, slot;
  };
  static Vec at(const double* from) { return {from[0], from[1], from[2]}; }
  static void put(double* to, Vec a) { to[0] = a.x, to[1] = a.y, to[2] = a.z; }

  std::size_t width_ = 12;
  std::vector<Sent> sent_;    // sorted by row
  std::vector<Number> rows_;  // of ghosts
};

}  // namespace vicinal::dem
