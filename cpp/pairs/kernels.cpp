// The choice among the instruction sets.
#include "pairs/kernels.hpp"

#include "exec/of_isa.hpp"
#include "pairs/nearest_kernels.hpp"

namespace vicinal {

const Kernels& kernels() { return VICINAL_OF_ISA(kernels()); }
const NearestKernels& nearest_kernels() { return VICINAL_OF_ISA(nearest_kernels()); }

}  // namespace vicinal
