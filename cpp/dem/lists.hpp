// The lists of possible contacts, and the check that they are still valid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "dem/assembly.hpp"
#include "dem/pair_list.hpp"
#include "rows/drift.hpp"
#include "rows/rows.hpp"

namespace vicinal::dem {

// The largest speeds of bodies in the next half step, in lengths per time and in margins per time.
struct Speed {
  double most = 0, in_margins = 0;
  bool finite = true;  // whether the velocities and spins of all bodies are finite
};
inline Speed larger(Speed a, Speed b) {
  return {std::max(a.most, b.most), std::max(a.in_margins, b.in_margins), a.finite && b.finite};
}

class Lists {
 public:
  explicit Lists(Assembly& assembly) : assembly_(assembly) {}

  ContactRows pairs, walls;                     // one row per element: other elements; primitives of walls
  ContactHistory stashed_pairs, stashed_walls;  // history of contacts until the next lists are set

  // Sets the rows of elements that may touch (indices above the row, ascending) and of primitives of walls. The lists
  // were built for the positions `centres` and are valid until an element has moved from there by more than its margin.
  // All elements of a body have the same margin. All walls share `wall_margin`, of which `wall_drift` is used up.
  void set(const RowsView& pair_rows, const RowsView& wall_rows, std::span<const double> centres,
           std::span<const double> margins, double wall_margin, double wall_drift);
  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] std::size_t size() const { return pairs.size() + walls.size(); }
  // The positions for which the lists were built, and the margins.
  [[nodiscard]] std::span<const double> built_centres() const { return watch_.positions(); }
  [[nodiscard]] std::span<const double> margins() const { return margins_.span(); }
  // Per body; 0 for ghosts, which the rank that owns them watches.
  [[nodiscard]] const double* inverse_margins() const { return inverse_margins_.data(); }
  [[nodiscard]] double wall_margin() const { return wall_margin_; }
  [[nodiscard]] double wall_drift() const { return wall_drift_; }

  // Saves the history of all contacts and drops the lists. The next lists take the history over.
  void stash();
  // The history of contacts between elements, and with walls.
  [[nodiscard]] ContactHistory pair_history() const { return ready_ ? pairs.history() : stashed_pairs; }
  [[nodiscard]] ContactHistory wall_history() const { return ready_ ? walls.history() : stashed_walls; }
  // Drops the lists, and keeps the given rows of bodies of the assembly in the given order.
  void take(std::span<const Number> rows);
  // Gives the elements in the history their new numbers: `now` by former number, `no_number` for those that are gone.
  // Keeps only contacts for which keep_pair(first, second) or keep_wall(first) is true.
  template <class KeepPair, class KeepWall>
  void renumber(std::span<const Number> now, KeepPair&& keep_pair, KeepWall&& keep_wall) {
    stashed_pairs.renumber([&](Number& first, Number& second, ContactMemory& memory) {
      first = now[first];
      second = now[second];
      if (first == no_number || second == no_number || !keep_pair(first, second)) return false;
      if (first > second) {  // the two have changed places, so springs and normals change sign
        std::swap(first, second);
        memory.reverse();
      }
      return true;
    });
    stashed_walls.renumber([&](Number& first, Number&, ContactMemory&) {
      first = now[first];
      return first != no_number && keep_wall(first);
    });
  }
  // The number of contacts, with bodies and walls, in the last step; those of two ghosts do not count, and those with a
  // ghost only if the first is an own body, so that no contact is counted on two ranks.
  [[nodiscard]] std::size_t contacts() const;

  // Whether the lists hold all contacts of the present positions. of_all(share): the largest share of a margin that is
  // used up on any rank.
  template <class OfAll>
  [[nodiscard]] bool valid(OfAll&& of_all) {
    return wall_drift_ <= wall_margin_ && bound_.lasts(0, [&] { return of_all(largest_share_used()); });
  }
  // Records that bodies and walls have moved for one step.
  void moved(Speed speed, double dt) {
    bound_.advance(speed.in_margins * dt);
    wall_drift_ += assembly_.wall_speed * dt;
  }

 private:
  [[nodiscard]] double largest_share_used() const;

  Assembly& assembly_;
  DriftWatch<double, 3> watch_;         // positions of elements
  Buffer<double> margins_;              // per element
  DriftBound bound_;                    // of the fraction of a margin that is used up
  HugeVector<double> inverse_margins_;  // per body
  bool ready_ = false;
  double wall_margin_ = 0;  // shared by all walls
  double wall_drift_ = 0;   // the part of it that is used up
};

}  // namespace vicinal::dem
