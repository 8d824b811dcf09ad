// Memory that is still free. Linux grants more than there is, and ends a process that touches too much of it: what may
// become large is therefore checked here before it is written.
#pragma once

#include <cstddef>
#include <new>

namespace vicinal {

// Thrown where memory is too short, not only address space: counting before writing does not help.
struct OutOfMemory : std::bad_alloc {
  [[nodiscard]] const char* what() const noexcept override { return "out of memory"; }
};

// Between two checks so many bytes are written; less is never checked. A check takes some ten microseconds, writing
// this much takes milliseconds.
inline constexpr std::size_t unchecked_bytes = std::size_t{1} << 26;

// Bytes that can be written without swapping: what the system reports, at most what the control groups of the process
// leave. Physical memory where the system reports nothing.
std::size_t available_memory();

// Pretends that so many bytes are available; 0 asks the system again. For tests.
void pretend_available_memory(std::size_t bytes);

// Throws OutOfMemory unless so many bytes are available.
inline void ensure_memory(std::size_t bytes) {
  if (bytes >= unchecked_bytes && bytes > available_memory()) throw OutOfMemory();
}

// The same for something that grows in steps: `before` and `after` are its bytes before and after a step.
inline void ensure_growth(std::size_t before, std::size_t after) {
  const std::size_t checks = after / unchecked_bytes;
  if (checks != before / unchecked_bytes) ensure_memory(after - before + 2 * unchecked_bytes);
}

}  // namespace vicinal
