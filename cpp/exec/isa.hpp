// The instruction set of the exact test: the best that the processor has, or a lower one on request.
#pragma once

#include <atomic>
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
std::vector<Isa> available_isas();

// The best one.
Isa best_isa();

inline std::atomic<Isa>& isa_setting() {
  static std::atomic<Isa> isa{best_isa()};
  return isa;
}

inline Isa isa_in_use() { return isa_setting().load(std::memory_order_relaxed); }

// Throws if it is not available.
void set_isa(std::string_view wanted);

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
