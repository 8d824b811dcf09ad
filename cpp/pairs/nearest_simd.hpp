// The vector code of the search for nearest points, written once; the file that includes it provides the registers.
//
// Besides the operations that kernels_simd.hpp names, `Lanes` provides: at (the values at given places), root, roots,
// least_of (the smallest lane), where (lanes of one register or another by a mask), bits (a mask as an integer); tally,
// a register of counts: none_yet, add_to (adds 1 in the set lanes of a mask), reached (lanes with a count not below k)
// and store_tally. Lanes of floats have `narrow`, which makes one register of one or two of doubles; exchanged<X>
// (lane i ^ X comes to lane i), ordered<X> (the smaller of two such lanes comes to the lower one), packed (the lanes of
// a mask first) and with_bits (some bits of every lane replaced by those of another register).
#pragma once

#include <type_traits>

#include "pairs/kernels.hpp"
#include "pairs/nearest_kernels.hpp"

namespace vicinal {
namespace {

// Runs visit(0) … visit(N - 1). Not a loop: arrays of registers whose elements are named by constants stay in
// registers.
template <std::size_t N, class Visit>
[[gnu::always_inline]] inline void unrolled(const Visit& visit) {
  if constexpr (N > 0) {
    unrolled<N - 1>(visit);
    visit(std::integral_constant<std::size_t, N - 1>{});
  }
}

// A point from which squared distances are computed by the expression of the exact test.
template <class Lanes, int D, bool Shifted>
struct From {
  using V = typename Lanes::value;
  typename Lanes::vector from[D];
  typename Lanes::vector moved[D];

  inline From(const V* at, const V* shift) {
    for (int a = 0; a < D; ++a) {
      from[a] = Lanes::broadcast(at[a]);
      moved[a] = Lanes::broadcast(Shifted ? shift[a] : 0);
    }
  }
  // of(axis): a register of coordinates.
  template <class Of>
  [[gnu::always_inline]] inline typename Lanes::vector square(const Of& of) const {
    typename Lanes::vector sum{};
    for (int a = 0; a < D; ++a) {
      auto d = Lanes::subtract(of(a), from[a]);
      if constexpr (Shifted) d = Lanes::add(d, moved[a]);
      const auto d2 = Lanes::multiply(d, d);
      sum = a == 0 ? d2 : Lanes::add(sum, d2);
    }
    return sum;
  }
};

// Columns by value: what is written might alias pointers that are read from memory, and they would be read again.
template <class V, int D>
struct ColumnPointers {
  V* of[D];
  inline explicit ColumnPointers(V* const* x) {
    for (int a = 0; a < D; ++a) of[a] = x[a];
  }
  inline V* operator[](int a) const { return of[a]; }
};

template <class Lanes, int D, bool Shifted>
void squares_of(const typename Lanes::value* const* x, std::size_t count, const typename Lanes::value* at,
                const typename Lanes::value* shift, typename Lanes::value* to) {
  const From<Lanes, D, Shifted> from(at, shift);
  const ColumnPointers<const typename Lanes::value, D> column(x);
  for (std::size_t k = 0; k < count; k += Lanes::width)
    Lanes::store(to + k, from.square([&](int a) { return Lanes::load(column[a] + k); }));
}
template <class Lanes, int D>
void squares(const typename Lanes::value* const* x, std::size_t count, const typename Lanes::value* at,
             const typename Lanes::value* shift, typename Lanes::value* to) {
  if (shift == nullptr) squares_of<Lanes, D, false>(x, count, at, shift, to);
  else squares_of<Lanes, D, true>(x, count, at, shift, to);
}

template <class Lanes, int D, bool Shifted>
void squares_at_of(const typename Lanes::value* const* x, const std::int32_t* slots, std::size_t count,
                   const typename Lanes::value* at, const typename Lanes::value* shift, typename Lanes::value* to) {
  const From<Lanes, D, Shifted> from(at, shift);
  const ColumnPointers<const typename Lanes::value, D> column(x);
  for (std::size_t k = 0; k < count; k += Lanes::width)
    Lanes::store(to + k, from.square([&](int a) { return Lanes::at(column[a], slots + k); }));
  for (std::size_t k = 0; k < order_padding; k += Lanes::width)
    Lanes::store(to + count + k, Lanes::broadcast(infinite));
}
template <class Lanes, int D>
void squares_at(const typename Lanes::value* const* x, const std::int32_t* slots, std::size_t count,
                const typename Lanes::value* at, const typename Lanes::value* shift, typename Lanes::value* to) {
  if (shift == nullptr) squares_at_of<Lanes, D, false>(x, slots, count, at, shift, to);
  else squares_at_of<Lanes, D, true>(x, slots, count, at, shift, to);
}

}  // namespace
}  // namespace vicinal

