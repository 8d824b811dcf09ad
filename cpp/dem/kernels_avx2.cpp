// The loops, four lanes wide. Compiled for AVX2, called only where the processor has it.
#include <immintrin.h>

#include "dem/kernel_table.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes_avx2.hpp"

namespace vicinal::dem {

// constinit: nothing of this file may run when the program starts.
constinit const Kernels avx2_kernels = kernels_of<FourLanes>();

}  // namespace vicinal::dem
