#include "exec/threads.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>

namespace vicinal::detail {

void run_parts(std::size_t parts, PartCall f) {
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
        if (thread == 0) throw_if_interrupted();  // only the calling thread may call `poll`
        f(part, thread);
      }
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
#endif
}

}  // namespace vicinal::detail
