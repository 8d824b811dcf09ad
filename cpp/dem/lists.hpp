// The lists of possible contacts, and how long they last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dem/assembly.hpp"
#include "dem/pair_list.hpp"
#include "rows/drift.hpp"
#include "rows/rows.hpp"

namespace vicinal::dem {

// The largest speeds of bodies in the next half step: lengths per time, and margins per time.
struct Speed {
  double most = 0, in_margins = 0;
  bool finite = true;  // speeds and spins of all bodies are
};
inline Speed larger(Speed a, Speed b) {
  return {std::max(a.most, b.most), std::max(a.in_margins, b.in_margins), a.finite && b.finite};
}

class Lists {
 public:
  explicit Lists(Assembly& assembly) : assembly_(assembly) {}

  ContactRows pairs, walls;                     // rows of elements: other elements, primitives of walls
  ContactHistory stashed_pairs, stashed_walls;  // contacts that wait for the next lists

  // Rows of elements that may touch (indices above the row, ascending), and of primitives of walls. `centres` are the
  // positions for which the lists were made, and `margins` how far each element may move from there before the lists
  // must be made again. All elements of a body have the same margin. Walls have one together, of which they have used
  // `wall_drift`.
  void set(const RowsView& pair_rows, const RowsView& wall_rows, std::span<const double> centres,
           std::span<const double> margins, double wall_margin, double wall_drift);
  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] std::size_t size() const { return pairs.size() + walls.size(); }
  // The centres and margins of the lists.
  [[nodiscard]] std::span<const double> built_centres() const { return watch_.positions(); }
  [[nodiscard]] std::span<const double> margins() const { return margins_.span(); }
  [[nodiscard]] const double* inverse_margins() const { return inverse_margins_.data(); }  // of every body
  [[nodiscard]] double wall_margin() const { return wall_margin_; }
  [[nodiscard]] double wall_drift() const { return wall_drift_; }

  // Puts what contacts remember aside and drops the lists; contacts find their entries again in the next lists.
  void stash();
  // What contacts remember: of pairs, and of walls.
  [[nodiscard]] ContactHistory pair_history() const { return ready_ ? pairs.history() : stashed_pairs; }
  [[nodiscard]] ContactHistory wall_history() const { return ready_ ? walls.history() : stashed_walls; }
  // Keeps the given rows of bodies of the assembly, in the given order. The lists are dropped.
  void take(std::span<const Number> rows);
  // The number of contacts, with bodies and walls, in the last step.
  [[nodiscard]] std::size_t contacts() const;

  // Whether the lists hold all contacts for another step of a length of time.
  [[nodiscard]] bool last(Speed next, double dt);
  // Bodies and walls have moved for a step.
  void moved(Speed speed, double dt) {
    bound_.advance(speed.in_margins * dt);
    wall_drift_ += assembly_.wall_speed * dt;
  }

 private:
  [[nodiscard]] double largest_share_used() const;

  Assembly& assembly_;
  DriftWatch<double, 3> watch_;         // of every element
  Buffer<double> margins_;              // of every element
  DriftBound bound_;                    // of the share of a margin that is used up
  HugeVector<double> inverse_margins_;  // of every body
  bool ready_ = false;
  double wall_margin_ = 0;  // of walls,
  double wall_drift_ = 0;   // and the part used
};

}  // namespace vicinal::dem
