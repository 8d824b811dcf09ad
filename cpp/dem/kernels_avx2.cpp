// The loops, four lanes wide. Compiled for AVX2, called only where the processor has it.
#include <immintrin.h>

#include "dem/kernel_table.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes_avx2.hpp"

namespace vicinal::dem {

// constinit: no code of this file may run at start-up, since the processor may lack AVX2.
constinit const GrainKernels avx2_kernels = kernels_of<FourLanes, FourLanes>();

}  // namespace vicinal::dem
