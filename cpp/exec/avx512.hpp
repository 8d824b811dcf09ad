// The intrinsics of AVX-512, or plain C in their place, so that the files that use them can be tested on machines
// without AVX-512. Only files compiled for AVX-512 include this, before other headers.
#pragma once

#ifdef VICINAL_EMULATE_AVX512
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
namespace vicinal {
using Mask16 = simde__mmask16;
using Mask8 = simde__mmask8;
}  // namespace vicinal
#else
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 warns about the undefined operand inside its own intrinsics (bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
namespace vicinal {
using Mask16 = __mmask16;
using Mask8 = __mmask8;
}  // namespace vicinal
#endif
