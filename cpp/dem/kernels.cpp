// The loops for any processor, and the selection of the instruction set.
#include "dem/kernels.hpp"

#include "dem/kernel_table.hpp"
#include "dem/lanes.hpp"
#include "exec/isa.hpp"

namespace vicinal::dem {

const Kernels baseline_kernels = kernels_of<>();

const Kernels& kernels() { return VICINAL_OF_ISA(kernels); }

}  // namespace vicinal::dem
