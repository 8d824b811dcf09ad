// The exact test on vector registers, written once; kernels_avx2.cpp and the like provide the registers.
//
// `Lanes` provides: value, vector, mask, width; load, store, copy (of payload), broadcast, subtract, add, multiply;
// least, most (minimum and maximum), zero, at_most (lanes where a <= b), from(k) (all lanes but the first k), first(k),
// without(k) (all lanes but lane k), greater (lanes of the payload above a limit), both, differ, either, any, none;
// number of set lanes; keep (compress-store of the payload's set lanes, returns their number); fill (stores one id many
// times); number_slots (stores consecutive numbers); packing (how to move the set lanes of a mask to the front), pack,
// pack_payload and pack_slots, which do that. Everything is inside an unnamed namespace: each translation unit keeps
// its own copy, compiled for its own processor. The file that includes this header includes the intrinsics first.
#pragma once

#include <cstring>

#include "pairs/kernels.hpp"

namespace vicinal {
namespace {

// The distance of a query to candidates.
template <class Lanes, int D, bool Band, bool Shifted>
struct Distance {
  using V = typename Lanes::value;
  using vector = typename Lanes::vector;
  vector x[D];
  vector shift[D];

  inline Distance(const Batch<V>& batch, std::size_t slot) {
    for (int a = 0; a < D; ++a) {
      x[a] = Lanes::broadcast(Band && Shifted ? batch.x[a][slot] - batch.shift[a] : batch.x[a][slot]);
      if constexpr (Shifted && !Band) shift[a] = Lanes::broadcast(batch.shift[a]);
    }
  }
  inline vector squared(const Tile<V>& tile, std::size_t k) const {
    vector sum{};
    for (int a = 0; a < D; ++a) {
      vector d = Lanes::subtract(Lanes::load(tile.x[a] + k), x[a]);
      if constexpr (Shifted && !Band) d = Lanes::add(d, shift[a]);
      const vector d2 = Lanes::multiply(d, d);
      sum = a == 0 ? d2 : Lanes::add(sum, d2);
    }
    return sum;
  }
};

// A query of each shape: hits(tile, k, doubt) are the lanes that are pairs with it; those in doubt are added to
// `doubt`.
template <class Lanes, int D, Shape S, bool Band, bool Shifted, bool Widest>
struct QueryLanes;

template <class Lanes, int D, bool Band, bool Shifted, bool Widest>
struct QueryLanes<Lanes, D, Shape::point, Band, Shifted, Widest> {
  using V = typename Lanes::value;
  Distance<Lanes, D, Band, Shifted> distance;
  typename Lanes::vector inside, outside;

  inline QueryLanes(const Batch<V>& batch, std::size_t slot)
      : distance(batch, slot), inside(Lanes::broadcast(batch.inside)), outside(Lanes::broadcast(batch.outside)) {}
  inline typename Lanes::mask hits(const Tile<V>& tile, std::size_t k, typename Lanes::mask& doubt) const {
    const auto d2 = distance.squared(tile, k);
    const auto hit = Lanes::at_most(d2, inside);
    if constexpr (Band) doubt = Lanes::either(doubt, Lanes::differ(hit, Lanes::at_most(d2, outside)));
    return hit;
  }
};

template <class Lanes, int D, bool Band, bool Shifted, bool Widest>
struct QueryLanes<Lanes, D, Shape::sphere, Band, Shifted, Widest> {
  using V = typename Lanes::value;
  Distance<Lanes, D, Band, Shifted> distance;
  typename Lanes::vector radius, slope, offset;

