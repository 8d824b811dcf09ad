// The choice among tables of functions that are compiled once per instruction set. Only the units in `per_machine`
// (CMakeLists.txt) may include this: they alone know which instruction sets are compiled.
#pragma once

#include "exec/isa.hpp"

// VICINAL_OF_ISA(table) is baseline_table, or the same with the name of the instruction set in use.
#ifdef VICINAL_X86
#define VICINAL_OF_ISA(table) \
  (isa_in_use() == Isa::avx512 ? avx512_##table : isa_in_use() == Isa::avx2 ? avx2_##table : baseline_##table)
#elif defined(VICINAL_NEON)
#define VICINAL_OF_ISA(table) (isa_in_use() == Isa::neon ? neon_##table : baseline_##table)
#else
#define VICINAL_OF_ISA(table) (baseline_##table)
#endif
