// The choice among the instruction sets.
#include "geometry/wrap_kernel.hpp"

#include "exec/of_isa.hpp"

namespace vicinal {

const WrapKernels& wrap_kernels() { return VICINAL_OF_ISA(wrap_kernels()); }

}  // namespace vicinal
