// The loops with 16 floats in one register. Compiled for AVX-512, called only where the processor has it.
#ifdef VICINAL_EMULATE_AVX512
// Plain C in place of the instructions, so that this file is tested on machines that lack them.
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#else
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the undefined operands inside its own intrinsics for uninitialised variables.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif

#include "sph/lanes_avx512.hpp"
#include "sph/loop_table.hpp"

namespace vicinal::sph {

// constinit: nothing of this file may run when the program starts.
constinit const LoopTable avx512_loops = table_of<SixteenLanes>();

}  // namespace vicinal::sph
