// The loops, eight lanes wide. Compiled for AVX-512, called only where the processor has it.
#ifdef VICINAL_EMULATE_AVX512
// Emulates the instructions in plain C, so that this file can be tested on machines without AVX-512.
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#else
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 warns about uninitialised variables inside its own intrinsics.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif

#include "dem/kernel_table.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes_avx512.hpp"

namespace vicinal::dem {

// constinit: no code of this file may run at start-up, since the processor may lack AVX-512. A remainder of fewer than
// eight contacts is processed in four lanes.
constinit const Kernels avx512_kernels = kernels_of<EightLanes, FourLanes>();

}  // namespace vicinal::dem
