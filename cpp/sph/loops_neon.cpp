// The loops with 16 floats in four registers, for NEON.
#include "sph/lanes_neon.hpp"
#include "sph/loop_table.hpp"

namespace vicinal::sph {

constinit const LoopTable<float> neon_loops = table_of<FourFoursLanes>();

}  // namespace vicinal::sph
