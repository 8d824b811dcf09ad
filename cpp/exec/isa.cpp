#include "exec/isa.hpp"

#include <stdexcept>
#include <string>

namespace vicinal {

#ifndef VICINAL_X86
bool avx512_is_emulated() { return false; }
#endif

std::vector<Isa> available_isas() {
  std::vector<Isa> isas{Isa::baseline};
#ifdef VICINAL_X86
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) isas.push_back(Isa::avx2);
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  if (avx512 || avx512_is_emulated()) isas.push_back(Isa::avx512);
#elif defined(VICINAL_NEON)
  isas.push_back(Isa::neon);  // a part of every aarch64
#endif
  return isas;
}

std::string_view processor_maker() {
#ifdef VICINAL_X86
  if (__builtin_cpu_is("amd")) return "AMD";
  if (__builtin_cpu_is("intel")) return "Intel";
#endif
  return "";
}

Isa best_isa() {
  auto isas = available_isas();
  if (avx512_is_emulated()) isas.pop_back();  // emulated instructions are only for tests, which request them by name
  return isas.back();
}

void set_isa(std::string_view wanted) {
  std::string choices;
  for (const Isa isa : available_isas()) {
    if (name(isa) == wanted) {
      isa_setting() = isa;
      return;
    }
    choices += (choices.empty() ? "" : ", ") + std::string(name(isa));
  }
  throw std::invalid_argument("instruction set '" + std::string(wanted) +
                              "' is not available on this machine; choose one of: " + choices);
}

}  // namespace vicinal
