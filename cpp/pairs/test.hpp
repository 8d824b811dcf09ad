// The exact test: which candidates of a block are pairs.
//
// Points are a pair when ((dx*dx + dy*dy) + dz*dz) <= r*r with dx = (xj - xi) + s*L, every operation rounded in the
// dtype of the input, none fused; spheres likewise with r = ri + rj; boxes when lower_j + s*L <= upper_i and
// lower_i - s*L <= upper_j along every axis. Doubles are tested in float32 first:
//
// In the near frame (index/bodies.hpp) coordinates are at most M, the reach R is in [0.5, 1), and u = 2^-24 is the
// rounding of a float. A stored coordinate is off by at most M u, that of a query seen through an image by 3 M u (its
// own, that of the shift, that of their difference), and a difference d by another |d| u; the double arithmetic around
// it adds some 2^-50 M, so e = 4.2 M u + 2 u bounds the error of each difference while |d| <= 2. Hence |d2 - true d2|
// <= w(d) = 2 sqrt(D) d e + D e^2 + 8 u d^2, where the last term covers the three products and two sums. d^2 - w(d)
// grows with d for M <= 4096, so with w taken at 1.25 R
//     d2 <= r2 - w  is a pair,   d2 > r2 + w  is none,
// and only what lies between needs the double test. The result is the same bits as testing everything in double.
//
// For spheres r is S = ri + rj <= 1, which may be far smaller than e. Its float S' is off by 2 u S, and S'^2 by 5 u
// S^2. Allow W(S) = 2 sqrt(D) S e + 4 D e^2 + 24 u S: then d <= S implies d2 <= S'^2 + W, since w grows with d; and d >
// S implies d2 > S'^2 - W: by the growth of d^2 - w(d) if S > sqrt(D) e, else because d2 >= -2 D e^2 > S^2 - W(S). The
// 24 u S cover 8 u d^2, the 5 u S^2, and the rounding of the comparison itself.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "exec/isa.hpp"
#include "index/bodies.hpp"
#include "index/structure.hpp"
#include "pairs/kernels.hpp"

namespace vicinal {

inline const Kernels& kernels() {
#ifdef VICINAL_X86
  switch (isa_setting().load(std::memory_order_relaxed)) {
    case Isa::avx512: return avx512_kernels();
    case Isa::avx2: return avx2_kernels();
    case Isa::baseline: break;
  }
#endif
  return baseline_kernels();
}

// Candidates tested at once. A tile of them stays in the first cache with room for the hits.
inline constexpr std::size_t tile_candidates = 1024;

// A sink takes the hits of a block. `room` returns where up to `most` hits (and `overshoot` more) can be written, and
// where their queries' ids if it wants those; `take` says how many hits there are for each query from `first` on.
struct HitRoom {
  std::int32_t* hits;
  std::int32_t* owners;  // or null
};
template <class S>
concept HitSink =
    requires(S sink, std::size_t most, Slot first, std::span<const std::uint32_t> counts, const Shift& shift) {
      { sink.room(most) } -> std::same_as<HitRoom>;
      sink.take(first, counts, shift);
    };
// The most hits a sink is asked to make room for: a few queries' worth of a whole tile.
inline constexpr std::size_t batch_hits = 4 * tile_candidates;

template <class T, int D>
class Test {
 public:
  Test(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, T cutoff)
      : queries_(queries), bodies_(bodies), shape_(bodies.raw.shape), columns_(bodies.columns()),
        squared_(cutoff * cutoff), banded_(queries.banded && bodies.banded), exact_kernel_(exact_kernel(shape_)),
        band_kernel_(kernels().band[shape_ == Shape::sphere ? 1 : 0][D - 2]) {
    if (banded_) set_band(cutoff);
    for (std::size_t c = 0; c < columns_; ++c) {
      exact_tile_[c].reset(banded_ ? 0 : tile_candidates + gather_overshoot);
      near_tile_[c].reset(banded_ ? tile_candidates + gather_overshoot : 0);
    }
    payload_tile_.reset(tile_candidates + gather_overshoot);
  }

