// The loops with 16 floats in one register. Compiled for AVX-512, called only where the processor has it.
#include "exec/avx512.hpp"

#include "sph/lanes_avx512.hpp"
#include "sph/loop_table.hpp"

namespace vicinal::sph {

// constinit: nothing of this file may run when the program starts.
constinit const LoopTable<float> avx512_loops = table_of<SixteenLanes>();
constinit const LoopTable<double> avx512_double_loops = table_of<PlainLanes<double>>();

}  // namespace vicinal::sph
