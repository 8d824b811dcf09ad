// The choice among the instruction sets.
#include "dem/kernels.hpp"

#include "exec/of_isa.hpp"

namespace vicinal::dem {

const GrainKernels& kernels() { return VICINAL_OF_ISA(kernels); }

}  // namespace vicinal::dem
