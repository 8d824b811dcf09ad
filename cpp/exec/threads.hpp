// Loops over independent parts on several threads; exceptions and Ctrl-C reach the caller.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <utility>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace vicinal {

inline int hardware_threads() {
#ifdef _OPENMP
  return std::max(1, omp_get_num_procs());
#else
  return 1;
#endif
}

inline std::atomic<int>& thread_count_setting() {
  static std::atomic<int> count{hardware_threads()};
  return count;
}
// Threads of the call in progress on this thread. It is fixed when a call enters the core, so that scratch sized by it
// stays large enough when somebody changes the setting meanwhile. Without OpenMP everything is serial.
inline int& thread_count_of_call() {
  static thread_local int count = 1;
  return count;
}
inline int thread_count() { return thread_count_of_call(); }

// A forked child inherits OpenMP's pool without its threads; waiting for them would hang, so it works alone whatever is
// asked for.
inline std::atomic<bool>& alone_after_fork() {
  static std::atomic<bool> alone{false};
  return alone;
}
inline void enter_call() {
#ifdef _OPENMP
  thread_count_of_call() = alone_after_fork() ? 1 : thread_count_setting().load(std::memory_order_relaxed);
#endif
}

// Thrown out of a loop when `poll` says that the user wants to stop.
struct Interrupted : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};
using Poll = bool (*)();
inline std::atomic<Poll>& interrupt_poll() {
  static std::atomic<Poll> poll{nullptr};
  return poll;
}
inline void throw_if_interrupted() {
  const Poll poll = interrupt_poll().load(std::memory_order_relaxed);
  if (poll != nullptr && poll()) throw Interrupted();
}

// Calls f(part, thread) for every part in [0, parts), in any order, thread in [0, thread_count()).
template <class F>
void parallel_for(std::size_t parts, F&& f) {
  const auto threads = static_cast<int>(std::min<std::size_t>(parts, static_cast<std::size_t>(thread_count())));
  if (threads <= 1) {
    for (std::size_t part = 0; part < parts; ++part) {
      throw_if_interrupted();
      f(part, 0);
    }
    return;
  }
#ifdef _OPENMP
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    try {
      while (!failed.load(std::memory_order_relaxed)) {
        const std::size_t part = next.fetch_add(1, std::memory_order_relaxed);
        if (part >= parts) break;
        if (thread == 0) throw_if_interrupted();  // only the calling thread may talk to its host
        f(part, thread);
      }
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
#endif
}

// Splits [0, n) into pieces of at most `grain` and calls f(begin, end, piece) for each.
template <class F>
void parallel_ranges(std::size_t n, std::size_t grain, F&& f) {
  const std::size_t pieces = (n + grain - 1) / grain;
  parallel_for(pieces, [&](std::size_t piece, int) { f(piece * grain, std::min(n, (piece + 1) * grain), piece); });
}

}  // namespace vicinal
