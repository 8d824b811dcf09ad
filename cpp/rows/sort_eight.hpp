// A sorting network of eight numbers (Batcher 1968): 19 exchanges, which do not depend on the numbers.
#pragma once

namespace vicinal {

// Calls exchange(a, b) for places a < b, which must leave the smaller number at a. Always inlined: translation units
// compiled for different instruction sets must not share a copy.
template <class Exchange>
[[gnu::always_inline]] inline void sort_eight(const Exchange& exchange) {
  exchange(0, 1), exchange(2, 3), exchange(4, 5), exchange(6, 7);
  exchange(0, 2), exchange(1, 3), exchange(4, 6), exchange(5, 7);
  exchange(1, 2), exchange(5, 6), exchange(0, 4), exchange(3, 7);
  exchange(1, 5), exchange(2, 6);
  exchange(1, 4), exchange(3, 6);
  exchange(2, 4), exchange(3, 5);
  exchange(3, 4);
}

}  // namespace vicinal