  // Hands the hits of a block to a sink, as payload[slot].
  template <HitSink S>
  void hits(const Block& block, const std::int32_t* payload, S& sink) {
    for_each_tile(block, [&](const Cut& cut) {
      // Not more queries at once than there is room for all their candidates.
      const auto together = static_cast<Slot>(std::max<std::size_t>(1, batch_hits / cut.total));
      on_tile(cut, payload, [&](const auto& kernel, const auto& tile, auto batch) {
        for (Slot first = cut.first; first < cut.last;) {
          batch.first = first;
          batch.last = std::min(first + together, cut.last);
          batch.position = cut.position + (first - cut.first);
          const HitRoom room = sink.room((batch.last - first) * cut.total);
          Slot done = kernel.hits(tile, batch, room.hits, room.owners, counts_.data());
          if (done == 0) {
            std::uint32_t n = 0;
            with_care(first, cut, batch, tile, [&](Slot slot) {
              if (room.owners != nullptr) room.owners[n] = queries_.ids[first];
              room.hits[n++] = payload[slot];
            });
            counts_[0] = n;
            done = 1;
          }
          sink.take(first, std::span<const std::uint32_t>(counts_.data(), done), cut.shift);
          first += done;
        }
      });
    });
  }

  // Calls add(query, number of hits), once or several times per query.
  template <class Add>
  void count(const Block& block, Add&& add) {
    for_each_tile(block, [&](const Cut& cut) {
      on_tile(cut, nullptr, [&](const auto& kernel, const auto& tile, auto batch) {
        for (Slot first = cut.first; first < cut.last;) {
          batch.first = first;
          batch.last = cut.last;
          batch.position = cut.position + (first - cut.first);
          Slot done = kernel.count(tile, batch, counts_.data());
          if (done == 0) {
            counts_[0] = 0;
            with_care(first, cut, batch, tile, [&](Slot) { ++counts_[0]; });
            done = 1;
          }
          for (Slot k = 0; k < done; ++k) add(first + k, counts_[k]);
          first += done;
        }
      });
    });
  }

 private:
  static constexpr std::size_t cut_queries = 256;

  // Some queries of a block and some of their candidates, all seen through one image.
  struct Cut {
    Slot first, last;
    Shift shift{};
    Own own = Own::absent;
    Slot position = 0;  // of the first query among the candidates, unless `own` is absent
    std::size_t total = 0;
  };

  static const Kernel<T>& exact_kernel(Shape shape) {
    const auto s = static_cast<std::size_t>(shape);
    if constexpr (std::is_same_v<T, float>) return kernels().single[s][D - 2];
    else return kernels().twice[s][D - 2];
  }

  void set_band(T cutoff) {
    const double u = 0x1p-24;
    const auto dimensions = static_cast<double>(D);
    const double reach = static_cast<double>(cutoff) * bodies_.frame.scale;
    const double r2 = static_cast<double>(squared_) * bodies_.frame.scale * bodies_.frame.scale;
    const double e = 4.2 * bodies_.frame.largest * u + 2 * u;
    slope_ = static_cast<float>(1.001 * (2 * std::sqrt(dimensions) * e + 24 * u));
    offset_ = static_cast<float>(1.001 * 4 * dimensions * e * e);
    const double d = 1.25 * reach;
    const double w = 2 * std::sqrt(dimensions) * d * e + dimensions * e * e + 8 * u * d * d;
    constexpr float far = std::numeric_limits<float>::infinity();
    inside_ = std::nextafter(static_cast<float>(r2 - w), -far);
    outside_ = std::nextafter(static_cast<float>(r2 + w), far);
  }

