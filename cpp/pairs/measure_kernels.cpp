// The choice among the instruction sets.
#include "pairs/measure_kernels.hpp"

#include "exec/of_isa.hpp"

namespace vicinal {

const MeasureKernels& measure_kernels() { return VICINAL_OF_ISA(measure_kernels()); }

}  // namespace vicinal
