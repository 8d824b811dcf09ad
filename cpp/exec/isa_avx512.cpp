// Whether the files for AVX-512 hold its instructions, or plain code in their place for tests on other machines.
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
