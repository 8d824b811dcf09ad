// The loops for any processor, and the selection of the instruction set.
#include "dem/kernels.hpp"

#include "dem/kernel_table.hpp"
#include "dem/lanes.hpp"
#include "exec/isa.hpp"

namespace vicinal::dem {

const Kernels baseline_kernels = kernels_of<>();

const Kernels& kernels() {
#ifdef VICINAL_X86
  switch (isa_setting()) {
    case Isa::avx512: return avx512_kernels;
    case Isa::avx2: return avx2_kernels;
    case Isa::baseline: break;
  }
#endif
  return baseline_kernels;
}

}  // namespace vicinal::dem
