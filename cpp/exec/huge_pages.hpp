// Vectors on huge pages: loops over many of them at once would otherwise wait for address translation. (Arrays that
// never grow are Buffers, memory.hpp.)
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "exec/memory.hpp"

namespace vicinal {

template <class T>
struct HugePages {
  using value_type = T;
  HugePages() = default;
  template <class U>
  HugePages(const HugePages<U>&) {}  // NOLINT(google-explicit-constructor): what allocators must be able to do

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    if (!is_large(bytes)) return static_cast<T*>(::operator new(bytes, std::align_val_t{cache_line}));
    const std::size_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
    void* const made = ::operator new(whole, std::align_val_t{huge_page});
#ifdef MADV_HUGEPAGE
    madvise(made, whole, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(made);
  }
  void deallocate(T* made, std::size_t n) {
    ::operator delete(made, std::align_val_t{is_large(n * sizeof(T)) ? huge_page : cache_line});
  }
  friend bool operator==(const HugePages&, const HugePages&) { return true; }

 private:
  // At most half of the memory is unused.
  static bool is_large(std::size_t bytes) { return bytes >= huge_page / 2; }
};

template <class T>
using HugeVector = std::vector<T, HugePages<T>>;

}  // namespace vicinal
