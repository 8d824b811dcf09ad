// Loops over independent parts on several threads; exceptions and Ctrl-C reach the caller.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>

namespace vicinal {

// Only threads.cpp is compiled with OpenMP. Without it everything is serial: there is one thread.
bool has_openmp();
int hardware_threads();

inline std::atomic<int>& thread_count_setting() {
  static std::atomic<int> count{hardware_threads()};
  return count;
}
// The number of threads of the current call. It is fixed when a call enters the core, so that scratch memory sized by
// it stays large enough if the setting changes during the call.
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
  const bool alone = !has_openmp() || alone_after_fork();
  thread_count_of_call() = alone ? 1 : thread_count_setting().load(std::memory_order_relaxed);
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

// A reference to any callable, valid for the duration of a call. A loop over parts is compiled once, not once per
// callable; the indirect call is per part, and a part is thousands of bodies.
template <class... Arguments>
class Callable {
 public:
  template <class F>
  // NOLINTNEXTLINE(google-explicit-constructor): written as a lambda in place
  Callable(F& f)
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, Arguments... arguments) { (*static_cast<F*>(object))(arguments...); }) {}
  void operator()(Arguments... arguments) const { call_(object_, arguments...); }

 private:
  void* object_;
  void (*call_)(void*, Arguments...);
};

namespace detail {
void run_parts(std::size_t parts, Callable<std::size_t, int> f);
void run_on_threads(std::size_t threads, Callable<std::size_t> f);
}  // namespace detail

// Calls f(part, thread) for every part in [0, parts), in any order, thread in [0, thread_count()).
template <class F>
void parallel_for(std::size_t parts, F&& f) {
  detail::run_parts(parts, f);
}

// Calls f(thread) for every thread in [0, threads), each on a thread of its own; `threads` is at most thread_count().
// OpenMP may start fewer threads, so that f must take on the work of the others. f must not throw.
template <class F>
void on_threads(std::size_t threads, F&& f) {
  detail::run_on_threads(threads, f);
}

// Splits [0, n) into pieces of at most `grain` and calls f(begin, end, piece) for each.
template <class F>
void parallel_ranges(std::size_t n, std::size_t grain, F&& f) {
  const std::size_t pieces = (n + grain - 1) / grain;
  parallel_for(pieces, [&](std::size_t piece, int) { f(piece * grain, std::min(n, (piece + 1) * grain), piece); });
}

}  // namespace vicinal
