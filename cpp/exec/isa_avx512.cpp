// Whether the AVX-512 files were compiled to its instructions, or to plain code that emulates them for tests.
#include "exec/isa.hpp"

namespace vicinal {

bool avx512_is_emulated() {
#ifdef VICINAL_EMULATE_AVX512
  return true;
#else
  return false;
#endif
}

}  // namespace vicinal
