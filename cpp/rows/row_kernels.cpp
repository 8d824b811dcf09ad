// The choice among the instruction sets.
#include "rows/row_kernels.hpp"

#include "exec/of_isa.hpp"

namespace vicinal {

const SortKernels& row_kernels() { return VICINAL_OF_ISA(row_kernels()); }

}  // namespace vicinal
