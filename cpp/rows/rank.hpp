// The places of ids in ascending order. In an unnamed namespace, so that each translation unit has its own copy,
// compiled for its own instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinal {
namespace {

// `Sort` is SortKernels::sort. Plain loops: compilers vectorise them.
template <void (*Sort)(const std::int32_t*, std::size_t, std::int32_t*)>
int rank(const std::int32_t* ids, std::size_t n, std::int32_t* places) {
  if (n == 0) return 0;
  std::int32_t least = ids[0], most = ids[0];
  for (std::size_t k = 1; k < n; ++k) {
    least = ids[k] < least ? ids[k] : least;
    most = ids[k] > most ? ids[k] : most;
  }
  // Id and place in one number: the id is sorted, and the place remains.
  const auto bits_of = [](std::uint32_t x) { return x == 0 ? 0 : 32 - __builtin_clz(x); };
  const int bits = bits_of(static_cast<std::uint32_t>(n - 1));
  const int wide = bits_of(static_cast<std::uint32_t>(most) - static_cast<std::uint32_t>(least)) + bits - 31;
  const int excess = wide > 0 ? wide : 0;
  const auto count = static_cast<std::int32_t>(n);
  for (std::int32_t k = 0; k < count; ++k) places[k] = (ids[k] - least) >> excess << bits | k;
  Sort(places, n, places);
  if (excess > 0) return bits;
  const std::int32_t mask = (1 << bits) - 1;
  for (std::int32_t k = 0; k < count; ++k) places[k] &= mask;
  return 0;
}

}  // namespace
}  // namespace vicinal
