// Loads cache lines before they are needed. Always inlined: translation units compiled for different instruction sets
// must not share a copy.
#pragma once

#include <cstddef>

namespace vicinal {

[[gnu::always_inline]] inline void prefetch_to_read([[maybe_unused]] const void* place) {
#if defined(__GNUC__)
  __builtin_prefetch(place);
#endif
}
[[gnu::always_inline]] inline void prefetch_to_write([[maybe_unused]] const void* place) {
#if defined(__GNUC__)
  __builtin_prefetch(place, 1);
#endif
}

// Reads every cache line from `first` up to `last`. Processors notice plain reads in order and fetch what follows on
// their own, which is faster than one prefetch instruction per line.
template <class T>
[[gnu::always_inline]] inline void read_ahead(const T* first, const T* last) {
  constexpr std::ptrdiff_t line = 64;
  const auto* at = reinterpret_cast<const volatile char*>(first);
  for (const auto* const end = reinterpret_cast<const volatile char*>(last); at < end; at += line) (void)*at;
}

}  // namespace vicinal
