// Brings the cache line around a place into the cache before it is needed.
#pragma once

namespace vicinal {

inline void prefetch_to_read([[maybe_unused]] const void* place) {
#if defined(__GNUC__)
  __builtin_prefetch(place);
#endif
}
inline void prefetch_to_write([[maybe_unused]] const void* place) {
#if defined(__GNUC__)
  __builtin_prefetch(place, 1);
#endif
}

}  // namespace vicinal
