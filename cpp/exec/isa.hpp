// Which instruction set the exact test uses: the best the processor has, or a lower one on request.
#pragma once

#include <atomic>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace vicinal {

enum class Isa { baseline, avx2, avx512 };

inline constexpr std::string_view isa_names[] = {"baseline", "avx2", "avx512"};

inline std::string_view name(Isa isa) { return isa_names[static_cast<int>(isa)]; }

// What was compiled in and runs here, lowest first.
inline std::vector<Isa> available_isas() {
  std::vector<Isa> found{Isa::baseline};
#ifdef VICINAL_X86
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) found.push_back(Isa::avx2);
#ifdef VICINAL_EMULATE_AVX512
  found.push_back(Isa::avx512);
#else
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq"))
    found.push_back(Isa::avx512);
#endif
#endif
  return found;
}

inline std::atomic<Isa>& isa_setting() {
  static std::atomic<Isa> isa{[] {
    auto found = available_isas();
#ifdef VICINAL_EMULATE_AVX512
    found.pop_back();  // emulated instructions are for tests; nobody should get them unasked
#endif
    return found.back();
  }()};
  return isa;
}

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

}  // namespace vicinal
