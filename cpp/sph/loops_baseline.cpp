// The loops for any processor.
#include "sph/loop_table.hpp"

namespace vicinal::sph {

constinit const LoopTable<float> baseline_loops = table_of<PlainLanes<float>>();
constinit const LoopTable<double> baseline_double_loops = table_of<PlainLanes<double>>();

}  // namespace vicinal::sph
