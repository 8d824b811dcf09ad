// The loops, four lanes wide, for NEON.
#include "dem/kernel_table.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes_neon.hpp"

namespace vicinal::dem {

constinit const GrainKernels neon_kernels = kernels_of<FourLanes, FourLanes>();

}  // namespace vicinal::dem
