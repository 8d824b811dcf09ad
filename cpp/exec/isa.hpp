// The instruction set of the exact test: the best that the processor has, or a lower one on request.
#pragma once

#include <atomic>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace vicinal {

enum class Isa { baseline, avx2, avx512, neon };

inline constexpr std::string_view isa_names[] = {"baseline", "avx2", "avx512", "neon"};

inline std::string_view name(Isa isa) { return isa_names[static_cast<int>(isa)]; }

#ifdef VICINAL_X86
bool avx512_is_emulated();
#else
constexpr bool avx512_is_emulated() { return false; }
#endif

// The instruction sets that were compiled in and run on this processor, lowest first.
inline std::vector<Isa> available_isas() {
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

inline std::atomic<Isa>& isa_setting() {
  static std::atomic<Isa> isa{[] {
    auto isas = available_isas();
    if (avx512_is_emulated()) isas.pop_back();  // emulated instructions are only for tests, which request them by name
    return isas.back();
  }()};
  return isa;
}

inline Isa isa_in_use() { return isa_setting().load(std::memory_order_relaxed); }

inline void set_isa(std::string_view wanted) {
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

// VICINAL_OF_ISA(table) is baseline_table, or the same with the name of the instruction set in use. A table of
// functions is compiled once per instruction set.
#ifdef VICINAL_X86
#define VICINAL_OF_ISA(table) \
  (isa_in_use() == Isa::avx512 ? avx512_##table : isa_in_use() == Isa::avx2 ? avx2_##table : baseline_##table)
#elif defined(VICINAL_NEON)
#define VICINAL_OF_ISA(table) (isa_in_use() == Isa::neon ? neon_##table : baseline_##table)
#else
#define VICINAL_OF_ISA(table) (baseline_##table)
#endif

}  // namespace vicinal
