// The choice among the instruction sets.
#include "pairs/sum_kernels.hpp"

#include "exec/of_isa.hpp"

namespace vicinal {

const SumKernels& sum_kernels() { return VICINAL_OF_ISA(sum_kernels()); }

}  // namespace vicinal
