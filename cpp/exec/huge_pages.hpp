// Vectors on huge pages: loops over many of them at once would otherwise wait for address translation. (Arrays that
// never grow are Buffers, memory.hpp.)
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "exec/memory.hpp"
#include "exec/page_cache.hpp"

namespace vicinal {

template <class T>
struct HugePages {
  using value_type = T;
  HugePages() = default;
  template <class U>
  HugePages(const HugePages<U>&) {}  // NOLINT(google-explicit-constructor): what allocators must be able to do

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
#if VICINAL_HAS_MMAP
    if (is_large(bytes)) {
      // Mapped for this vector alone: memory that was in use before may lie on small pages, and would stay there.
      void* const made = reserve_aligned(whole(bytes), huge_page, PROT_READ | PROT_WRITE);
#ifdef MADV_HUGEPAGE
      madvise(made, whole(bytes), MADV_HUGEPAGE);
#endif
      return static_cast<T*>(made);
    }
#endif
    return static_cast<T*>(::operator new(bytes, std::align_val_t{cache_line}));
  }
  void deallocate(T* made, std::size_t n) {
#if VICINAL_HAS_MMAP
    if (is_large(n * sizeof(T))) {
      munmap(made, whole(n * sizeof(T)));
      return;
    }
#endif
    ::operator delete(made, std::align_val_t{cache_line});
  }
  friend bool operator==(const HugePages&, const HugePages&) { return true; }

 private:
  // At most half of the memory is unused.
  static bool is_large(std::size_t bytes) { return bytes >= huge_page / 2; }
  static std::size_t whole(std::size_t bytes) { return (bytes + huge_page - 1) / huge_page * huge_page; }
};

template <class T>
using HugeVector = std::vector<T, HugePages<T>>;

}  // namespace vicinal