  inline QueryLanes(const Batch<V>& batch, std::size_t slot)
      : distance(batch, slot), radius(Lanes::broadcast(batch.x[D][slot])), slope(Lanes::broadcast(batch.slope)),
        offset(Lanes::broadcast(batch.offset)) {}
  inline typename Lanes::mask hits(const Tile<V>& tile, std::size_t k, typename Lanes::mask& doubt) const {
    const auto d2 = distance.squared(tile, k);
    const auto other = Lanes::load(tile.x[D] + k);
    const auto s = Widest ? Lanes::most(radius, other) : Lanes::add(radius, other);
    const auto s2 = Lanes::multiply(s, s);
    if constexpr (!Band) return Lanes::at_most(d2, s2);
    const auto width = Lanes::add(Lanes::multiply(slope, s), offset);
    const auto hit = Lanes::at_most(Lanes::add(d2, width), s2);
    if constexpr (Band) doubt = Lanes::either(doubt, Lanes::differ(hit, Lanes::at_most(d2, Lanes::add(s2, width))));
    return hit;
  }
};

template <class Lanes, int D, bool Band, bool Shifted, bool Widest>
struct QueryLanes<Lanes, D, Shape::box, Band, Shifted, Widest> {
  using V = typename Lanes::value;
  typename Lanes::vector lower[D], upper[D], shift[D];

  inline QueryLanes(const Batch<V>& batch, std::size_t slot) {
    for (int a = 0; a < D; ++a) {
      lower[a] = Lanes::broadcast(Shifted ? batch.x[a][slot] - batch.shift[a] : batch.x[a][slot]);
      upper[a] = Lanes::broadcast(batch.x[D + a][slot]);
      shift[a] = Lanes::broadcast(batch.shift[a]);
    }
  }
  inline typename Lanes::mask hits(const Tile<V>& tile, std::size_t k, typename Lanes::mask&) const {
    typename Lanes::mask all{};
    for (int a = 0; a < D; ++a) {
      auto low = Lanes::load(tile.x[a] + k);
      if constexpr (Shifted) low = Lanes::add(low, shift[a]);
      const auto overlap =
          Lanes::both(Lanes::at_most(low, upper[a]), Lanes::at_most(lower[a], Lanes::load(tile.x[D + a] + k)));
      all = a == 0 ? overlap : Lanes::both(all, overlap);
    }
    return all;
  }
};

// All queries of a batch together: near(x, k) are the lanes of candidates that may be a pair with one of them.
//
// Rounding is monotone, so each value computed here from the nearest point of the bounds is not larger than the value
// that `QueryLanes` computes from any query inside them: no pair is lost.
template <class Lanes, int D, Shape S, bool Band, bool Shifted>
struct Around {
  using V = typename Lanes::value;
  using vector = typename Lanes::vector;
  vector low[D], high[D], shift[D];
  vector inside, outside;
  vector radius, floor, slope, offset;  // spheres reach max(their radius, floor) + radius

