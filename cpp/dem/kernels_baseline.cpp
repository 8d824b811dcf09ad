// The loops for any processor.
#include "dem/kernel_table.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"

namespace vicinal::dem {

const GrainKernels baseline_kernels = kernels_of<OneLane>();

}  // namespace vicinal::dem
