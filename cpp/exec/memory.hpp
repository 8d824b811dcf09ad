// Memory that is cheap to touch: 64-byte aligned, on huge pages where the system has them, reusable.
//
// The first touch of new 4 kB pages costs as much as finding the pairs that go into them (benchmarks/limit.py), so all
// large arrays are allocated here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/page_cache.hpp"

namespace vicinal {

inline constexpr std::size_t cache_line = 64;
// Vector loads may run past the last element by less than one register; every buffer owns that much more.
inline constexpr std::size_t overrun = 2 * cache_line;
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

// Bytes of physical memory; no result can be larger.
std::size_t physical_memory();

// An owned block of raw memory. Large blocks are mapped: untouched pages cost nothing, so a generous reservation is
// free, and `trim` returns the unused end.
class Region {
 public:
  Region() = default;
  explicit Region(std::size_t bytes, PageSize pages = PageSize::huge);
  Region(Region&& other) noexcept { swap(other); }
  Region& operator=(Region&& other) noexcept {
    Region moved(std::move(other));
    swap(moved);
    return *this;
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() {
    if (data_ != nullptr) free();
  }

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  // Frees the memory, then allocates other.
  void replace(std::size_t bytes);
  // Keeps the first `used` bytes.
  void trim(std::size_t used);

 private:
  void swap(Region& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(reserved_, other.reserved_);
    std::swap(mapped_, other.mapped_);
    std::swap(pages_, other.pages_);
  }
  void map();
  void free();

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t reserved_ = 0;  // bytes before the unused end was trimmed
  bool mapped_ = false;
  PageSize pages_ = PageSize::huge;
};

// Room for n values of T, uninitialised. `reset` keeps the memory if it is large enough.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t n) { reset(n); }

  void reset(std::size_t n) {
    const std::size_t needed = n * sizeof(T) + overrun;
    if (needed > region_.bytes()) region_.replace(needed);
    set_size(n);
  }
  // Changes the size and keeps the values. Room is added in proportion, so that growing in small steps is cheap on
  // average.
  void resize(std::size_t n) {
    if (n * sizeof(T) + overrun > region_.bytes()) {
      Region larger(std::max(n, size_ + size_ / 2) * sizeof(T) + overrun);
      if (size_ > 0) std::memcpy(larger.data(), region_.data(), size_ * sizeof(T));
      region_ = std::move(larger);
    }
    set_size(n);
  }
  void release() { *this = Buffer(); }

  [[nodiscard]] T* data() { return static_cast<T*>(region_.data()); }
  [[nodiscard]] const T* data() const { return static_cast<const T*>(region_.data()); }
  [[nodiscard]] std::size_t size() const { return size_; }
  // The requested size, not that of the reservation: untouched pages are not memory.
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }
  T& operator[](std::size_t k) { return data()[k]; }
  const T& operator[](std::size_t k) const { return data()[k]; }
  [[nodiscard]] std::span<T> span() { return {data(), size_}; }
  [[nodiscard]] std::span<const T> span() const { return {data(), size_}; }

 private:
  void set_size(std::size_t n) {
    size_ = n;
    // Values that a vector load reads past the end must be defined, but do not matter.
    std::memset(static_cast<std::byte*>(region_.data()) + n * sizeof(T), 0, overrun);
  }

  Region region_;
  std::size_t size_ = 0;
};

// Keeps regions of results that were freed, so that the next search of the same index writes to pages already touched.
class Pool {
 public:
  [[nodiscard]] Region take(std::size_t bytes, PageSize pages);
  void give(Region region);
  void clear();

 private:
  // Two results of up to five columns: the current one and the previous one.
  static constexpr std::size_t kept = 10;
  std::mutex mutex_;
  std::vector<Region> idle_;
};

// Throws OutOfMemory unless a result of so many bytes fits into memory. Where it does not, the regions that the pool
// keeps (if there is one) are given back first.
void ensure_memory(std::size_t bytes, Pool* pool);

}  // namespace vicinal
