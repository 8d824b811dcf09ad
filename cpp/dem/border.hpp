// The exchange with other ranks in every step: which rows are sent, and which rows are ghosts. Of a sphere only the
// changes of its velocity and spin travel, because cores take long to fetch what another one has written: its ghosts
// add them up and move as the sphere itself does. The loops over rows treat ghosts like other bodies, with forces that
// are not complete, and what they compute for them is replaced afterwards. Skipping ghosts would cut these loops into
// short pieces.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/bodies.hpp"
#include "distributed/exchange.hpp"
#include "exec/memory.hpp"

namespace vicinal::dem {

class Border {
 public:
  Exchange* exchange = nullptr;  // while ranks advance together

  [[nodiscard]] bool used() const { return exchange != nullptr; }

  // What is sent of spheres: their velocities; the changes with which they have drifted; or these changes, which were
  // also the last part of the step before. Other shapes send all of their motion.
  enum class Sends { velocities, drift, kick };

  // `sent`: own rows in the order of the message; `arriving`: rows of ghosts, rank by rank, `counts` of each.
  // `turning`: orientations travel, too, which is needed unless all bodies are spheres.
  void set(const GrainBodies& bodies, std::span<const Number> sent, std::span<const Number> arriving,
           std::span<const std::size_t> counts, bool turning) {
    turning_ = turning;
    sent_.resize(sent.size());
    for (std::size_t slot = 0; slot < sent.size(); ++slot) sent_[slot] = {sent[slot], slot};
    std::sort(sent_.begin(), sent_.end(), [](const Sent& a, const Sent& b) { return a.row < b.row; });
    rows_.assign(arriving.begin(), arriving.end());
    counts_.assign(counts.begin(), counts.end());
    ghosts_.clear();
    for (const Number row : rows_)
      ghosts_.push_back({bodies.places[row], bodies.motions[row].v, bodies.motions[row].w});
  }
  // Bytes of the message per body.
  [[nodiscard]] std::size_t width() const { return turning_ ? sizeof(Motion) + sizeof(Quat) : sizeof(Rates); }
  // The first body of the message, in the order of rows, whose row is not below this one.
  [[nodiscard]] std::size_t first_from(std::size_t row) const {
    return static_cast<std::size_t>(std::lower_bound(sent_.begin(), sent_.end(), row,
                                                     [](const Sent& sent, std::size_t at) { return sent.row < at; }) -
                                    sent_.begin());
  }
  // Puts the motion of rows before `end` into the message, from this body on; returns the next one.
  std::size_t pack(const GrainBodies& bodies, Sends sends, std::size_t body, std::size_t end) {
    // Another rank has read this memory since it was last written, so the processor has to ask for it.
    constexpr std::size_t ahead = 16;
    std::byte* const message = exchange->outgoing();
    for (; body < sent_.size() && sent_[body].row < end; ++body) {
      if (body + ahead < sent_.size()) {
        const std::byte* const later = message + width() * sent_[body + ahead].slot;
        for (std::size_t line = 0; line < width(); line += cache_line) claim(later + line);
      }
      std::byte* const to = message + width() * sent_[body].slot;
      const Motion& m = bodies.motions[sent_[body].row];
      if (turning_) {
        std::memcpy(to, &m, sizeof m);
        std::memcpy(to + sizeof m, &bodies.orientations[sent_[body].row], sizeof(Quat));
      } else {
        std::memcpy(to, sends == Sends::velocities ? &m.v : &m.dv, sizeof(Rates));
      }
    }
    return body;
  }
  // Gives the ghosts the motion that has arrived. `dt`: how far they move, 0 if they stay. Returns the largest speed of
  // a ghost.
  double unpack(GrainBodies& bodies, Sends sends, double dt) {
    if (turning_)
      return unpack_each(bodies,
                         [&](const std::byte* from, Ghost& ghost, Number row) { turn(bodies, from, ghost, row, dt); });
    if (sends == Sends::velocities)
      return unpack_each(bodies, [&](const std::byte* from, Ghost& ghost, Number row) {
        const auto [v, w] = read<Rates>(from);
        ghost.v = v, ghost.w = static_cast<Vec>(w);
        bodies.motions[row] = {ghost.v, ghost.w, {}, {}};
        bodies.places[row] = ghost.place;
      });
    const int times = (sends == Sends::kick ? 1 : 0) + (dt != 0 ? 1 : 0);
    return unpack_each(bodies, [&](const std::byte* from, Ghost& ghost, Number row) {
      const auto change = read<Rates>(from);
      for (int time = 0; time < times; ++time) add(ghost.v, change.v), add(ghost.w, change.w);
      if (dt != 0) add(ghost.place, ghost.v, dt);
      bodies.motions[row] = {ghost.v, ghost.w, change.v, change.w};
      bodies.places[row] = ghost.place;
    });
  }

 private:
  // Velocities of a sphere, or their changes; in one cache line.
  struct Rates {
    Vec4 v, w;
  };
  struct Sent {
    std::size_t row, slot;
  };
  // What a ghost would have without the loops over rows.
  struct Ghost {
    Place place;
    Vec4 v;
    Spin w;
  };
  template <class T>
  static T read(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  // to + scale × change, four numbers at a time as in the loops over rows (half_steps.hpp). That of a change is 0.
  template <FourWide T>
  static void add(T& to, const Vec4& change, double scale = 1) {
    using Four = std::array<double, 4>;
    auto sum = std::bit_cast<Four>(to);
    const auto more = std::bit_cast<Four>(change);
    for (std::size_t c = 0; c < 4; ++c) sum[c] += scale * more[c];
    to = std::bit_cast<T>(sum);
  }
  // A ghost that may be of any shape. Only the rank that owns the body adds its impulses up.
  static void turn(GrainBodies& bodies, const std::byte* from, Ghost& ghost, Number row, double dt) {
    Motion& m = bodies.motions[row];
    m = read<Motion>(from);
    bodies.orientations[row] = read<Quat>(from + sizeof m);
    bodies.momenta[row] = bodies.half_impulses[row] = Vec{};
    ghost.v = m.v;
    if (dt != 0) add(ghost.place, m.v, dt);
    bodies.places[row] = ghost.place;
  }
  // Calls f(what has arrived, ghost, row) for every ghost. Returns the largest speed.
  template <class F>
  double unpack_each(const GrainBodies& bodies, F&& f) {
    constexpr std::size_t ahead = 8;  // ghosts; their rows have left the caches of this core
    double fastest = 0;               // square
    for (std::size_t rank = 0, slot = 0; rank < counts_.size(); ++rank) {
      if (counts_[rank] == 0) continue;
      const std::byte* from = exchange->incoming(rank);
      for (const std::size_t end = slot + counts_[rank]; slot < end; ++slot, from += width()) {
        if (slot + ahead < end) {
          const Number later = rows_[slot + ahead];
          claim(&bodies.motions[later].v);
          claim(&bodies.motions[later].dv);
          claim(&bodies.places[later]);
        }
        f(from, ghosts_[slot], rows_[slot]);
        fastest = std::max(fastest, dot(ghosts_[slot].v, ghosts_[slot].v));
      }
    }
    return std::sqrt(fastest);
  }

  bool turning_ = false;
  std::vector<Sent> sent_;           // sorted by row
  std::vector<Number> rows_;         // of ghosts
  std::vector<std::size_t> counts_;  // of ghosts, per rank
  std::vector<Ghost> ghosts_;
};

}  // namespace vicinal::dem
