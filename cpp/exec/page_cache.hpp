// Mapped pages that are not in use: kept, so that the next region need not wait for the system to clear fresh ones.
//
// Clearing takes as long as finding the pairs that are written there. All but the newest kept pages are marked as free
// (MADV_FREE): where memory gets short, the system takes them without asking. Marking takes as long as a small search.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

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
  std::size_t reserved = 0;  // what was asked for before the unused end was unmapped
  bool marked = false;
};

#if VICINAL_HAS_MMAP
// Maps `bytes` of address space that begin at a multiple of `alignment`, both multiples of the page size.
inline void* reserve_aligned(std::size_t bytes, std::size_t alignment, int protection) {
  const std::size_t wide = bytes + alignment;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_NORESERVE
  flags |= MAP_NORESERVE;
#endif
  void* const raw = mmap(nullptr, wide, protection, flags, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc();
  const auto address = reinterpret_cast<std::uintptr_t>(raw);
  const std::size_t head = (alignment - address % alignment) % alignment;
  auto* const aligned = static_cast<std::byte*>(raw) + head;
  if (head > 0) munmap(raw, head);
  if (alignment > head) munmap(aligned + bytes, alignment - head);
  return aligned;
}
#endif

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
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || pages.bytes > budget_ || address_space_is_limited()) {
      munmap(pages.data, pages.bytes);
      return;
    }
    while (count_ == kept_.size() || kept_bytes_ + pages.bytes > budget_) {
      const Pages oldest = remove(0);
      munmap(oldest.data, oldest.bytes);
    }
    kept_[count_++] = pages;
    kept_bytes_ += pages.bytes;
    mark();
  }

  // Kept pages that fill `bytes` well, or as much of it as possible; nothing if there are none. Pages that were
  // reserved with the same size come first: the same search has probably used them, and will use as many.
  Pages take(std::size_t bytes, PageSize size) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return {};
    std::size_t best = count_, most = 0;
    for (std::size_t k = 0; k < count_; ++k) {
      if (kept_[k].size != size || kept_[k].bytes / 2 > bytes) continue;
      if (kept_[k].reserved == bytes) return remove(k);
      const std::size_t fit = std::min(kept_[k].bytes, bytes);
      if (fit > most) best = k, most = fit;
    }
    return best < count_ ? remove(best) : Pages{};
  }

  // Makes kept pages the beginning of a larger region, or unmaps them and returns null.
  //
  // Where the address space behind them is taken, they are moved and grown at once, so that they stay one mapping:
  // kernels before 6.17 move no others.
  void* grow(const Pages& kept, std::size_t bytes, std::size_t alignment) {
    if (mremap(kept.data, kept.bytes, bytes, 0) != MAP_FAILED) return kept.data;
    try {
      if (moves_) {
        void* const place = reserve_aligned(bytes, alignment, PROT_NONE);
        if (mremap(kept.data, kept.bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) != MAP_FAILED) return place;
        // The address space at `place` may or may not be ours any more. It is left alone, and this is not tried again.
        moves_ = false;
      }
    } catch (const std::bad_alloc&) {  // there is no such address space; the caller finds that out, too
    }
    munmap(kept.data, kept.bytes);
    return nullptr;
  }

 private:
  PageCache() {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
      budget_ = std::min(budget_, static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) / 16);
  }

  // Marks all but the newest pages.
  void mark() {
    std::size_t newest = 0, k = count_;
    while (k > 0 && newest + kept_[k - 1].bytes <= unmarked_) newest += kept_[--k].bytes;
    for (; k > 0; --k) {
      Pages& pages = kept_[k - 1];
      if (!pages.marked) pages.marked = madvise(pages.data, pages.bytes, MADV_FREE) == 0;
    }
  }

  Pages remove(std::size_t k) {
    const Pages removed = kept_[k];
    std::copy(kept_.begin() + static_cast<std::ptrdiff_t>(k) + 1, kept_.begin() + static_cast<std::ptrdiff_t>(count_),
              kept_.begin() + static_cast<std::ptrdiff_t>(k));
    --count_;
    kept_bytes_ -= removed.bytes;
    return removed;
  }

  std::size_t budget_ = std::size_t{1} << 30;
  static constexpr std::size_t unmarked_ = std::size_t{1} << 26;
  std::size_t kept_bytes_ = 0;
  std::atomic<bool> moves_{true};
  // Only tried, never waited for: after a fork the thread that holds it may not exist.
  std::mutex mutex_;
  std::array<Pages, 64> kept_{};  // the first `count_`, from the oldest to the newest
  std::size_t count_ = 0;
};

#endif

}  // namespace vicinal