#include "pairs/first_simd.hpp"

namespace vicinal {
namespace {

// The box from … to, and others.
template <class Lanes, int D>
struct Between {
  using V = typename Lanes::value;
  typename Lanes::vector least[D];
  typename Lanes::vector greatest[D];
  typename Lanes::vector moved[D];

  inline Between(const V* from, const V* to, const V* shift) {
    for (int a = 0; a < D; ++a) {
      least[a] = Lanes::broadcast(from[a]);
      greatest[a] = Lanes::broadcast(to[a]);
      moved[a] = Lanes::broadcast(shift != nullptr ? shift[a] : 0);
    }
  }
  inline typename Lanes::vector square(const V* const* low, const V* const* high, std::size_t k) const {
    typename Lanes::vector sum{};
    for (int a = 0; a < D; ++a) {
      const auto above = Lanes::add(Lanes::subtract(Lanes::load(low[a] + k), greatest[a]), moved[a]);
      const auto below = Lanes::subtract(Lanes::subtract(least[a], Lanes::load(high[a] + k)), moved[a]);
      const auto d = Lanes::most(Lanes::most(above, below), Lanes::zero());
      const auto d2 = Lanes::multiply(d, d);
      sum = a == 0 ? d2 : Lanes::add(sum, d2);
    }
    return sum;
  }
};

template <class Lanes, int D>
void bounds(const typename Lanes::value* const* low, const typename Lanes::value* const* high,
            const typename Lanes::value* from, const typename Lanes::value* to, const typename Lanes::value* shift,
            typename Lanes::value* bounds_to) {
  const Between<Lanes, D> between(from, to, shift);
  for (std::size_t k = 0; k < touched_boxes; k += Lanes::width)
    Lanes::store(bounds_to + k, between.square(low, high, k));
}
template <class Lanes, int D>
std::size_t children(const typename Lanes::value* const* low, const typename Lanes::value* const* high,
                     const std::int32_t* nodes, std::size_t count, const typename Lanes::value* from,
                     const typename Lanes::value* to, const typename Lanes::value* shift, typename Lanes::value most,
                     std::int32_t* children_to) {
  const Between<Lanes, D> between(from, to, shift);
  const ColumnPointers<const typename Lanes::value, D> lower(low), upper(high);
  const auto limit = Lanes::broadcast(most);
  std::size_t n = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t first = static_cast<std::size_t>(nodes[k]) * touched_boxes;
    for (std::size_t box = first; box < first + touched_boxes; box += Lanes::width) {
      const auto within = Lanes::at_most(between.square(lower.of, upper.of, box), limit);
      Lanes::pack_slots(children_to + n, box, Lanes::packing(within));
      n += Lanes::number(within);
    }
  }
  return n;
}

// Coordinates along an axis in a local frame: a register of floats from one or two of `Exact`.
template <class Single, class Exact, bool Shifted>
struct Local {
  using V = typename Exact::value;
  typename Exact::vector middle, moved, scale;

