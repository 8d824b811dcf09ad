// A simulation of grains: the assembly, its lists, forces and clock.
#pragma once

#include <span>

#include "dem/assembly.hpp"
#include "dem/clock.hpp"
#include "dem/forces.hpp"
#include "dem/lists.hpp"
#include "dem/migration.hpp"

namespace vicinal::dem {

struct Simulation {
  Assembly assembly;
  Lists lists{assembly};
  Forces forces{assembly, lists};
  Clock clock{assembly, lists, forces};
  Migration migration{assembly, lists};

  // See Lists::set.
  void set_lists(const RowsView& pairs, const RowsView& walls, std::span<const double> centres,
                 std::span<const double> margins, double wall_margin, double wall_drift) {
    lists.set(pairs, walls, centres, margins, wall_margin, wall_drift);
    assembly.describe_elements();
    forces.prepare();
    clock.prepare();
  }

  Simulation() = default;
  Simulation(const Simulation&) = delete;  // the parts refer to each other
  Simulation& operator=(const Simulation&) = delete;
};

}  // namespace vicinal::dem
