// The exact test: which candidates of a block are pairs.
//
// Bodies are a pair when ((dx*dx + dy*dy) + dz*dz) <= r*r with dx = (xj - xi) + s*L, every operation rounded in the
// dtype of the input, none fused. Doubles are tested in float32 first:
//
// In the near frame (index/bodies.hpp) coordinates are at most M, the reach R is in [0.5, 1), and u = 2^-24 is the
// rounding of a float. A stored coordinate is off by at most M u, that of a query seen through an image by 2 M u, and a
// difference d by another |d| u; the double arithmetic around it adds some 2^-50 M, so e = 3.2 M u + 2 u bounds the
// error of each difference while |d| <= 2. Hence |d2 - true d2| <= w(d) = 2 sqrt(D) d e + D e^2 + 8 u d^2, where the
// last term covers the three products and two sums. d^2 - w(d) grows with d for M <= 4096, so with w taken at 1.25 R
//     d2 <= r2 - w  is a pair,   d2 > r2 + w  is none,
// and only what lies between needs the double test. The result is the same bits as testing everything in double.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "exec/isa.hpp"
#include "index/bodies.hpp"
#include "index/index.hpp"
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

// Candidates given to the vector code at once: the positions of a tile stay in the first cache for all its queries.
inline constexpr std::size_t tile_candidates = 2048;

// A sink takes the hits of a block. `room` returns where up to `most` hits (and one register more) can be written,
// `take` says how many came, and for which query and image.
template <class S>
concept HitSink = requires(S sink, std::size_t most, Slot query, const Shift& shift) {
  { sink.room(most) } -> std::same_as<std::int32_t*>;
  sink.take(query, shift, most);
};

template <class T, int D>
class Test {
 public:
  Test(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, T cutoff)
      : queries_(queries), bodies_(bodies), squared_(cutoff * cutoff), banded_(queries.banded && bodies.banded),
        exact_kernel_(exact_kernel()), band_kernel_(kernels().band[D - 2]) {
    for (std::size_t a = 0; a < D; ++a) {
      exact_[a] = bodies.exact[a].data();
      near_[a] = bodies.near[a].data();
    }
    if (banded_) set_band(cutoff);
  }

  // Hands the hits of a block to a sink, as payload[slot].
  template <HitSink S>
  void hits(const Block& block, const std::int32_t* payload, S& sink) {
    for_each_tile(block, [&](Slot query, const Shift& shift, std::span<const Span> spans, std::size_t most) {
      std::int32_t* const out = sink.room(most);
      std::size_t n = 0;
      if (banded_) {
        const BandProbe probe = band_probe(query, shift);
        n = band_kernel_.hits(near_.data(), probe, spans.data(), spans.size(), payload, out);
        if (n == in_doubt) {
          n = 0;
          with_care(query, shift, probe, spans, [&](Slot slot) { out[n++] = payload[slot]; });
        }
      } else {
        n = exact_kernel_.hits(exact_.data(), exact_probe(query, shift), spans.data(), spans.size(), payload, out);
      }
      sink.take(query, shift, n);
    });
  }

  // Calls add(query, number of hits), once or several times per query.
  template <class Add>
  void count(const Block& block, Add&& add) {
    for_each_tile(block, [&](Slot query, const Shift& shift, std::span<const Span> spans, std::size_t) {
      std::size_t n = 0;
      if (banded_) {
        const BandProbe probe = band_probe(query, shift);
        n = band_kernel_.count(near_.data(), probe, spans.data(), spans.size());
        if (n == in_doubt) {
          n = 0;
          with_care(query, shift, probe, spans, [&](Slot) { ++n; });
        }
      } else {
        n = exact_kernel_.count(exact_.data(), exact_probe(query, shift), spans.data(), spans.size());
      }
      add(query, n);
    });
  }

 private:
  static const ExactKernel<T>& exact_kernel() {
    if constexpr (std::is_same_v<T, float>) return kernels().single[D - 2];
    else return kernels().twice[D - 2];
  }

  void set_band(T cutoff) {
    const double u = 0x1p-24;
    const auto dimensions = static_cast<double>(D);
    const double reach = static_cast<double>(cutoff) * bodies_.frame.scale;
    const double r2 = static_cast<double>(squared_) * bodies_.frame.scale * bodies_.frame.scale;
    const double e = 3.2 * bodies_.frame.largest * u + 2 * u;
    const double d = 1.25 * reach;
    const double w = 2 * std::sqrt(dimensions) * d * e + dimensions * e * e + 8 * u * d * d;
    constexpr float far = std::numeric_limits<float>::infinity();
    inside_ = std::nextafter(static_cast<float>(r2 - w), -far);
    outside_ = std::nextafter(static_cast<float>(r2 + w), far);
  }

