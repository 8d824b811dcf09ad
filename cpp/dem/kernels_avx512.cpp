// The loops, eight lanes wide. Compiled for AVX-512, called only where the processor has it.
#include "exec/avx512.hpp"

#include "dem/kernel_table.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes_avx512.hpp"
#include "dem/lanes_twice.hpp"

namespace vicinal::dem {

// constinit: no code of this file may run at start-up, since the processor may lack AVX-512. A remainder of fewer than
// eight contacts is processed in four lanes.
constinit const GrainKernels avx512_kernels = kernels_of<Twice<EightLanes>, EightLanes, FourLanes>();

}  // namespace vicinal::dem
