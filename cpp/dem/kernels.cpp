// The loops for any processor, and the choice among all.
#include "dem/kernels.hpp"

#include "dem/kernel_table.hpp"
#include "dem/lanes.hpp"
#include "exec/isa.hpp"

namespace vicinal::dem {

const Kernels baseline_kernels = kernels_of<OneLane>();

const Kernels& kernels() {
#ifdef VICINAL_X86
  if (isa_setting() != Isa::baseline) return avx2_kernels;
#endif
  return baseline_kernels;
}

}  // namespace vicinal::dem