  inline Local(const LocalFrame<V>& frame, int a)
      : middle(Exact::broadcast(frame.middle[a])), moved(Exact::broadcast(frame.shift[a])),
        scale(Exact::broadcast(frame.scale)) {}
  inline typename Exact::vector exact(const V* p) const {
    auto d = Exact::subtract(Exact::load(p), middle);
    if constexpr (Shifted) d = Exact::add(d, moved);
    return Exact::multiply(d, scale);
  }
  inline typename Single::vector operator()(const V* p) const {
    if constexpr (sizeof(V) == sizeof(float)) return exact(p);
    else if constexpr (Exact::width == Single::width) return Single::narrow(exact(p));
    else return Single::narrow(exact(p), exact(p + Exact::width));
  }
};

template <class Single, class Exact, int D, bool Shifted>
std::size_t gather_local(const typename Exact::value* const* x, const Span* spans, std::size_t count,
                         const LocalFrame<typename Exact::value>& frame, const QueryBounds<float>& bounds, float most,
                         float* const* to, std::int32_t* slots) {
  const ColumnPointers<const typename Exact::value, D> source(x);
  const ColumnPointers<float, D> target(to);
  const auto each = [&](auto value) {
    struct {
      decltype(value(0)) of[3];
    } all{{value(0), value(1), value(D - 1)}};
    return all;
  };
  const auto local = each([&](int a) { return Local<Single, Exact, Shifted>(frame, a); });
  const auto low = each([&](int a) { return Single::broadcast(bounds.low[a]); });
  const auto high = each([&](int a) { return Single::broadcast(bounds.high[a]); });
  const auto limit = Single::broadcast(most);
  std::size_t at = 0;
  for (std::size_t s = 0; s < count; ++s) {
    const Span span = spans[s];
    for (std::size_t from = span.begin; from < span.end; from += Single::width) {
      typename Single::vector place[D];
      typename Single::vector sum{};
      for (int a = 0; a < D; ++a) {
        place[a] = local.of[a](source[a] + from);
        const auto d = Single::subtract(place[a], Single::least(Single::most(place[a], low.of[a]), high.of[a]));
        const auto d2 = Single::multiply(d, d);
        sum = a == 0 ? d2 : Single::add(sum, d2);
      }
      const std::size_t left = span.end - from;
      const auto near =
          Single::both(Single::at_most(sum, limit), Single::first(left < Single::width ? left : Single::width));
      const auto packing = Single::packing(near);
      for (int a = 0; a < D; ++a) Single::store(target[a] + at, Single::pack(place[a], packing));
      Single::pack_slots(slots + at, from, packing);
      at += Single::number(near);
    }
  }
  for (std::size_t k = 0; k < tile_lanes; k += Single::width)
    for (int a = 0; a < D; ++a) Single::store(target[a] + at + k, Single::broadcast(infinite));
  return at;
}
template <class Single, class Exact, int D>
std::size_t gather_local(const typename Exact::value* const* x, const Span* spans, std::size_t count,
                         const LocalFrame<typename Exact::value>& frame, const QueryBounds<float>& bounds, float most,
                         float* const* to, std::int32_t* slots) {
  return frame.shifted ? gather_local<Single, Exact, D, true>(x, spans, count, frame, bounds, most, to, slots)
                       : gather_local<Single, Exact, D, false>(x, spans, count, frame, bounds, most, to, slots);
}

// Candidates are dealt to `Groups` groups, and the k-th smallest of the groups' smallest squares is the limit. With 2 k
// groups it is met by about 1.4 k candidates.
template <class Lanes, int D, std::size_t Groups>
float limit_of(const float* const* x, std::size_t size, const float* at, std::size_t k, float* squares) {
  constexpr std::size_t registers = Groups / Lanes::width;
  const From<Lanes, D, false> from(at, nullptr);
  const ColumnPointers<const float, D> column(x);
  typename Lanes::vector least[registers];
  unrolled<registers>([&](std::size_t r) { least[r] = Lanes::broadcast(infinite); });
  const auto deal = [&](std::size_t place, typename Lanes::vector& group) {
    const auto square = from.square([&](int a) { return Lanes::load(column[a] + place); });
    Lanes::store(squares + place, square);
    group = Lanes::least(group, square);
  };
  std::size_t place = 0;
  for (; place + Groups <= size; place += Groups)
    unrolled<registers>([&](std::size_t r) { deal(place + r * Lanes::width, least[r]); });
  if constexpr (Groups > tile_lanes)
    unrolled<registers>([&](std::size_t r) {
      if (place + r * Lanes::width < size) deal(place + r * Lanes::width, least[r]);
    });
  if (k == 0) return infinite;
  // The number of smallest squares that are not larger than each of them: the k-th is the least with k or more.
  alignas(64) float values[Groups];
  auto smallest = Lanes::broadcast(infinite);
  unrolled<registers>([&](std::size_t r) { Lanes::store(values + r * Lanes::width, least[r]); });
  typename Lanes::tally ranks[registers];
  unrolled<registers>([&](std::size_t r) { ranks[r] = Lanes::none_yet(); });
#pragma GCC unroll 1
  for (std::size_t c = 0; c < Groups; ++c) {
    const auto one = Lanes::broadcast(values[c]);
    unrolled<registers>([&](std::size_t r) { ranks[r] = Lanes::add_to(ranks[r], Lanes::at_most(one, least[r])); });
  }
  unrolled<registers>([&](std::size_t r) {
    const auto kept = Lanes::where(Lanes::reached(ranks[r], k), least[r], Lanes::broadcast(infinite));
    smallest = Lanes::least(smallest, kept);
  });
  return Lanes::least_of(smallest);
}
template <class Lanes, int D>
float limit(const float* const* x, std::size_t size, const float* at, std::size_t k, float* squares) {
  return k <= 10   ? limit_of<Lanes, D, 16>(x, size, at, k, squares)
         : k <= 20 ? limit_of<Lanes, D, 32>(x, size, at, k, squares)
                   : limit_of<Lanes, D, 64>(x, size, at, k, squares);
}

template <class Lanes>
std::size_t select(const float* squares, const std::int32_t* slots, std::size_t size, float most, std::int32_t* to) {
  const auto limit = Lanes::broadcast(most);
  std::size_t n = 0;
  for (std::size_t at = 0; at < size; at += Lanes::width) {
    const auto within = Lanes::at_most(Lanes::load(squares + at), limit);
    n += Lanes::keep(to + n, slots + at, within);
  }
  for (std::size_t k = 0; k < order_padding; ++k) to[n + k] = 0;
  return n;
}

// Sorts slots by square, then id, by insertion.
template <class V>
void insert(const V* squares, const std::int32_t* slots, const std::int32_t* ids, std::size_t count, V* squares_to,
            std::int32_t* slots_to) {
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t to = k;
    for (; to > 0 && (squares_to[to - 1] > squares[k] ||
                      (squares_to[to - 1] == squares[k] && ids[slots_to[to - 1]] > ids[slots[k]]));
         --to) {
      squares_to[to] = squares_to[to - 1];
      slots_to[to] = slots_to[to - 1];
    }
    squares_to[to] = squares[k];
    slots_to[to] = slots[k];
  }
}

