#include "exec/threads.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace vicinal {

bool has_openmp() {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

int hardware_threads() {
#ifdef _OPENMP
  return std::max(1, omp_get_num_procs());
#else
  return 1;
#endif
}

namespace detail {

void run_on_threads([[maybe_unused]] std::size_t threads, Callable<std::size_t> f) {
#ifdef _OPENMP
#pragma omp parallel num_threads(static_cast<int>(threads))
  f(static_cast<std::size_t>(omp_get_thread_num()));
#else
  f(0);
#endif
}

void run_parts(std::size_t parts, Callable<std::size_t, int> f) {
  const std::size_t threads = std::min(parts, static_cast<std::size_t>(thread_count()));
  if (threads <= 1) {
    for (std::size_t part = 0; part < parts; ++part) {
      throw_if_interrupted();
      f(part, 0);
    }
    return;
  }
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  on_threads(threads, [&](std::size_t thread) {
    try {
      while (!failed.load(std::memory_order_relaxed)) {
        const std::size_t part = next.fetch_add(1, std::memory_order_relaxed);
        if (part >= parts) break;
        if (thread == 0) throw_if_interrupted();  // only the calling thread may call `poll`
        f(part, static_cast<int>(thread));
      }
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace detail
}  // namespace vicinal
