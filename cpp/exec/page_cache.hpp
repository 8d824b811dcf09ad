// Mapped pages that are not in use: kept, so that the next region need not wait for the system to clear fresh ones.
//
// Clearing takes as long as finding the pairs that are written there. Kept pages are marked as free (MADV_FREE): where
// memory gets short, the system takes them without asking.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#define VICINAL_HAS_MMAP 1
#else
#define VICINAL_HAS_MMAP 0
#endif
#if VICINAL_HAS_MMAP && defined(MADV_FREE) && defined(MREMAP_FIXED)
#define VICINAL_KEEPS_PAGES 1
#else
#define VICINAL_KEEPS_PAGES 0
#endif

namespace vicinal {

enum class PageSize { huge, small };

// Whether the address space is limited (ulimit -v): then none must be kept for later.
inline bool address_space_is_limited() {
#if VICINAL_HAS_MMAP
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
#else
  return true;
#endif
}

struct Pages {
  void* data = nullptr;
  std::size_t bytes = 0;
  PageSize size = PageSize::huge;
};

#if VICINAL_KEEPS_PAGES

class PageCache {
 public:
  // Never destroyed: regions may be freed after main has returned.
  static PageCache& instance() {
    static auto* const cache = new PageCache;
    return *cache;
  }

  // Keeps the pages or unmaps them.
  void give(Pages pages) {
    if (pages.bytes > budget_ || address_space_is_limited() || madvise(pages.data, pages.bytes, MADV_FREE) != 0) {
      munmap(pages.data, pages.bytes);
      return;
    }
    const std::lock_guard lock(mutex_);
    kept_bytes_ += pages.bytes;
    kept_.push_back(pages);
    while (kept_bytes_ > budget_) {  // the oldest go first
      munmap(kept_.front().data, kept_.front().bytes);
      kept_bytes_ -= kept_.front().bytes;
      kept_.erase(kept_.begin());
    }
  }

  // Kept pages that fill `bytes` well, or as much of it as possible; nothing if there are none.
  Pages take(std::size_t bytes, PageSize size) {
    const std::lock_guard lock(mutex_);
    const auto fit = [&](const Pages& pages) {
      if (pages.size != size || pages.bytes / 2 > bytes) return std::size_t{0};
      return std::min(pages.bytes, bytes);
    };
    const auto best =
        std::max_element(kept_.begin(), kept_.end(), [&](const Pages& a, const Pages& b) { return fit(a) < fit(b); });
    if (best == kept_.end() || fit(*best) == 0) return {};
    const Pages taken = *best;
    kept_bytes_ -= taken.bytes;
    kept_.erase(best);
    return taken;
  }

 private:
  PageCache() {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
      budget_ = std::min(budget_, static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) / 16);
  }

  std::size_t budget_ = std::size_t{1} << 30;
  std::size_t kept_bytes_ = 0;
  std::mutex mutex_;
  std::vector<Pages> kept_;  // from the oldest to the newest
};

#endif

}  // namespace vicinal
