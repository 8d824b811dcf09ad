// The loops with 16 floats in two registers. Compiled for AVX2, called only where the processor has it.
#include <immintrin.h>

#include "sph/lanes_avx2.hpp"
#include "sph/loop_table.hpp"

namespace vicinal::sph {

// constinit: nothing of this file may run when the program starts.
constinit const LoopTable<float> avx2_loops = table_of<TwoEightsLanes>();

}  // namespace vicinal::sph