// The rank of a square is the number of squares not larger than it, unless some are equal. Mostly there are few, and
// always comparing `order_padding` of them is faster than predicting their number.
template <class Lanes>
inline std::size_t rank_few(const typename Lanes::value* squares, const std::int32_t* slots, std::size_t count,
                            typename Lanes::value* values, std::int32_t* names) {
  constexpr std::size_t registers = order_padding / Lanes::width;
  typename Lanes::vector all[registers];
  typename Lanes::tally ranks[registers];
  unrolled<registers>([&](std::size_t r) {
    all[r] = Lanes::load(squares + r * Lanes::width);
    ranks[r] = Lanes::none_yet();
  });
#pragma GCC unroll 1
  for (std::size_t c = 0; c < order_padding; ++c) {
    const auto one = Lanes::broadcast(squares[c]);
    unrolled<registers>([&](std::size_t r) { ranks[r] = Lanes::add_to(ranks[r], Lanes::at_most(one, all[r])); });
  }
  alignas(64) typename Lanes::count rank[order_padding];
  unrolled<registers>([&](std::size_t r) { Lanes::store_tally(rank + r * Lanes::width, ranks[r]); });
  std::size_t sum = 0;
  for (std::size_t c = 0; c < order_padding; ++c) {
    const auto to = static_cast<std::size_t>(rank[c]);
    sum += to;
    values[to - 1] = squares[c];
    names[to - 1] = slots[c];
  }
  return sum - (order_padding - count) * order_padding;
}
template <class Lanes>
inline std::size_t rank_many(const typename Lanes::value* squares, const std::int32_t* slots, std::size_t count,
                             typename Lanes::value* values, std::int32_t* names) {
  std::size_t sum = 0;
  for (std::size_t c = 0; c < count; ++c) {
    const auto one = Lanes::broadcast(squares[c]);
    std::size_t rank = 0;
    for (std::size_t at = 0; at < count; at += Lanes::width)
      rank += Lanes::number(Lanes::at_most(Lanes::load(squares + at), one));
    sum += rank;
    values[rank - 1] = squares[c];
    names[rank - 1] = slots[c];
  }
  return sum;
}