  // Copies the candidates of a cut side by side, and runs f(kernel, tile, batch) on them.
  template <class F>
  void on_tile(const Cut& cut, const std::int32_t* payload, F&& f) {
    if (banded_) {
      f(band_kernel_, gather(cut, band_kernel_, payload, bodies_.near, near_tile_),
        batch_of<float>(cut, queries_.near, inside_, outside_, bodies_.frame.scale));
    } else {
      f(exact_kernel_, gather(cut, exact_kernel_, payload, bodies_.exact, exact_tile_),
        batch_of<T>(cut, queries_.exact, squared_, squared_, 1));
    }
  }

  template <class V, std::size_t N>
  Batch<V> batch_of(const Cut& cut, const std::array<Buffer<V>, N>& x, V inside, V outside, double scale) const {
    Batch<V> batch{};
    for (std::size_t c = 0; c < columns_; ++c) batch.x[c] = x[c].data();
    for (std::size_t a = 0; a < D; ++a) {
      // Exactly s * L for the exact test, whose scale is 1.
      batch.shift[a] = static_cast<V>(static_cast<T>(cut.shift[a]) * bodies_.box.edge[a] * static_cast<T>(scale));
    }
    batch.ids = queries_.ids.data();
    batch.own = cut.own;
    batch.shifted = cut.shift != Shift{};
    batch.inside = inside;
    batch.outside = outside;
    batch.slope = static_cast<V>(slope_);
    batch.offset = static_cast<V>(offset_);
    return batch;
  }

  template <class V, std::size_t N>
  Tile<V> gather(const Cut& cut, const Kernel<V>& kernel, const std::int32_t* payload,
                 const std::array<Buffer<V>, N>& from, std::array<Buffer<V>, N>& to) {
    std::array<const V*, N> source{};
    std::array<V*, N> target{};
    Tile<V> tile{};
    for (std::size_t c = 0; c < columns_; ++c) {
      source[c] = from[c].data();
      target[c] = to[c].data();
      tile.x[c] = target[c];
    }
    kernel.gather(source.data(), payload, spans_.data(), span_count_, target.data(), payload_tile_.data());
    tile.payload = payload_tile_.data();
    tile.size = static_cast<std::uint32_t>((cut.total + tile_lanes - 1) / tile_lanes * tile_lanes);
    return tile;
  }

  // A query with candidates in the band, one candidate at a time.
  template <class V, class Hit>
  void with_care(Slot query, const Cut& cut, const Batch<V>& batch, const Tile<V>& tile, Hit&& hit) const {
    std::array<V, D> x{};
    for (std::size_t a = 0; a < D; ++a) x[a] = batch.shifted ? batch.x[a][query] - batch.shift[a] : batch.x[a][query];
    std::size_t position = 0;
    const std::size_t self = cut.position + (query - cut.first);
    for (const Span& span : std::span(spans_).first(span_count_))
      for (Slot slot = span.begin; slot < span.end; ++slot, ++position) {
        if (cut.own == Own::after && position <= self) continue;
        if (cut.own == Own::except && position == self) continue;
        V near = 0;
        for (std::size_t a = 0; a < D; ++a) near += (tile.x[a][position] - x[a]) * (tile.x[a][position] - x[a]);
        V inside = batch.inside;
        V outside = batch.outside;
        if (shape_ == Shape::sphere) {
          const V s = batch.x[D][query] + tile.x[D][position];
          const V width = batch.slope * s + batch.offset;
          inside = s * s - width;
          outside = s * s + width;
        }
        if (near <= inside || (near <= outside && is_pair(query, slot, cut.shift))) hit(slot);
      }
  }
  [[nodiscard]] bool is_pair(Slot query, Slot slot, const Shift& shift) const {
    T sum = 0;
    for (int axis = 0; axis < D; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      T d = bodies_.position(slot, axis) - queries_.position(query, axis);
      if (shift[a] != 0) d = d + static_cast<T>(shift[a]) * bodies_.box.edge[a];
      sum = axis == 0 ? d * d : sum + d * d;
    }
    if (shape_ == Shape::point) return sum <= squared_;
    const T s = queries_.position(query, D) + bodies_.position(slot, D);
    return sum <= s * s;
  }

