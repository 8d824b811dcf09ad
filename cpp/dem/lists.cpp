#include "dem/lists.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vicinal::dem {

void Lists::stash() {
  if (!ready_) return;
  stashed_pairs = pairs.history();
  stashed_walls = walls.history();
  ready_ = false;
}

void Lists::take(std::span<const Number> rows) {
  stash();
  const std::vector<Number> element_rows = assembly_.element_rows(rows);
  std::vector<Number> now(assembly_.element_places().size(), no_number);
  for (std::size_t k = 0; k < element_rows.size(); ++k) now[element_rows[k]] = static_cast<Number>(k);

  renumber(now, [](Number, Number) { return true; }, [](Number) { return true; });
  assembly_.take(rows);
}

void Lists::set(const RowsView& pair_rows, const RowsView& wall_rows, std::span<const double> centres,
                std::span<const double> margins, double wall_margin, double wall_drift) {
  stash();
  const bool turning = assembly_.law.terms().turning(), shapes = assembly_.any_convex;
  pairs.set(pair_rows, turning, shapes, shapes, stashed_pairs);
  walls.set(wall_rows, turning, true, shapes, stashed_walls);
  stashed_pairs.clear();
  stashed_walls.clear();
  watch_.remember(centres, {}, 0, false);  // bodies are wrapped only when lists are built, so no displacement jumps
  margins_.reset(margins.size());
  std::copy(margins.begin(), margins.end(), margins_.data());
  wall_margin_ = wall_margin;
  wall_drift_ = wall_drift;
  inverse_margins_.resize(assembly_.bodies.size());
  const Elements& elements = assembly_.elements;
  for (std::size_t b = 0; b < inverse_margins_.size(); ++b)
    inverse_margins_[b] =
        assembly_.bodies.ghosts[b] != 0 ? 0 : 1.0 / margins_[elements.used() ? elements.offsets[b] : b];
  bound_.start(std::numeric_limits<double>::infinity());  // measured when it is first needed
  ready_ = true;
}

std::size_t Lists::contacts() const {
  std::size_t count = 0;
  for (std::size_t k = 0; k < pairs.size(); ++k)
    count += pairs.active()[k] != 0 && assembly_.bodies.ghosts[assembly_.body_of(pairs.owners()[k])] == 0 ? 1 : 0;
  for (std::size_t k = 0; k < walls.size(); ++k) count += walls.active()[k];
  return count;
}

double Lists::largest_share_used() const {
  const Assembly::Acting act = assembly_.acting();
  std::vector<double> centres(3 * act.size);
  for (std::size_t e = 0; e < act.size; ++e) {
    const Vec at = centre(act.places[e]);
    centres[3 * e] = at.x, centres[3 * e + 1] = at.y, centres[3 * e + 2] = at.z;
  }
  return std::sqrt(watch_.drift_each(centres, [&](std::size_t e) { return margins_[e]; }).share);
}

}  // namespace vicinal::dem
