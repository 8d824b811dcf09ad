// The vector code of the exact test: one small table of functions per instruction set.
//
// This header is included by translation units compiled for different instruction sets, so it must not pull in
// anything whose inline functions the linker could share between them: plain types only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "geometry/shape.hpp"
#include "index/own.hpp"

namespace vicinal {

// Candidates copied together: x[c][0 … size-1], 64-byte aligned. Entries from the last candidate up to `size`, a
// multiple of `tile_lanes`, are infinitely far away, so there is no remainder to handle.
inline constexpr std::size_t tile_lanes = 16;
inline constexpr float infinite = std::numeric_limits<float>::infinity();

// A run of slots.
struct Span {
  std::uint32_t begin, end;
};

template <class V>
struct Tile {
  const V* x[most_columns];
  const std::int32_t* payload;
  std::uint32_t size;
};

// Queries first … last-1 against one tile.
template <class V>
struct Batch {
  const V* x[most_columns];
  const std::int32_t* ids;
  std::uint32_t first, last;
  Own own;
  std::uint32_t position;       // of the first query in the tile; the others follow it
  const std::uint32_t* places;  // or null; of each query in a sorted tile: see begin_of
  bool shifted;
  V shift[3];  // exact: added to every difference; band: subtracted from the query
  // Points. Exact: d2 <= inside is a pair. Band: d2 <= inside is a pair, d2 > outside is none, anything between is in
  // doubt.
  V inside, outside;
  // Spheres are a pair within s = ri + rj or, if `widest`, within s = max(ri, rj). Band: the doubt at a distance s is
  // |d2 - s*s| <= slope * s + offset.
  bool widest;
  V slope, offset;
  // Rows hold each pair once: candidates are left out unless their payload, which is an id then, is greater than the id
  // of the query less `image`. `own` is absent.
  bool upper;
  std::int32_t image;
};

// The first candidate of a query (Own::after), or the one it leaves out (Own::except). Always inlined: translation
// units compiled for different instruction sets must not share a copy.
template <class V>
[[gnu::always_inline]] inline std::uint32_t begin_of(const Batch<V>& batch, std::uint32_t query) {
  const std::uint32_t k = query - batch.first;
  if (batch.places != nullptr) return batch.places[k];
  return batch.position + k + (batch.own == Own::after ? 1 : 0);
}

// The bounds of the queries of a batch: of their positions, or of boxes, the largest radius and the smallest id.
template <class V>
struct QueryBounds {
  V low[3], high[3];
  V radius;
  std::int32_t id;
};

// gather: copies spans of x and payload (of slots if payload is null, of nothing if payload_to is null) side by side,
//        and `tile_lanes` bodies without size infinitely far away behind them. With bounds, leaves out candidates that
//        cannot be a pair with any query inside them. ends[s] is where span s ends in the copy; returns the last of
//        them.
// hits:  writes payload of every hit to `out` and, unless null, the query's id to `owner`, counts[k] of them for query
//        k; may scribble up to `overshoot` entries beyond the last.
// count: only counts.
// Both return how many queries were done: fewer than all when the next one has a candidate in doubt.
// part:  for the first query only, writes payload of candidates that are certainly a pair to `hits`, that of those in
//        doubt to `doubts`, and how many of each to counts[0] and counts[1]. The query itself is not among the hits,
//        but may be among the doubts. Null where nothing is ever in doubt.
inline constexpr std::size_t overshoot = 64;
// gather copies several registers at once, and writes up to that many undefined entries behind the last span.
inline constexpr std::size_t gather_overshoot = 64;

template <class V>
struct Kernel {
  std::uint32_t (*gather)(const V* const* x, const std::int32_t* payload, const Span*, std::size_t spans,
                          const Batch<V>&, const QueryBounds<V>*, V* const* to, std::int32_t* payload_to,
                          std::uint32_t* ends);
  std::uint32_t (*hits)(const Tile<V>&, const Batch<V>&, std::int32_t* out, std::int32_t* owner, std::uint32_t* counts);
  std::uint32_t (*count)(const Tile<V>&, const Batch<V>&, std::uint32_t* counts);
  void (*part)(const Tile<V>&, const Batch<V>&, std::int32_t* hits, std::int32_t* doubts, std::uint32_t* counts);
};

// By shape and dimension; the test of boxes only compares, so it is never in doubt.
struct Kernels {
  Kernel<float> single[shapes][2];
  Kernel<double> twice[shapes][2];
  Kernel<float> band[shapes - 1][2];
  // Copies whole cache lines past the cache; `to` is 64-byte aligned, `bytes` a multiple of 64.
  void (*stream)(void* to, const void* from, std::size_t bytes);
};

// Of the instruction set in use.
const Kernels& kernels();

const Kernels& baseline_kernels();
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
const Kernels& neon_kernels();

}  // namespace vicinal