template <class Lanes>
std::size_t order(const typename Lanes::value* squares, const std::int32_t* slots, const std::int32_t* ids,
                  std::size_t count, std::int32_t self, std::size_t k, typename Lanes::value most,
                  typename Lanes::value* squares_to, std::int32_t* ids_to) {
  using V = typename Lanes::value;
  // Where nothing was measured, no infinities were written either: a rank of what is there could be any number.
  if (count == 0) return 0;
  V values[ordered_most];
  std::int32_t names[ordered_most];
  const std::size_t sum = count <= order_padding ? rank_few<Lanes>(squares, slots, count, values, names)
                                                 : rank_many<Lanes>(squares, slots, count, values, names);
  if (sum != count * (count + 1) / 2) insert(squares, slots, ids, count, values, names);
  std::size_t from = 0;
  std::size_t at = 0;
  const auto write = [&] {
    squares_to[at] = values[from];
    ids_to[at++] = ids[names[from++]];
  };
  // The query itself has distance 0, so it is among the first.
  if (self != no_slot) {
    while (from < count && names[from] != self) {
      if (at == k) return k;
      write();
    }
    ++from;
  }
  while (at < k && from < count && values[from] <= most) write();
  return at;
}

template <class Lanes>
void roots(typename Lanes::value* x, std::size_t count) {
  std::size_t k = 0;
  for (; k + Lanes::width <= count; k += Lanes::width) Lanes::store(x + k, Lanes::roots(Lanes::load(x + k)));
  for (; k < count; ++k) x[k] = Lanes::root(x[k]);
}

template <class Single, class Exact, int D>
constexpr NearestKernel<typename Exact::value> nearest_kernel{
    squares<Exact, D>, squares_at<Exact, D>, bounds<Exact, D>, children<Exact, D>,     gather_local<Single, Exact, D>,
    limit<Single, D>,  select<Single>,       order<Exact>,     keys_within<Single, D>, least_keys<Single>,
    first<Exact, D>,   roots<Exact>};

template <class Single, class Twice>
constexpr NearestKernels make_nearest_kernels() {
  return {{nearest_kernel<Single, Single, 2>, nearest_kernel<Single, Single, 3>},
          {nearest_kernel<Single, Twice, 2>, nearest_kernel<Single, Twice, 3>}};
}

}  // namespace
}  // namespace vicinal
