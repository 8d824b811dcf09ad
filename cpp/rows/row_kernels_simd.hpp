// Sorting rows in vector registers, written once; row_kernels_avx2.cpp and the like provide the registers.
//
// Rows are short and not ordered, so half of the branches of a comparison sort would be mispredicted. This is a bitonic
// merge sort (Batcher 1968): every register is sorted by a fixed network, then runs of registers are merged. It works
// in place; the row is padded with the largest integer to a whole number of registers. If a long run is merged with a
// shorter one, exchanges with the missing padding are left out.
//
// `Lanes` provides: vector, width, block; load, first (of a register the first k lanes, all others the largest
// integer), store, broadcast, least, most (minimum and maximum per lane), reverse, sort (ascending within the
// register), merge (the same for lanes that first rise, then fall). If `block` is not 0, sort_block sorts each of this
// many registers at once. to_records stores four registers as records of four entries; from_records loads the records
// at `width` places and gives the four registers. Everything is in an unnamed namespace, so that each translation unit
// has its own copy, compiled for its own instruction set.
#pragma once

#include <cstring>

#include "rows/rank.hpp"
#include "rows/row_kernels.hpp"

namespace vicinal {
namespace {

// Calls f(0) … f(N - 1). Unlike a loop, it is unrolled before compilers decide where registers are kept: an array of
// them would go through memory.
template <int N, class F>
[[gnu::always_inline]] inline void repeat(const F& f) {
  if constexpr (N > 0) {
    repeat<N - 1>(f);
    f(N - 1);
  }
}

template <class Lanes>
struct RowSort {
  using vector = typename Lanes::vector;
  static constexpr std::size_t width = Lanes::width;

  [[gnu::always_inline]] static inline void exchange(vector& a, vector& b) {
    const vector low = Lanes::least(a, b);
    b = Lanes::most(a, b);
    a = low;
  }

  // Sorts N registers that together rise, then fall, or fall, then rise (bitonic); N is a power of two.
  template <int N>
  [[gnu::always_inline]] static inline void merge_registers(vector* v) {
    if constexpr (N == 1) {
      v[0] = Lanes::merge(v[0]);
    } else {
      repeat<N / 2>([v](int k) { exchange(v[k], v[k + N / 2]); });
      merge_registers<N / 2>(v);
      merge_registers<N / 2>(v + N / 2);
    }
  }
  template <int N>
  [[gnu::always_inline]] static inline void sort_registers(vector* v) {
    if constexpr (N == 1) {
      v[0] = Lanes::sort(v[0]);
    } else {
      if constexpr (N == Lanes::block) {
        Lanes::sort_block(v);
        merge_until<2, N>(v);
      } else {
        sort_registers<N / 2>(v);
        sort_registers<N / 2>(v + N / 2);
      }
      merge_sorted<N>(v);
    }
  }
  // Merges sorted registers to runs of 2, 4 and more, up to half of All.
  template <int N, int All>
  [[gnu::always_inline]] static inline void merge_until(vector* v) {
    if constexpr (N < All) {
      repeat<All / N>([v](int k) { merge_sorted<N>(v + k * N); });
      merge_until<2 * N, All>(v);
    }
  }
  // Merges two sorted runs of N / 2 registers each.
  template <int N>
  [[gnu::always_inline]] static inline void merge_sorted(vector* v) {
    // The first run followed by the reversed second run rises, then falls.
    repeat<N / 4>([v](int k) {
      const vector turned = Lanes::reverse(v[N / 2 + k]);
      v[N / 2 + k] = Lanes::reverse(v[N - 1 - k]);
      v[N - 1 - k] = turned;
    });
    if constexpr (N == 2) v[1] = Lanes::reverse(v[1]);
    merge_registers<N>(v);
  }
  // Applies f to N registers in memory.
  template <int N, class F>
  [[gnu::always_inline]] static inline void in_registers(std::int32_t* row, F&& f) {
    vector v[N];
    repeat<N>([&](int k) { v[k] = Lanes::load(row + static_cast<std::size_t>(k) * width); });
    f(v);
    repeat<N>([&](int k) { Lanes::store(row + static_cast<std::size_t>(k) * width, v[k]); });
  }

  // Sorts `count` registers in memory that together rise, then fall; `count` is a power of two.
  static void merge(std::int32_t* row, std::size_t count) {
    for (; count > 8; count /= 2) {
      const std::size_t half = count / 2;
      for (std::size_t k = 0; k < half; ++k) {
        vector a = Lanes::load(row + k * width);
        vector b = Lanes::load(row + (k + half) * width);
        exchange(a, b);
        Lanes::store(row + k * width, a);
        Lanes::store(row + (k + half) * width, b);
      }
      merge(row + half * width, half);
    }
    if (count == 8) in_registers<8>(row, [](vector* v) { merge_registers<8>(v); });
    else if (count == 4) in_registers<4>(row, [](vector* v) { merge_registers<4>(v); });
    else if (count == 2) in_registers<2>(row, [](vector* v) { merge_registers<2>(v); });
    else in_registers<1>(row, [](vector* v) { merge_registers<1>(v); });
  }

