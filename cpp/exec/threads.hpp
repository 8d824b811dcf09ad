// Loops over independent parts on several threads; exceptions and Ctrl-C reach the caller.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>

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
// The number of threads of the current call. It is fixed when a call enters the core, so that scratch memory sized by
// it stays large enough if the setting changes during the call. Without OpenMP everything is serial.
inline int& thread_count_of_call() {
  static thread_local int count = 1;
  return count;
}
inline int thread_count() { return thread_count_of_call(); }

// A forked child inherits OpenMP's pool without its threads; waiting for them would hang, so it always uses one thread.
inline std::atomic<bool>& alone_after_fork() {
  static std::atomic<bool> alone{false};
  return alone;
}
inline void enter_call() {
#ifdef _OPENMP
  thread_count_of_call() = alone_after_fork() ? 1 : thread_count_setting().load(std::memory_order_relaxed);
#endif
}

// Thrown out of a loop when `poll` reports an interrupt.
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

// A reference to any callable f(part, thread), valid for the duration of a call. A loop over parts is compiled once,
// not once per callable; the indirect call is per part, and a part is thousands of bodies.
class PartCall {
 public:
  template <class F>
  // NOLINTNEXTLINE(google-explicit-constructor): written as a lambda in place
  PartCall(F& f)
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, std::size_t part, int thread) { (*static_cast<F*>(object))(part, thread); }) {}
  void operator()(std::size_t part, int thread) const { call_(object_, part, thread); }

 private:
  void* object_;
  void (*call_)(void*, std::size_t, int);
};

namespace detail {
void run_parts(std::size_t parts, PartCall f);
}

// Calls f(part, thread) for every part in [0, parts), in any order, thread in [0, thread_count()).
template <class F>
void parallel_for(std::size_t parts, F&& f) {
  detail::run_parts(parts, PartCall(f));
}

// Splits [0, n) into pieces of at most `grain` and calls f(begin, end, piece) for each.
template <class F>
void parallel_ranges(std::size_t n, std::size_t grain, F&& f) {
  const std::size_t pieces = (n + grain - 1) / grain;
  parallel_for(pieces, [&](std::size_t piece, int) { f(piece * grain, std::min(n, (piece + 1) * grain), piece); });
}

}  // namespace vicinal
