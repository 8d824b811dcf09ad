// How ranks exchange a message with every other rank and agree on the largest of some numbers, again and again. There
// are two ways: through memory that the ranks of one machine share (node.hpp), and by messages of MPI, which are
// Python's (python/exchange.hpp).
#pragma once

#include <array>
#include <cstddef>

namespace vicinal {

// Asks for a cache line that another core has, in order to write to it. (The builtin for this asks for a copy to read
// unless the compiler may use the instruction; processors without it ignore it.)
inline void claim([[maybe_unused]] const void* place) {
#if defined(__x86_64__) && defined(__GNUC__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(place)));
#endif
}

// Numbers on which ranks agree.
using Agreed = std::array<double, 4>;

class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  // Where to write what the next exchange sends: parts for all ranks.
  [[nodiscard]] virtual std::byte* outgoing() = 0;
  // Sends the parts to their ranks and replaces the numbers by the largest of all ranks. All ranks call it together.
  virtual void exchange(Agreed& numbers) = 0;
  // Replaces the numbers only.
  virtual void agree(Agreed& numbers) = 0;
  // What the last exchange brought from a rank; valid until the next one.
  [[nodiscard]] virtual const std::byte* incoming(std::size_t rank) const = 0;
};

}  // namespace vicinal