  // Merges `a` sorted registers (a power of two) with the `b` <= a sorted registers that follow them.
  static void merge_runs(std::int32_t* row, std::size_t a, std::size_t b) {
    // Compares register a-1-k with register a+k reversed. The remaining registers would be compared with padding.
    for (std::size_t k = 0; k < b; ++k) {
      std::int32_t* const first = row + (a - 1 - k) * width;
      std::int32_t* const second = row + (a + k) * width;
      vector low = Lanes::load(first);
      vector high = Lanes::reverse(Lanes::load(second));
      exchange(low, high);
      Lanes::store(first, low);
      // Reversed back, so that padding stays last; a sequence that falls, then rises is bitonic as well.
      Lanes::store(second, Lanes::reverse(high));
    }
    merge(row, a);
    merge_any(row + a * width, b);
  }
  // Like `merge`, for a power of two of registers of which only the first `count` are stored; the rest is padding.
  static void merge_any(std::int32_t* row, std::size_t count) {
    if ((count & (count - 1)) == 0) {
      merge(row, count);
      return;
    }
    std::size_t half = 1;
    while (2 * half < count) half *= 2;
    for (std::size_t k = 0; k + half < count; ++k) {
      vector a = Lanes::load(row + k * width);
      vector b = Lanes::load(row + (k + half) * width);
      exchange(a, b);
      Lanes::store(row + k * width, a);
      Lanes::store(row + (k + half) * width, b);
    }
    merge(row, half);
    merge_any(row + half * width, count - half);
  }

  // As four, of which the last is padding.
  [[gnu::always_inline]] static inline void sort_three(vector* v) {
    sort_registers<2>(v);
    sort_registers<1>(v + 2);
    v[2] = Lanes::reverse(v[2]);
    exchange(v[1], v[2]);
    merge_registers<2>(v);
    merge_registers<1>(v + 2);
  }
  static void sort_runs(std::int32_t* row, std::size_t count) {
    switch (count) {
      case 1: return in_registers<1>(row, [](vector* v) { sort_registers<1>(v); });
      case 2: return in_registers<2>(row, [](vector* v) { sort_registers<2>(v); });
      case 3: return in_registers<3>(row, [](vector* v) { sort_three(v); });
      case 4: return in_registers<4>(row, [](vector* v) { sort_registers<4>(v); });
      case 8: return in_registers<8>(row, [](vector* v) { sort_registers<8>(v); });
      default: break;
    }
    std::size_t a = 1;
    while (2 * a < count) a *= 2;
    sort_runs(row, a);
    sort_runs(row + a * width, count - a);
    merge_runs(row, a, count - a);
  }

  // Sorts n entries that need N registers, of which the first half is full.
  template <int N>
  [[gnu::always_inline]] static inline void sort_few(const std::int32_t* from, std::size_t n, std::int32_t* to) {
    vector v[N];
    repeat<N>([&](int k) {
      const std::size_t before = static_cast<std::size_t>(k) * width;
      const vector loaded = Lanes::load(from + before);
      v[k] = k < N / 2 ? loaded : Lanes::first(loaded, n > before ? n - before : 0);
    });
    if constexpr (N == 3) sort_three(v);
    else sort_registers<N>(v);
    repeat<N>([&](int k) { Lanes::store(to + static_cast<std::size_t>(k) * width, v[k]); });
  }
};

// Short rows go from memory to registers and back once: reading what was just written with narrower stores would wait
// for them.
template <class Lanes>
void sort(const std::int32_t* from, std::size_t n, std::int32_t* to) {
  // One to three registers of 16 lanes, or a multiple of four: fewer cases are predicted better.
  std::size_t count = (n + Lanes::width - 1) / Lanes::width;
  if (count > (Lanes::width < 16 ? 2 : 3)) count = (count + 3) / 4 * 4;
  switch (count) {
    case 0: return;
    case 1: return RowSort<Lanes>::template sort_few<1>(from, n, to);
    case 2: return RowSort<Lanes>::template sort_few<2>(from, n, to);
    case 3: return RowSort<Lanes>::template sort_few<3>(from, n, to);
    case 4: return RowSort<Lanes>::template sort_few<4>(from, n, to);
    case 8:
      if constexpr (Lanes::width < 16) return RowSort<Lanes>::template sort_few<8>(from, n, to);
      break;  // would read more than half of `sort_overshoot` past the end
    default: break;
  }
  if (to != from) std::memcpy(to, from, n * sizeof(std::int32_t));
  for (std::size_t k = n; k < count * Lanes::width; k += Lanes::width)
    Lanes::store(to + k, Lanes::broadcast(0x7fffffff));
  RowSort<Lanes>::sort_runs(to, count);
}

// Columns are turned into records of four and back, so that an entry is moved by one load.
template <class Lanes>
void arrange(std::int32_t* places, std::size_t n, std::int32_t* const* columns, std::size_t count) {
  constexpr std::size_t each = 4;
  alignas(64) std::int32_t records[each * (most_ranked + 16)];
  const std::size_t padded = (n + Lanes::width - 1) / Lanes::width * Lanes::width;
  for (std::size_t k = n; k < padded; ++k) places[k] = static_cast<std::int32_t>(k);
  for (std::size_t first = 0; first < count; first += each) {
    std::int32_t* column[each];
    const std::size_t some = count - first < each ? count - first : each;
    for (std::size_t c = 0; c < each; ++c) column[c] = columns[first + (c < some ? c : 0)];  // none is missing
    typename Lanes::vector v[each];
    for (std::size_t k = 0; k < padded; k += Lanes::width) {
      for (std::size_t c = 0; c < each; ++c) v[c] = Lanes::load(column[c] + k);
      Lanes::to_records(v, records + each * k);
    }
    for (std::size_t k = 0; k < padded; k += Lanes::width) {
      Lanes::from_records(records, places + k, v);
      for (std::size_t c = 0; c < each; ++c) Lanes::store(column[c] + k, v[c]);
    }
  }
}

template <class Lanes>
constexpr SortKernels make_sort_kernels() {
  return {sort<Lanes>, rank<sort<Lanes>>, arrange<Lanes>};
}

}  // namespace
}  // namespace vicinal
