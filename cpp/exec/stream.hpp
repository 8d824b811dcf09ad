// Copies past the cache: lines that are written whole are not read first, and push nothing out of the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace vicinal {

// Worth it for results that are larger than the caches. Call `finish_streams` before another thread reads them.
inline void stream_copy(void* to, const void* from, std::size_t bytes) {
#ifdef __SSE2__
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(__m128i) == 0 && bytes % sizeof(__m128i) == 0) {
    auto* const target = static_cast<__m128i*>(to);
    const auto* const source = static_cast<const __m128i*>(from);
    for (std::size_t k = 0; k < bytes / sizeof(__m128i); ++k) _mm_stream_si128(target + k, _mm_loadu_si128(source + k));
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

inline void finish_streams() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace vicinal
