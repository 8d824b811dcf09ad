// The vector code of the search for nearest points, written once; the file that includes it provides the registers
// (kernels_simd.hpp says which operations).
#pragma once

#include "pairs/kernels.hpp"
#include "pairs/nearest_kernels.hpp"

namespace vicinal {
namespace {

template <class Lanes, int D, bool Shifted>
void squares_of(const typename Lanes::value* const* x, std::size_t count, const typename Lanes::value* at,
                const typename Lanes::value* shift, typename Lanes::value* to) {
  typename Lanes::vector from[D];
  typename Lanes::vector moved[D];
  const typename Lanes::value* column[D];
  for (int a = 0; a < D; ++a) {
    from[a] = Lanes::broadcast(at[a]);
    moved[a] = Lanes::broadcast(Shifted ? shift[a] : 0);
    column[a] = x[a];
  }
  for (std::size_t k = 0; k < count; k += Lanes::width) {
    typename Lanes::vector sum{};
    for (int a = 0; a < D; ++a) {
      auto d = Lanes::subtract(Lanes::load(column[a] + k), from[a]);
      if constexpr (Shifted) d = Lanes::add(d, moved[a]);
      const auto d2 = Lanes::multiply(d, d);
      sum = a == 0 ? d2 : Lanes::add(sum, d2);
    }
    Lanes::store(to + k, sum);
  }
}
template <class Lanes, int D>
void squares(const typename Lanes::value* const* x, std::size_t count, const typename Lanes::value* at,
             const typename Lanes::value* shift, typename Lanes::value* to) {
  if (shift == nullptr) squares_of<Lanes, D, false>(x, count, at, shift, to);
  else squares_of<Lanes, D, true>(x, count, at, shift, to);
}

template <class Lanes, int D>
void bounds(const typename Lanes::value* const* low, const typename Lanes::value* const* high, std::size_t count,
            const typename Lanes::value* from, const typename Lanes::value* to, const typename Lanes::value* shift,
            typename Lanes::value* bounds_to) {
  typename Lanes::vector least[D];
  typename Lanes::vector greatest[D];
  typename Lanes::vector moved[D];
  for (int a = 0; a < D; ++a) {
    least[a] = Lanes::broadcast(from[a]);
    greatest[a] = Lanes::broadcast(to[a]);
    moved[a] = Lanes::broadcast(shift != nullptr ? shift[a] : 0);
  }
  for (std::size_t k = 0; k < count; k += Lanes::width) {
    typename Lanes::vector sum{};
    for (int a = 0; a < D; ++a) {
      const auto above = Lanes::add(Lanes::subtract(Lanes::load(low[a] + k), greatest[a]), moved[a]);
      const auto below = Lanes::subtract(Lanes::subtract(least[a], Lanes::load(high[a] + k)), moved[a]);
      const auto d = Lanes::most(Lanes::most(above, below), Lanes::zero());
      const auto d2 = Lanes::multiply(d, d);
      sum = a == 0 ? d2 : Lanes::add(sum, d2);
    }
    Lanes::store(bounds_to + k, sum);
  }
}

// A limit that at least k of the squares meet, and few more: candidates are dealt to `Groups` groups, and the k-th
// smallest of the groups' smallest squares is such a limit. With 2 k groups it is met by about 1.4 k candidates.
template <class Lanes, std::size_t Groups>
typename Lanes::value limit_of(const typename Lanes::value* squares, std::size_t size, std::size_t k) {
  using V = typename Lanes::value;
  constexpr std::size_t registers = Groups / Lanes::width;
  typename Lanes::vector least[registers];
  for (auto& group : least) group = Lanes::broadcast(infinite);
  std::size_t at = 0;
  for (; at + Groups <= size; at += Groups)
    for (std::size_t r = 0; r < registers; ++r)
      least[r] = Lanes::least(least[r], Lanes::load(squares + at + r * Lanes::width));
  for (std::size_t r = 0; at < size; at += Lanes::width, ++r)
    least[r] = Lanes::least(least[r], Lanes::load(squares + at));
  alignas(64) V values[Groups];
  for (std::size_t r = 0; r < registers; ++r) Lanes::store(values + r * Lanes::width, least[r]);
  // By rank; of equal values the last place is filled, so a place that is not belongs to the next value.
  V sorted[Groups];
  for (V& value : sorted) value = infinite;
  for (const V value : values) {
    const auto all = Lanes::broadcast(value);
    std::size_t rank = 0;
    for (std::size_t r = 0; r < registers; ++r) rank += Lanes::number(Lanes::at_most(least[r], all));
    sorted[rank - 1] = value;
  }
  std::size_t at_least = k - 1;
  while (at_least + 1 < Groups && !(sorted[at_least] < infinite)) ++at_least;
  return sorted[at_least];
}

template <class Lanes>
std::size_t select(const typename Lanes::value* squares, const std::int32_t* ids, std::size_t size, std::size_t k,
                   typename Lanes::value most, typename Lanes::value* squares_to, std::int32_t* ids_to) {
  using V = typename Lanes::value;
  if (size > 4 * k && k <= selected_most) {
    const V limit = k <= 10   ? limit_of<Lanes, 16>(squares, size, k)
                    : k <= 20 ? limit_of<Lanes, 32>(squares, size, k)
                              : limit_of<Lanes, 64>(squares, size, k);
    most = limit < most ? limit : most;
  }
  const auto limit = Lanes::broadcast(most);
  std::size_t n = 0;
  for (std::size_t at = 0; at < size; at += Lanes::width) {
    const auto here = Lanes::load(squares + at);
    const auto within = Lanes::at_most(here, limit);
    const auto packing = Lanes::packing(within);
    Lanes::store(squares_to + n, Lanes::pack(here, packing));
    Lanes::pack_payload(ids_to + n, ids + at, packing);
    n += Lanes::number(within);
  }
  Lanes::store(squares_to + n, Lanes::broadcast(infinite));
  return n;
}

// Sorts by insertion.
template <class V>
void insert(const V* squares, const std::int32_t* ids, std::size_t count, V* squares_to, std::int32_t* ids_to) {
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t to = k;
    for (; to > 0 && (squares_to[to - 1] > squares[k] || (squares_to[to - 1] == squares[k] && ids_to[to - 1] > ids[k]));
         --to) {
      squares_to[to] = squares_to[to - 1];
      ids_to[to] = ids_to[to - 1];
    }
    squares_to[to] = squares[k];
    ids_to[to] = ids[k];
  }
}

// The rank of a square is the number of squares not larger than it, unless some are equal.
template <class Lanes>
void order(const typename Lanes::value* squares, const std::int32_t* ids, std::size_t count, std::int32_t self,
           std::size_t k, typename Lanes::value* roots, std::int32_t* ids_to) {
  using V = typename Lanes::value;
  V values[ordered_most + overshoot];
  std::int32_t names[ordered_most];
  std::size_t sum = 0;
  for (std::size_t c = 0; c < count; ++c) {
    const auto all = Lanes::broadcast(squares[c]);
    std::size_t rank = 0;
    for (std::size_t at = 0; at < count; at += Lanes::width)
      rank += Lanes::number(Lanes::at_most(Lanes::load(squares + at), all));
    sum += rank;
    values[rank - 1] = squares[c];
    names[rank - 1] = ids[c];
  }
  if (sum != count * (count + 1) / 2) insert(squares, ids, count, values, names);
  // The query itself has distance 0, so it is among the first.
  std::size_t at = 0;
  if (self >= 0)
    for (; names[at] != self; ++at) {
      if (at == k) return;
      roots[at] = 0;
      ids_to[at] = names[at];
    }
  const std::size_t skip = self >= 0 ? 1 : 0;
  for (; at < k && at + skip < count; ++at) {
    roots[at] = Lanes::root(values[at + skip]);
    ids_to[at] = names[at + skip];
  }
}

template <class Lanes, int D>
constexpr NearestKernel<typename Lanes::value> nearest_kernel{squares<Lanes, D>, bounds<Lanes, D>, select<Lanes>,
                                                              order<Lanes>};

template <class Single, class Twice>
constexpr NearestKernels make_nearest_kernels() {
  return {{nearest_kernel<Single, 2>, nearest_kernel<Single, 3>}, {nearest_kernel<Twice, 2>, nearest_kernel<Twice, 3>}};
}

}  // namespace
}  // namespace vicinal
