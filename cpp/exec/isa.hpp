// The instruction set of the exact test: the best that the processor has, or a lower one on request.
#pragma once

#include <atomic>
#include <string_view>
#include <vector>

namespace vicinal {

enum class Isa { baseline, avx2, avx512, neon };

inline constexpr std::string_view isa_names[] = {"baseline", "avx2", "avx512", "neon"};

inline std::string_view name(Isa isa) { return isa_names[static_cast<int>(isa)]; }

bool avx512_is_emulated();

// The instruction sets that were compiled in and run on this processor, lowest first.
std::vector<Isa> available_isas();

// The best one.
Isa best_isa();

// "AMD", "Intel" or "" for others: processors with the same instructions take different times for them.
std::string_view processor_maker();

inline std::atomic<Isa>& isa_setting() {
  static std::atomic<Isa> isa{best_isa()};
  return isa;
}

inline Isa isa_in_use() { return isa_setting().load(std::memory_order_relaxed); }

// Throws if it is not available.
void set_isa(std::string_view wanted);

}  // namespace vicinal
