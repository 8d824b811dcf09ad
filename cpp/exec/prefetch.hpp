// Loads the cache line of an address before it is needed. Always inlined: translation units compiled for different
// instruction sets must not share a copy.
#pragma once

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

}  // namespace vicinal