  inline Around(const Batch<V>& batch, const QueryBounds<V>& bounds)
      : inside(Lanes::broadcast(batch.inside)), outside(Lanes::broadcast(batch.outside)),
        radius(Lanes::broadcast(batch.widest ? V{0} : bounds.radius)),
        floor(Lanes::broadcast(batch.widest ? bounds.radius : V{0})), slope(Lanes::broadcast(batch.slope)),
        offset(Lanes::broadcast(batch.offset)) {
    for (int a = 0; a < D; ++a) {
      // Boxes: the lower corner is moved, the upper one is not. The test in the band moves the query.
      const bool moved = Shifted && (Band || S == Shape::box);
      low[a] = Lanes::broadcast(moved ? bounds.low[a] - batch.shift[a] : bounds.low[a]);
      high[a] = Lanes::broadcast(moved && S != Shape::box ? bounds.high[a] - batch.shift[a] : bounds.high[a]);
      shift[a] = Lanes::broadcast(batch.shift[a]);
    }
  }
  inline typename Lanes::mask near(const V* const* x, std::size_t k) const {
    if constexpr (S == Shape::box) {
      typename Lanes::mask all{};
      for (int a = 0; a < D; ++a) {
        auto lower = Lanes::load(x[a] + k);
        if constexpr (Shifted) lower = Lanes::add(lower, shift[a]);
        const auto overlap =
            Lanes::both(Lanes::at_most(lower, high[a]), Lanes::at_most(low[a], Lanes::load(x[D + a] + k)));
        all = a == 0 ? overlap : Lanes::both(all, overlap);
      }
      return all;
    } else {
      vector sum{};
      for (int a = 0; a < D; ++a) {
        const vector at = Lanes::load(x[a] + k);
        vector d;
        if constexpr (Shifted && !Band) {
          const vector above = Lanes::add(Lanes::subtract(at, high[a]), shift[a]);
          const vector below = Lanes::subtract(Lanes::subtract(low[a], at), shift[a]);
          d = Lanes::most(Lanes::most(above, below), Lanes::zero());
        } else {
          d = Lanes::subtract(at, Lanes::least(Lanes::most(at, low[a]), high[a]));
        }
        const vector d2 = Lanes::multiply(d, d);
        sum = a == 0 ? d2 : Lanes::add(sum, d2);
      }
      if constexpr (S == Shape::point) return Lanes::at_most(sum, Band ? outside : inside);
      const auto s = Lanes::add(Lanes::most(Lanes::load(x[S == Shape::sphere ? D : 0] + k), floor), radius);
      const auto s2 = Lanes::multiply(s, s);
      if constexpr (!Band) return Lanes::at_most(sum, s2);
      return Lanes::at_most(sum, Lanes::add(s2, Lanes::add(Lanes::multiply(slope, s), offset)));
    }
  }
};

// Runs visit(k, mask of hits) over the registers of a tile from `first` on, except that of the register at `special`
// only the lanes of `mask` count; true when some candidate is in doubt. It must be inlined: the counter of `visit` has
// to stay in a register.
//
// Doubt is rare: it is only collected here, and the caller tests the candidates in doubt again.
template <class Lanes, int D, Shape S, bool Band, bool Shifted, bool Widest, class Visit>
[[gnu::always_inline]] inline bool sweep(const Tile<typename Lanes::value>& tile,
                                         const Batch<typename Lanes::value>& batch, std::uint32_t slot,
                                         std::size_t first, std::size_t special, typename Lanes::mask mask,
                                         const Visit& visit) {
  const QueryLanes<Lanes, D, S, Band, Shifted, Widest> query(batch, slot);
  auto doubt = Lanes::none();
  std::size_t k = first;
  for (; k < special; k += Lanes::width) visit(k, query.hits(tile, k, doubt));
  if (k >= tile.size) return false;
  visit(k, Lanes::both(query.hits(tile, k, doubt), mask));
#pragma GCC unroll 4
  for (k += Lanes::width; k < tile.size; k += Lanes::width) visit(k, query.hits(tile, k, doubt));
  return Band && Lanes::any(doubt);
}

// Runs the variant of the code for a batch: run<Shifted, Widest>().
template <Shape S, class V, class Run>
[[gnu::always_inline]] inline auto run_variant(const Batch<V>& batch, const Run& run) {
  if constexpr (S == Shape::sphere)
    if (batch.widest)
      return batch.shifted ? run.template operator()<true, true>() : run.template operator()<false, true>();
  return batch.shifted ? run.template operator()<true, false>() : run.template operator()<false, false>();
}

// The register of a position in the tile.
template <class Lanes>
inline std::size_t register_of(std::size_t position) {
  return position / Lanes::width * Lanes::width;
}

// Tile and batch are passed by value: stores might alias a reference, and every pointer would be read again.
template <class Lanes, int D, Shape S, bool Band, bool Shifted, bool Widest, bool Upper>
std::uint32_t hits_of(const Tile<typename Lanes::value> tile, const Batch<typename Lanes::value> batch,
                      std::int32_t* out, std::int32_t* owner, std::uint32_t* counts) {
  for (std::uint32_t q = batch.first; q < batch.last; ++q) {
    std::int32_t* to = out;
    bool doubt = false;
    if constexpr (Upper) {
      const auto id = Lanes::broadcast_id(batch.ids[q] - batch.image);
      doubt = sweep<Lanes, D, S, Band, Shifted, Widest>(
          tile, batch, q, 0, 0, Lanes::from(0), [&](std::size_t k, typename Lanes::mask hit) {
            to += Lanes::keep(to, tile.payload + k, Lanes::both(hit, Lanes::greater(tile.payload + k, id)));
          });
    } else {
      const std::size_t begin = batch.own == Own::absent ? 0 : begin_of(batch, q);
      const std::size_t special = register_of<Lanes>(begin);
      doubt = sweep<Lanes, D, S, Band, Shifted, Widest>(
          tile, batch, q, batch.own == Own::except ? 0 : special, special,
          batch.own == Own::except ? Lanes::without(begin % Lanes::width) : Lanes::from(begin % Lanes::width),
          [&](std::size_t k, typename Lanes::mask hit) { to += Lanes::keep(to, tile.payload + k, hit); });
    }
    if (doubt) return q - batch.first;
    const auto n = static_cast<std::size_t>(to - out);
    if (owner != nullptr) {
      // Copying too many registers costs less than a branch that depends on n.
      std::size_t filled = 0;
      do filled += Lanes::fill(owner + filled, batch.ids[q]);
      while (filled < n);
      owner += n;
    }
    counts[q - batch.first] = static_cast<std::uint32_t>(n);
    out = to;
  }
  return batch.last - batch.first;
}

template <class Lanes, int D, Shape S, bool Band, bool Shifted, bool Widest>
std::uint32_t count_of(const Tile<typename Lanes::value> tile, const Batch<typename Lanes::value> batch,
                       std::uint32_t* counts) {
  for (std::uint32_t q = batch.first; q < batch.last; ++q) {
    const std::size_t begin = batch.own == Own::after ? begin_of(batch, q) : 0;
    const std::size_t first = register_of<Lanes>(begin);
    std::size_t n = 0;
    const bool doubt = sweep<Lanes, D, S, Band, Shifted, Widest>(
        tile, batch, q, first, first, Lanes::from(begin % Lanes::width),
        [&](std::size_t, typename Lanes::mask hit) { n += Lanes::number(hit); });
    if (doubt) return q - batch.first;
    // A body is always a pair with itself.
    counts[q - batch.first] = static_cast<std::uint32_t>(n - (batch.own == Own::except ? 1 : 0));
  }
  return batch.last - batch.first;
}

template <class Lanes, int D, Shape S, bool Band>
std::uint32_t hits(const Tile<typename Lanes::value>& tile, const Batch<typename Lanes::value>& batch,
                   std::int32_t* out, std::int32_t* owner, std::uint32_t* counts) {
  return run_variant<S>(batch, [&]<bool Shifted, bool Widest>() {
    return batch.upper ? hits_of<Lanes, D, S, Band, Shifted, Widest, true>(tile, batch, out, owner, counts)
                       : hits_of<Lanes, D, S, Band, Shifted, Widest, false>(tile, batch, out, owner, counts);
  });
}
template <class Lanes, int D, Shape S, bool Band>
std::uint32_t count(const Tile<typename Lanes::value>& tile, const Batch<typename Lanes::value>& batch,
                    std::uint32_t* counts) {
  return run_variant<S>(batch, [&]<bool Shifted, bool Widest>() {
    return count_of<Lanes, D, S, Band, Shifted, Widest>(tile, batch, counts);
  });
}

// Excess entries are overwritten by the next span, or by infinity. (Spans are not empty.)
template <class Lanes, int D, Shape S>
std::uint32_t gather_all(const typename Lanes::value* const* x, const std::int32_t* payload, const Span* spans,
                         std::size_t count, typename Lanes::value* const* to, std::int32_t* payload_to,
                         std::uint32_t* ends) {
  // Not farther than a buffer may be read past its end.
  constexpr std::size_t together = 96 / sizeof(typename Lanes::vector) > 1 ? 96 / sizeof(typename Lanes::vector) : 1;
  constexpr int columns = columns_of(S, D);
  std::size_t at = 0;
  for (std::size_t s = 0; s < count; ++s) {
    const Span span = spans[s];
    std::size_t next = at;
    std::size_t from = span.begin;
    // The number of registers that a span needs is an unpredictable branch. But one is mostly enough in sparse space
    // and four in dense space, and a branch between these two cases is predictable.
    const auto copy = [&](std::size_t registers) {
      for (std::size_t k = 0; k < registers * Lanes::width; k += Lanes::width) {
        for (int a = 0; a < columns; ++a) Lanes::store(to[a] + next + k, Lanes::load(x[a] + from + k));
        if (payload != nullptr) Lanes::copy(payload_to + next + k, payload + from + k);
        else if (payload_to != nullptr) Lanes::number_slots(payload_to + next + k, from + k);
      }
      from += registers * Lanes::width;
      next += registers * Lanes::width;
    };
    copy(1);
    while (from < span.end) copy(together);
    at += span.end - span.begin;
    ends[s] = static_cast<std::uint32_t>(at);
  }
  return static_cast<std::uint32_t>(at);
}

template <class Lanes, int D, Shape S, bool Band, bool Shifted>
std::uint32_t gather_near(const typename Lanes::value* const* x, const std::int32_t* payload, const Span* spans,
                          std::size_t count, const Batch<typename Lanes::value>& batch,
                          const QueryBounds<typename Lanes::value>& bounds, typename Lanes::value* const* to,
                          std::int32_t* payload_to, std::uint32_t* ends) {
  using V = typename Lanes::value;
  constexpr int columns = columns_of(S, D);
  // Local pointers: what is written might alias those of the caller, and they would be read again each time.
  const V* source[columns];
  V* target[columns];
  for (int a = 0; a < columns; ++a) {
    source[a] = x[a];
    target[a] = to[a];
  }
  const Around<Lanes, D, S, Band, Shifted> around(batch, bounds);
  const auto limit = Lanes::broadcast_id(bounds.id - batch.image);
  std::size_t at = 0;
  const auto take = [&](std::size_t from, std::size_t n) {
    auto near = Lanes::both(around.near(source, from), Lanes::first(n));
    if (batch.upper) near = Lanes::both(near, Lanes::greater(payload + from, limit));
    const auto packing = Lanes::packing(near);
    for (int a = 0; a < columns; ++a) Lanes::store(target[a] + at, Lanes::pack(Lanes::load(source[a] + from), packing));
    if (payload != nullptr) Lanes::pack_payload(payload_to + at, payload + from, packing);
    else if (payload_to != nullptr) Lanes::pack_slots(payload_to + at, from, packing);
    at += Lanes::number(near);
  };
  for (std::size_t s = 0; s < count; ++s) {
    const Span span = spans[s];
    // As in gather_all, the number of registers is hard to predict: most spans take one or two.
    for (std::size_t from = span.begin; from < span.end; from += 2 * Lanes::width) {
      const std::size_t left = span.end - from;
      const std::size_t first = left < Lanes::width ? left : Lanes::width;
      const std::size_t second = left - first < Lanes::width ? left - first : Lanes::width;
      take(from, first);
      take(from + Lanes::width, second);
    }
    ends[s] = static_cast<std::uint32_t>(at);
  }
  return static_cast<std::uint32_t>(at);
}

template <class Lanes, int D, Shape S, bool Band>
std::uint32_t gather(const typename Lanes::value* const* x, const std::int32_t* payload, const Span* spans,
                     std::size_t count, const Batch<typename Lanes::value>& batch,
                     const QueryBounds<typename Lanes::value>* bounds, typename Lanes::value* const* to,
                     std::int32_t* payload_to, std::uint32_t* ends) {
  using V = typename Lanes::value;
  // Local pointers: those behind `x` and `to` might alias the output, and would be read again each time.
  constexpr int columns = columns_of(S, D);
  const V* source[columns];
  V* target[columns];
  for (int a = 0; a < columns; ++a) {
    source[a] = x[a];
    target[a] = to[a];
  }
  const std::uint32_t at = bounds == nullptr
                               ? gather_all<Lanes, D, S>(source, payload, spans, count, target, payload_to, ends)
                           : batch.shifted ? gather_near<Lanes, D, S, Band, true>(source, payload, spans, count, batch,
                                                                                  *bounds, target, payload_to, ends)
                                           : gather_near<Lanes, D, S, Band, false>(source, payload, spans, count, batch,
                                                                                   *bounds, target, payload_to, ends);
  for (std::size_t k = 0; k < tile_lanes; k += Lanes::width)
    for (int a = 0; a < columns; ++a) Lanes::store(target[a] + at + k, Lanes::broadcast(a < D ? infinite : 0.0F));
  return at;
}

template <class Lanes, int D, Shape S, bool Shifted, bool Widest, bool Counted>
void part_of(const Tile<float> tile, const Batch<float> batch, std::int32_t* hits, std::int32_t* doubts,
             std::uint32_t* counts) {
  const QueryLanes<Lanes, D, S, true, Shifted, Widest> query(batch, batch.first);
  const std::size_t begin = batch.own == Own::absent ? 0 : begin_of(batch, batch.first);
  const std::size_t special = register_of<Lanes>(begin);
  const auto id = Lanes::broadcast_id(batch.ids[batch.first] - batch.image);
  std::size_t sure = 0;
  std::int32_t* doubt_to = doubts;
  for (std::size_t k = batch.own == Own::after ? special : 0; k < tile.size; k += Lanes::width) {
    auto doubt = Lanes::none();
    auto hit = query.hits(tile, k, doubt);
    auto wanted = batch.upper ? Lanes::greater(tile.payload + k, id) : Lanes::from(0);
    if (k == special && batch.own != Own::absent)
      wanted = batch.own == Own::except ? Lanes::without(begin % Lanes::width) : Lanes::from(begin % Lanes::width);
    hit = Lanes::both(hit, wanted);
    sure += Counted ? Lanes::number(hit) : Lanes::keep(hits + sure, tile.payload + k, hit);
    doubt_to += Lanes::keep(doubt_to, tile.payload + k, Lanes::both(doubt, wanted));
  }
  counts[0] = static_cast<std::uint32_t>(sure);
  counts[1] = static_cast<std::uint32_t>(doubt_to - doubts);
}
template <class Lanes, int D, Shape S>
void part(const Tile<float>& tile, const Batch<float>& batch, std::int32_t* hits, std::int32_t* doubts,
          std::uint32_t* counts) {
  run_variant<S>(batch, [&]<bool Shifted, bool Widest>() {
    if (hits == nullptr) part_of<Lanes, D, S, Shifted, Widest, true>(tile, batch, hits, doubts, counts);
    else part_of<Lanes, D, S, Shifted, Widest, false>(tile, batch, hits, doubts, counts);
  });
}

template <class Lanes, int D, Shape S, bool Band>
constexpr Kernel<typename Lanes::value> make_kernel() {
  Kernel<typename Lanes::value> made{gather<Lanes, D, S, Band>, hits<Lanes, D, S, Band>, count<Lanes, D, S, Band>,
                                     nullptr};
  if constexpr (Band) made.part = part<Lanes, D, S>;
  return made;
}
template <class Lanes, int D, Shape S, bool Band>
constexpr Kernel<typename Lanes::value> kernel = make_kernel<Lanes, D, S, Band>();

inline void stream(void* to, const void* from, std::size_t bytes) {
#ifdef __AVX2__
  auto* const target = static_cast<__m256i*>(to);
  const auto* const source = static_cast<const __m256i*>(from);
  for (std::size_t k = 0; k < bytes / sizeof(__m256i); ++k)
    _mm256_stream_si256(target + k, _mm256_loadu_si256(source + k));
#else
  std::memcpy(to, from, bytes);
#endif
}

template <class Single, class Twice>
constexpr Kernels make_kernels() {
  return {
      {{kernel<Single, 2, Shape::point, false>, kernel<Single, 3, Shape::point, false>},
       {kernel<Single, 2, Shape::sphere, false>, kernel<Single, 3, Shape::sphere, false>},
       {kernel<Single, 2, Shape::box, false>, kernel<Single, 3, Shape::box, false>}},
      {{kernel<Twice, 2, Shape::point, false>, kernel<Twice, 3, Shape::point, false>},
       {kernel<Twice, 2, Shape::sphere, false>, kernel<Twice, 3, Shape::sphere, false>},
       {kernel<Twice, 2, Shape::box, false>, kernel<Twice, 3, Shape::box, false>}},
      {{kernel<Single, 2, Shape::point, true>, kernel<Single, 3, Shape::point, true>},
       {kernel<Single, 2, Shape::sphere, true>, kernel<Single, 3, Shape::sphere, true>}},
      stream,
  };
}

}  // namespace
}  // namespace vicinal
