// The exchange with other ranks in every step: which rows are sent, and which rows are ghosts. The motion of bodies
// travels after they have drifted; ghosts are moved with the velocities that arrive, so their positions need not
// travel. The loops over rows treat ghosts like other bodies, with forces that are not complete, and what they compute
// for them is replaced afterwards. Skipping ghosts would cut these loops into short pieces.
#pragma once

#include <algorithm>
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
    places_.clear();
    for (const Number row : rows_) places_.push_back(bodies.places[row]);
  }
  // Bytes of the message per body.
  [[nodiscard]] std::size_t width() const { return sizeof(Motion) + (turning_ ? sizeof(Quat) : 0); }
  // The first body of the message, in the order of rows, whose row is not below this one.
  [[nodiscard]] std::size_t first_from(std::size_t row) const {
    return static_cast<std::size_t>(std::lower_bound(sent_.begin(), sent_.end(), row,
                                                     [](const Sent& sent, std::size_t at) { return sent.row < at; }) -
                                    sent_.begin());
  }
  // Puts the motion of rows before `end` into the message, from this body on; returns the next one.
  std::size_t pack(const GrainBodies& bodies, std::size_t body, std::size_t end) {
    // Another rank has read this memory since it was last written, so the processor has to ask for it.
    constexpr std::size_t ahead = 16;
    std::byte* const message = exchange->outgoing();
    for (; body < sent_.size() && sent_[body].row < end; ++body) {
      if (body + ahead < sent_.size()) {
        const std::byte* const later = message + width() * sent_[body + ahead].slot;
        for (std::size_t line = 0; line < width(); line += cache_line) claim(later + line);
      }
      std::byte* const to = message + width() * sent_[body].slot;
      std::memcpy(to, &bodies.motions[sent_[body].row], sizeof(Motion));
      if (turning_) std::memcpy(to + sizeof(Motion), &bodies.orientations[sent_[body].row], sizeof(Quat));
    }
    return body;
  }
  // Gives the ghosts the motion that has arrived. `dt`: how far they move, 0 if they stay. Returns the largest speed of
  // a ghost.
  double unpack(GrainBodies& bodies, double dt) {
    return turning_ ? unpack_all<true>(bodies, dt) : unpack_all<false>(bodies, dt);
  }

 private:
  template <bool turning>
  double unpack_all(GrainBodies& bodies, double dt) {
    double fastest = 0;  // square
    for (std::size_t rank = 0, slot = 0; rank < counts_.size(); ++rank) {
      if (counts_[rank] == 0) continue;
      const std::byte* from = exchange->incoming(rank);
      for (const std::size_t end = slot + counts_[rank]; slot < end; ++slot, from += width()) {
        const Number row = rows_[slot];
        Motion& m = bodies.motions[row];
        std::memcpy(&m, from, sizeof m);
        fastest = std::max(fastest, dot(m.v, m.v));
        Place& place = places_[slot];
        if (dt != 0) place.x += dt * m.v.x, place.y += dt * m.v.y, place.z += dt * m.v.z;
        bodies.places[row] = place;
        if constexpr (turning) {
          std::memcpy(&bodies.orientations[row], from + sizeof m, sizeof(Quat));
          // Only the rank that owns the body adds its impulses up.
          bodies.momenta[row] = bodies.half_impulses[row] = Vec{};
        }
      }
    }
    return std::sqrt(fastest);
  }
  struct Sent {
    std::size_t row, slot;
  };
  bool turning_ = false;
  std::vector<Sent> sent_;           // sorted by row
  std::vector<Number> rows_;         // of ghosts
  std::vector<std::size_t> counts_;  // of ghosts, per rank
  std::vector<Place> places_;        // of ghosts
};

}  // namespace vicinal::dem
