// The loops, eight lanes wide. Compiled for AVX-512, called only where the processor has it.
#ifdef VICINAL_EMULATE_AVX512
// Plain C in place of the instructions, so that this file is tested on machines that lack them.
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#else
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the undefined operands inside its own intrinsics for uninitialised variables.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif

#include "dem/kernel_table.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes_avx512.hpp"

namespace vicinal::dem {

// constinit: nothing of this file may run when the program starts. What does not fill eight lanes is done in four.
constinit const Kernels avx512_kernels = kernels_of<EightLanes, FourLanes>();

}  // namespace vicinal::dem