  // Runs f(cut) for the candidates of a block, with spans_ set to them: at once if they fit, otherwise in tiles.
  template <class F>
  void for_each_tile(const Block& block, F&& f) {
    const auto ranges = block.ranges;
    std::size_t total = 0;
    bool one_image = true;
    for (const Range& range : ranges) {
      total += range.end - range.begin;
      one_image = one_image && range.shift == ranges[0].shift;
    }
    if (total > tile_candidates || !one_image || block.last_query - block.first_query > cut_queries ||
        ranges.size() > spans_.size()) {
      for (Slot first = block.first_query; first < block.last_query; first += static_cast<Slot>(cut_queries))
        cut_up(block, first, std::min(first + static_cast<Slot>(cut_queries), block.last_query), f);
      return;
    }
    if (total == 0) return;
    span_count_ = ranges.size();
    for (std::size_t r = 0; r < ranges.size(); ++r) spans_[r] = {ranges[r].begin, ranges[r].end};
    f(Cut{block.first_query, block.last_query, ranges[0].shift, ranges[0].own, block.first_query - ranges[0].begin,
          total});
  }

  // The same for few queries and any number of candidates, in tiles with one image each. The queries come first in a
  // tile where they are among the candidates, so that "after the query" is a suffix of it.
  template <class F>
  void cut_up(const Block& block, Slot first, Slot last, F&& f) {
    Cut cut{first, last};
    span_count_ = 0;
    const auto run = [&] {
      if (cut.total > 0) f(std::as_const(cut));
      span_count_ = 0;
      cut = {first, last};
    };
    const auto add = [&](Slot begin, Slot end, const Shift& shift) {
      while (begin < end) {
        if (cut.total == tile_candidates || span_count_ == spans_.size() || (cut.total > 0 && cut.shift != shift))
          run();
        cut.shift = shift;
        const auto length = static_cast<Slot>(std::min<std::size_t>(end - begin, tile_candidates - cut.total));
        spans_[span_count_++] = {begin, begin + length};
        cut.total += length;
        begin += length;
      }
    };
    for (const Range& range : block.ranges) {
      if (range.own == Own::absent) {
        add(range.begin, range.end, range.shift);
        continue;
      }
      add(first, last, range.shift);
      cut.own = range.own;
      add(last, range.end, range.shift);
      if (range.own == Own::except) add(range.begin, first, range.shift);
    }
    run();
  }

  const Bodies<T, D>& queries_;
  const Bodies<T, D>& bodies_;
  const Shape shape_;
  const std::size_t columns_;
  T squared_;
  bool banded_;
  float inside_ = 0, outside_ = 0, slope_ = 0, offset_ = 0;
  const Kernel<T> exact_kernel_;
  const Kernel<float> band_kernel_;
  std::array<Span, 64> spans_{};
  std::size_t span_count_ = 0;
  std::array<Buffer<T>, Bodies<T, D>::most> exact_tile_;
  std::array<Buffer<float>, Bodies<T, D>::most> near_tile_;
  Buffer<std::int32_t> payload_tile_;
  std::array<std::uint32_t, cut_queries> counts_{};
};

// Candidates of a block, without looking at any of them.
inline std::uint64_t candidates_of(const Block& block) {
  const std::uint64_t queries = block.last_query - block.first_query;
  std::uint64_t sum = 0;
  for (const Range& range : block.ranges) {
    const std::uint64_t length = range.end - range.begin;
    if (range.own == Own::after) {
      for (Slot query = block.first_query; query < block.last_query; ++query)
        sum += range.end - std::min(range.end, std::max(range.begin, query + 1));
    } else {
      sum += queries * length;
      // Queries of a block lie inside the range that leaves them out.
      if (range.own == Own::except) sum -= queries;
    }
  }
  return sum;
}

}  // namespace vicinal
