#include "exec/memory.hpp"

#include "exec/available_memory.hpp"

namespace vicinal {

std::size_t physical_memory() {
  static const std::size_t bytes = [] {
#if VICINAL_HAS_MMAP && defined(_SC_PHYS_PAGES)
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0) return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page);
#endif
    return std::size_t{16} << 30;
  }();
  return bytes;
}

Region::Region(std::size_t bytes, PageSize pages) : bytes_(bytes), pages_(pages) {
  if (bytes == 0) return;
#if VICINAL_HAS_MMAP
  if (bytes >= huge_page) {
    map();
    return;
  }
#endif
  data_ = ::operator new(bytes, std::align_val_t{cache_line});
}

void Region::free() {
#if VICINAL_HAS_MMAP
  if (mapped_) {
#if VICINAL_KEEPS_PAGES
    PageCache::instance().give({data_, bytes_, pages_, reserved_});
#else
    munmap(data_, bytes_);
#endif
    return;
  }
#endif
  ::operator delete(data_, std::align_val_t{cache_line});
}

void Region::replace(std::size_t bytes) {
  *this = Region();
  *this = Region(bytes);
}

void Region::trim(std::size_t used) {
#if VICINAL_HAS_MMAP
  if (!mapped_) return;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t keep = (used + page - 1) / page * page;
  if (keep == 0 || keep >= bytes_) return;
  munmap(static_cast<std::byte*>(data_) + keep, bytes_ - keep);
  bytes_ = keep;
#else
  (void)used;
#endif
}

#if VICINAL_HAS_MMAP
void Region::map() {
  bytes_ = (bytes_ + huge_page - 1) / huge_page * huge_page;
  reserved_ = bytes_;
  mapped_ = true;
#if VICINAL_KEEPS_PAGES
  const Pages kept = PageCache::instance().take(bytes_, pages_);
  if (kept.bytes >= bytes_) {
    data_ = kept.data;
    bytes_ = kept.bytes;
    return;
  }
  if (kept.bytes > 0) {
    data_ = PageCache::instance().grow(kept, bytes_, huge_page);
    if (data_ != nullptr) return;
  }
#endif
  data_ = reserve_aligned(bytes_, huge_page, PROT_READ | PROT_WRITE);
#ifdef MADV_HUGEPAGE
  // Touching a huge page clears all of it, which is wasteful if only its beginning is used.
  if (pages_ == PageSize::huge) madvise(data_, bytes_, MADV_HUGEPAGE);
#endif
}
#endif

Region Pool::take(std::size_t bytes, PageSize pages) {
  {
    const std::lock_guard lock(mutex_);
    for (auto& region : idle_) {
      // A region of up to twice the size fits; a larger one would waste memory on a small result.
      if (region.bytes() >= bytes && region.bytes() / 2 <= bytes) {
        Region taken = std::move(region);
        region = std::move(idle_.back());
        idle_.pop_back();
        return taken;
      }
    }
  }
  return Region(bytes, pages);
}

void Pool::give(Region region) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() >= kept) idle_.erase(idle_.begin());
  idle_.push_back(std::move(region));
}

void Pool::clear() {
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

void ensure_memory(std::size_t bytes, Pool* pool) {
  if (pool != nullptr && bytes >= unchecked_bytes && bytes > available_memory()) pool->clear();
  ensure_memory(bytes);
}

}  // namespace vicinal
