// The exact test on vector registers, written once; kernels_avx2.cpp and kernels_avx512.cpp bring the registers.
//
// `Lanes` provides: value, vector, mask, width; load, broadcast, subtract, add, multiply, at_most (a mask of lanes
// where a <= b), first (a mask of the first k lanes), bits (a mask as an integer), keep (compress-store of payload).
// Everything is inside an unnamed namespace: each translation unit keeps its own copy, compiled for its own processor.
#pragma once

#include "pairs/kernels.hpp"

namespace vicinal {
namespace {

template <class Lanes, int D, bool Shifted>
struct Query {
  using vector = typename Lanes::vector;
  vector x[D];
  vector shift[D];

  inline vector squared_distance(const typename Lanes::value* const* at, std::size_t slot) const {
    vector sum{};
    for (int a = 0; a < D; ++a) {
      vector d = Lanes::subtract(Lanes::load(at[a] + slot), x[a]);
      if constexpr (Shifted) d = Lanes::add(d, shift[a]);
      const vector d2 = Lanes::multiply(d, d);
      sum = a == 0 ? d2 : Lanes::add(sum, d2);
    }
    return sum;
  }
};

// Calls step(slot, mask of valid lanes or nothing) over all candidates, a register at a time.
template <class Lanes, class Full, class Tail>
inline void sweep(const Span* span, std::size_t spans, const Full& full, const Tail& tail) {
  for (std::size_t s = 0; s < spans; ++s) {
    std::size_t slot = span[s].begin;
    const std::size_t end = span[s].end;
    for (; slot + Lanes::width <= end; slot += Lanes::width) full(slot);
    if (slot < end) tail(slot, Lanes::first(end - slot));
  }
}

template <class Lanes, int D, bool Shifted>
inline Query<Lanes, D, Shifted> make_query(const ExactProbe<typename Lanes::value>& probe) {
  Query<Lanes, D, Shifted> query;
  for (int a = 0; a < D; ++a) {
    query.x[a] = Lanes::broadcast(probe.x[a]);
    if constexpr (Shifted) query.shift[a] = Lanes::broadcast(probe.shift[a]);
  }
  return query;
}

template <class Lanes, int D, bool Shifted>
std::size_t exact_hits(const typename Lanes::value* const* x, const ExactProbe<typename Lanes::value>& probe,
                       const Span* span, std::size_t spans, const std::int32_t* payload, std::int32_t* out) {
  const auto query = make_query<Lanes, D, Shifted>(probe);
  const auto limit = Lanes::broadcast(probe.squared);
  std::int32_t* to = out;
  const auto keep = [&](std::size_t slot, typename Lanes::mask hit) { to += Lanes::keep(to, payload + slot, hit); };
  sweep<Lanes>(
      span, spans, [&](std::size_t slot) { keep(slot, Lanes::at_most(query.squared_distance(x, slot), limit)); },
      [&](std::size_t slot, typename Lanes::mask valid) {
        keep(slot, Lanes::both(Lanes::at_most(query.squared_distance(x, slot), limit), valid));
      });
  return static_cast<std::size_t>(to - out);
}

template <class Lanes, int D, bool Shifted>
std::size_t exact_count(const typename Lanes::value* const* x, const ExactProbe<typename Lanes::value>& probe,
                        const Span* span, std::size_t spans) {
  const auto query = make_query<Lanes, D, Shifted>(probe);
  const auto limit = Lanes::broadcast(probe.squared);
  std::size_t n = 0;
  sweep<Lanes>(
      span, spans,
      [&](std::size_t slot) { n += Lanes::number(Lanes::at_most(query.squared_distance(x, slot), limit)); },
      [&](std::size_t slot, typename Lanes::mask valid) {
        n += Lanes::number(Lanes::both(Lanes::at_most(query.squared_distance(x, slot), limit), valid));
      });
  return n;
}

template <class Lanes, int D>
std::size_t hits(const typename Lanes::value* const* x, const ExactProbe<typename Lanes::value>& probe,
                 const Span* span, std::size_t spans, const std::int32_t* payload, std::int32_t* out) {
  return probe.shifted ? exact_hits<Lanes, D, true>(x, probe, span, spans, payload, out)
                       : exact_hits<Lanes, D, false>(x, probe, span, spans, payload, out);
}
template <class Lanes, int D>
std::size_t count(const typename Lanes::value* const* x, const ExactProbe<typename Lanes::value>& probe,
                  const Span* span, std::size_t spans) {
  return probe.shifted ? exact_count<Lanes, D, true>(x, probe, span, spans)
                       : exact_count<Lanes, D, false>(x, probe, span, spans);
}

template <class Lanes, int D>
inline Query<Lanes, D, false> make_query(const BandProbe& probe) {
  Query<Lanes, D, false> query;
  for (int a = 0; a < D; ++a) query.x[a] = Lanes::broadcast(probe.x[a]);
  return query;
}

// Doubt is rare: it is only collected here, and whoever called decides the whole query again with care.
template <class Lanes, int D>
std::size_t band_hits(const float* const* x, const BandProbe& probe, const Span* span, std::size_t spans,
                      const std::int32_t* payload, std::int32_t* out) {
  const auto query = make_query<Lanes, D>(probe);
  const auto inside = Lanes::broadcast(probe.inside);
  const auto outside = Lanes::broadcast(probe.outside);
  typename Lanes::doubt doubt = Lanes::no_doubt();
  std::int32_t* to = out;
  sweep<Lanes>(
      span, spans,
      [&](std::size_t slot) {
        const auto d2 = query.squared_distance(x, slot);
        const auto hit = Lanes::at_most(d2, inside);
        doubt = Lanes::collect(doubt, Lanes::differ(hit, Lanes::at_most(d2, outside)));
        to += Lanes::keep(to, payload + slot, hit);
      },
      [&](std::size_t slot, typename Lanes::mask valid) {
        const auto d2 = query.squared_distance(x, slot);
        const auto hit = Lanes::both(Lanes::at_most(d2, inside), valid);
        const auto maybe = Lanes::both(Lanes::at_most(d2, outside), valid);
        doubt = Lanes::collect(doubt, Lanes::differ(hit, maybe));
        to += Lanes::keep(to, payload + slot, hit);
      });
  return Lanes::any(doubt) ? in_doubt : static_cast<std::size_t>(to - out);
}

template <class Lanes, int D>
std::size_t band_count(const float* const* x, const BandProbe& probe, const Span* span, std::size_t spans) {
  const auto query = make_query<Lanes, D>(probe);
  const auto inside = Lanes::broadcast(probe.inside);
  const auto outside = Lanes::broadcast(probe.outside);
  typename Lanes::doubt doubt = Lanes::no_doubt();
  std::size_t n = 0;
  sweep<Lanes>(
      span, spans,
      [&](std::size_t slot) {
        const auto d2 = query.squared_distance(x, slot);
        const auto hit = Lanes::at_most(d2, inside);
        doubt = Lanes::collect(doubt, Lanes::differ(hit, Lanes::at_most(d2, outside)));
        n += Lanes::number(hit);
      },
      [&](std::size_t slot, typename Lanes::mask valid) {
        const auto d2 = query.squared_distance(x, slot);
        const auto hit = Lanes::both(Lanes::at_most(d2, inside), valid);
        doubt = Lanes::collect(doubt, Lanes::differ(hit, Lanes::both(Lanes::at_most(d2, outside), valid)));
        n += Lanes::number(hit);
      });
  return Lanes::any(doubt) ? in_doubt : n;
}

template <class Single, class Twice>
constexpr Kernels make_kernels(void (*stream)(void*, const void*, std::size_t)) {
  return {
      {{hits<Single, 2>, count<Single, 2>}, {hits<Single, 3>, count<Single, 3>}},
      {{hits<Twice, 2>, count<Twice, 2>}, {hits<Twice, 3>, count<Twice, 3>}},
      {{band_hits<Single, 2>, band_count<Single, 2>}, {band_hits<Single, 3>, band_count<Single, 3>}},
      stream,
  };
}

}  // namespace
}  // namespace vicinal
