// The loops for any processor.
#include "sph/loop_table.hpp"

namespace vicinal::sph {

constinit const LoopTable baseline_loops = table_of<PlainLanes<float>>();

}  // namespace vicinal::sph