  [[nodiscard]] ExactProbe<T> exact_probe(Slot query, const Shift& shift) const {
    ExactProbe<T> probe{};
    for (std::size_t a = 0; a < D; ++a) {
      probe.x[a] = queries_.exact[a][query];
      probe.shift[a] = static_cast<T>(shift[a]) * bodies_.box.edge[a];
    }
    probe.shifted = shift != Shift{};
    probe.squared = squared_;
    return probe;
  }
  [[nodiscard]] BandProbe band_probe(Slot query, const Shift& shift) const {
    BandProbe probe{};
    for (std::size_t a = 0; a < D; ++a) {
      probe.x[a] = queries_.near[a][query];
      if (shift[a] != 0)
        probe.x[a] = static_cast<float>(static_cast<double>(probe.x[a]) -
                                        shift[a] * static_cast<double>(bodies_.box.edge[a]) * bodies_.frame.scale);
    }
    probe.inside = inside_;
    probe.outside = outside_;
    return probe;
  }

  // A query with candidates in the band, one candidate at a time.
  template <class Hit>
  void with_care(Slot query, const Shift& shift, const BandProbe& probe, std::span<const Span> spans, Hit&& hit) const {
    for (const Span& span : spans)
      for (Slot slot = span.begin; slot < span.end; ++slot) {
        float near = 0;
        for (std::size_t a = 0; a < D; ++a) near += (near_[a][slot] - probe.x[a]) * (near_[a][slot] - probe.x[a]);
        if (near <= probe.inside || (near <= probe.outside && is_pair(query, slot, shift))) hit(slot);
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
    return sum <= squared_;
  }

  // Cuts the ranges of a block into tiles with one image each; f(query, shift, spans, their total length).
  template <class F>
  void for_each_tile(const Block& block, F&& f) {
    const auto ranges = block.ranges;
    std::size_t r = 0;
    Slot cut = ranges.empty() ? 0 : ranges[0].begin;  // where the next tile starts within ranges[r]
    while (r < ranges.size()) {
      const Shift shift = ranges[r].shift;
      fixed_.clear();
      Own own = Own::absent;
      Span own_span{};
      std::size_t total = 0;
      while (r < ranges.size() && ranges[r].shift == shift && total < tile_candidates) {
        const Range& range = ranges[r];
        const auto length = std::min<std::size_t>(range.end - cut, tile_candidates - total);
        const Span span{cut, cut + static_cast<Slot>(length)};
        if (range.own == Own::absent) {
          fixed_.push_back(span);
        } else {
          if (own != Own::absent) break;  // one at a time keeps the spans of a query simple
          own = range.own;
          own_span = span;
        }
        total += length;
        cut = span.end;
        if (cut == range.end && ++r < ranges.size()) cut = ranges[r].begin;
      }
      run_tile(block, shift, own, own_span, total, f);
    }
  }

  template <class F>
  void run_tile(const Block& block, const Shift& shift, Own own, Span own_span, std::size_t total, F&& f) {
    const std::size_t fixed = fixed_.size();
    fixed_.resize(fixed + 2);
    for (Slot query = block.first_query; query < block.last_query; ++query) {
      std::size_t spans = fixed;
      if (own == Own::after) {
        const Span rest{std::max(own_span.begin, query + 1), own_span.end};
        if (rest.begin < rest.end) fixed_[spans++] = rest;
      } else if (own == Own::except) {
        const Slot here = std::clamp(query, own_span.begin, own_span.end);
        if (own_span.begin < here) fixed_[spans++] = {own_span.begin, here};
        const Slot next = std::max(own_span.begin, query + 1);
        if (next < own_span.end) fixed_[spans++] = {next, own_span.end};
      }
      f(query, shift, std::span<const Span>(fixed_.data(), spans), total);
    }
  }

  const Bodies<T, D>& queries_;
  const Bodies<T, D>& bodies_;
  T squared_;
  bool banded_;
  float inside_ = 0, outside_ = 0;
  std::array<const T*, D> exact_{};
  std::array<const float*, D> near_{};
  const ExactKernel<T> exact_kernel_;
  const BandKernel band_kernel_;
  std::vector<Span> fixed_;
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
