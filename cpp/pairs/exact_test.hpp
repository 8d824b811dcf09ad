// The exact test, compiled once per dtype and dimension (CMakeLists.txt): the definition of make_test.
//
// Points are a pair when ((dx*dx + dy*dy) + dz*dz) <= r*r with dx = (xj - xi) + s*L, every operation rounded in the
// dtype of the input, none fused; spheres likewise with r = ri + rj or r = max(ri, rj); boxes when lower_j + s*L <=
// upper_i and lower_i - s*L <= upper_j along every axis. Doubles are tested in float32 first:
//
// In the near frame (index/bodies.hpp) coordinates are at most M, the reach R is in [0.5, 1), and u = 2^-24 is the
// rounding of a float. A stored coordinate is off by at most M u, that of a query in an image by 3 M u (its
// own, that of the shift, that of their difference), and a difference d by another |d| u; the double arithmetic around
// it adds some 2^-50 M, so e = 4.2 M u + 2 u bounds the error of each difference while |d| <= 2. Hence |d2 - true d2|
// <= w(d) = 2 sqrt(D) d e + D e^2 + 8 u d^2, where the last term covers the three products and two sums. d^2 - w(d)
// grows with d for M <= 4096, so with w taken at 1.25 R
//     d2 <= r2 - w  is a pair,   d2 > r2 + w  is none,
// and only candidates between need the double test. The result is the same as testing all candidates in double, which
// is faster where most queries have candidates in doubt: in a crystal whose shells are at the cutoff.
//
// For spheres r is S = ri + rj <= 1, which may be far smaller than e. Its float S' is off by 2 u S, and S'^2 by 5 u
// S^2. Allow W(S) = 2 sqrt(D) S e + 4 D e^2 + 24 u S: then d <= S implies d2 <= S'^2 + W, since w grows with d; and d >
// S implies d2 > S'^2 - W: by the growth of d^2 - w(d) if S > sqrt(D) e, else because d2 >= -2 D e^2 > S^2 - W(S). The
// 24 u S cover 8 u d^2, the 5 u S^2, and the rounding of the comparison itself. The same holds for S = max(ri, rj),
// which is rounded less.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "index/bodies.hpp"
#include "index/structure.hpp"
#include "pairs/filter.hpp"
#include "pairs/kernels.hpp"
#include "pairs/test.hpp"

namespace vicinal {

template <class T, int D>
class ExactTest final : public Test<T, D> {
 public:
  ExactTest(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, T cutoff, const PairFilter* filter)
      : queries_(queries), bodies_(bodies), shape_(bodies.raw.shape), columns_(bodies.columns()),
        squared_(cutoff * cutoff), banded_(queries.banded && bodies.banded), exact_kernel_(exact_kernel(shape_)),
        band_kernel_(kernels().band[shape_ == Shape::sphere ? 1 : 0][D - 2]) {
    if (banded_) set_band(cutoff);
    exact_batch_ = batch_of<T>(queries.exact, squared_, squared_);
    near_batch_ = batch_of<float>(queries.near, inside_, outside_);
    for (std::size_t c = 0; c < columns_; ++c) {
      exact_tile_[c].reset(banded_ ? 0 : tile_candidates + gather_overshoot);
      near_tile_[c].reset(banded_ ? tile_candidates + gather_overshoot : 0);
    }
    payload_tile_.reset(tile_candidates + gather_overshoot);
    if (filter != nullptr) filter_.emplace(*filter, queries, bodies);
  }

  void hits(const Block& block, const std::int32_t* payload, HitSink& sink, const HitOptions& options) override {
    for_each_tile(block, [&](const Cut& cut) {
      on_tile(cut, payload, options, true, [&](const auto& kernel, const auto& tile, auto& batch, Slot position) {
        // Not more queries at once than there is room for all their candidates.
        const Slot queries = cut.last - cut.first;
        const auto together = queries * tile.size <= batch_hits
                                  ? queries
                                  : static_cast<Slot>(std::max<std::size_t>(1, batch_hits / tile.size));
        for (Slot first = cut.first; first < cut.last;) {
          batch.first = first;
          batch.last = std::min(first + together, cut.last);
          batch.position = position + (first - cut.first);
          if (batch.places != nullptr) batch.places = places_.data() + (first - cut.first);
          const HitRoom room = sink.room((batch.last - first) * tile.size);
          Slot done = doubtful_ ? 0 : kernel.hits(tile, batch, room.hits, room.owners, counts_.data());
          if (done < batch.last - first) doubtful_ = true;
          if (done == 0) {
            done = batch.last - first;
            resolve(cut, kernel, batch, tile, payload, room, false, options.sort);
          }
          if (filter_) keep_pairs(first, done, cut.shift, room);
          sink.take(first, std::span<const std::uint32_t>(counts_.data(), done), cut.shift);
          first += done;
        }
      });
    });
  }

  void count(const Block& block, std::span<std::int32_t> counts) override {
    if (filter_) {
      if (hits_.size() < batch_hits + overshoot) hits_.reset(batch_hits + overshoot);
      CountSink sink(*this, counts);
      hits(block, nullptr, sink, {});
      return;
    }
    for_each_tile(block, [&](const Cut& cut) {
      on_tile(cut, nullptr, {}, false, [&](const auto& kernel, auto tile, auto& batch, Slot position) {
        for (Slot first = cut.first; first < cut.last;) {
          batch.first = first;
          batch.last = cut.last;
          batch.position = position + (first - cut.first);
          Slot done = doubtful_ ? 0 : kernel.count(tile, batch, counts_.data());
          if (done < batch.last - first) doubtful_ = true;
          if (done == 0) {
            if (tile.payload == nullptr) tile = gather_slots(cut, kernel, batch, tile);
            if (hits_.size() == 0) hits_.reset(tile_candidates + overshoot);
            done = batch.last - first;
            resolve(cut, kernel, batch, tile, nullptr, {hits_.data(), nullptr}, true, nullptr);
          }
          add_counts(first, done, counts);
          first += done;
        }
      });
    });
  }

  [[nodiscard]] std::uint64_t candidates() const override { return candidates_; }

 private:
  static constexpr std::size_t cut_queries = 256;

  // Some queries of a block and some of their candidates, all in one image.
  struct Cut {
    Slot first, last;
    Shift shift{};
    Own own = Own::absent;
    bool preceded = false;  // the queries are at the beginning of the second span of candidates, not of the first
    std::size_t total = 0;
  };

  // Counts hits that have to be found first.
  class CountSink final : public HitSink {
   public:
    CountSink(ExactTest& test, std::span<std::int32_t> counts) : test_(test), counts_(counts) {}
    HitRoom room(std::size_t /*most*/) override { return {test_.hits_.data(), nullptr}; }
    void take(Slot first, std::span<const std::uint32_t> counts, const Shift& /*shift*/) override {
      test_.add_counts(first, static_cast<Slot>(counts.size()), counts_);
    }

   private:
    ExactTest& test_;
    std::span<std::int32_t> counts_;
  };
  void add_counts(Slot first, Slot queries, std::span<std::int32_t> counts) const {
    for (Slot k = 0; k < queries; ++k)
      counts[static_cast<std::size_t>(queries_.ids[first + k])] += static_cast<std::int32_t>(counts_[k]);
  }

  // Removes hits that the filter refuses; sets counts_ to what is left of the hits of each query.
  void keep_pairs(Slot first, Slot queries, const Shift& shift, HitRoom room) {
    const std::int32_t* from = room.hits;
    for (Slot k = 0; k < queries; ++k) {
      const std::uint32_t n = counts_[k];
      counts_[k] = filter_->keep(first + k, shift, from, n, room.hits);
      from += n;
      room.hits += counts_[k];
      if (room.owners != nullptr) room.owners = std::fill_n(room.owners, counts_[k], queries_.ids[first + k]);
    }
  }

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

  // Copies the candidates of a cut side by side, and runs f(kernel, tile, batch, position of the first query). The tile
  // has a payload if it is wanted, or if doubts are to be expected.
  template <class F>
  void on_tile(const Cut& cut, const std::int32_t* payload, const HitOptions& options, bool wanted, F&& f) {
    const bool exactly = in_double();
    at_border_ = !exactly && reaches_outside(cut);
    // Where one tile is full of doubts, so is the next.
    doubtful_ = at_border_ || 2 * doubts_ > resolved_;
    doubts_ = 0;
    resolved_ = 0;
    std::int32_t* const payload_to = wanted || doubtful_ ? payload_tile_.data() : nullptr;
    if (exactly) {
      aim(exact_batch_, cut, options.keep, 1);
      run_tile(cut, exact_kernel_, payload, payload_to, *exact_columns_, exact_tile_, exact_batch_, options, f);
    } else {
      aim(near_batch_, cut, options.keep, bodies_.frame.scale);
      run_tile(cut, band_kernel_, payload, payload_to, bodies_.near, near_tile_, near_batch_, options, f);
    }
  }

  // Whether a tile is tested in double at once: where most queries of the tiles before it had candidates in doubt (a
  // crystal with the cutoff at a distance of its lattice). The band is tried again from time to time.
  [[nodiscard]] bool in_double() {
    constexpr std::uint32_t enough_queries = 64, tiles_at_a_time = 1024;
    if (!banded_) return true;
    if (exact_tiles_ > 0) {
      --exact_tiles_;
      return true;
    }
    doubtful_queries_ = 2 * doubts_ > resolved_ ? doubtful_queries_ + resolved_ : 0;
    if (doubtful_queries_ < enough_queries) return false;
    exact_columns_ = &bodies_.exact_columns();
    const auto& of_queries = queries_.exact_columns();
    for (std::size_t c = 0; c < columns_; ++c) exact_batch_.x[c] = of_queries[c].data();
    exact_tiles_ = tiles_at_a_time;
    doubtful_queries_ = 0;
    doubts_ = 0;
    resolved_ = 0;
    return true;
  }
  template <class V, std::size_t N, class F>
  void run_tile(const Cut& cut, const Kernel<V>& kernel, const std::int32_t* payload, std::int32_t* payload_to,
                const std::array<Buffer<V>, N>& from, std::array<Buffer<V>, N>& to, Batch<V>& batch,
                const HitOptions& options, F&& f) {
    std::uint32_t total = 0;
    const Tile<V> tile = gather(cut, kernel, batch, payload, payload_to, from, to, total);
    if (tile.size == 0) return;
    if (options.sort != nullptr) {
      sort_tile(to, total, *options.sort);
      place_queries(cut, total, batch);
    }
    f(kernel, tile, batch, cut.preceded ? ends_[0] : Slot{0});
  }

  // Sorts the candidates of a tile by payload. order_ gets the places where they were.
  template <class V, std::size_t N>
  void sort_tile(std::array<Buffer<V>, N>& x, std::size_t n, const SortKernels& kernels) {
    if (order_.size() == 0) order_.reset(tile_candidates + sort_overshoot);
    if (const int bits = kernels.rank(payload_tile_.data(), n, order_.data()); bits > 0) sort_ties(n, bits);
    if constexpr (sizeof(V) == sizeof(std::int32_t)) {
      std::array<std::int32_t*, N + 1> columns{payload_tile_.data()};
      for (std::size_t c = 0; c < columns_; ++c) columns[c + 1] = reinterpret_cast<std::int32_t*>(x[c].data());
      kernels.arrange(order_.data(), n, columns.data(), columns_ + 1);
    } else {
      const auto reorder = [&](auto* column) {
        std::array<std::decay_t<decltype(*column)>, tile_candidates> sorted;
        for (std::size_t k = 0; k < n; ++k) sorted[k] = column[static_cast<std::size_t>(order_[k])];
        std::copy_n(sorted.data(), n, column);
      };
      reorder(payload_tile_.data());
      for (std::size_t c = 0; c < columns_; ++c) reorder(x[c].data());
    }
  }
  // Sorts places of which the upper bits of a payload take precedence, but not all of them.
  void sort_ties(std::size_t n, int bits) {
    const std::int32_t* const payload = payload_tile_.data();
    std::int32_t* const keys = order_.data();
    const std::int32_t places = (1 << bits) - 1;
    for (std::size_t begin = 0, end; begin < n; begin = end) {
      end = begin + 1;
      while (end < n && keys[end] >> bits == keys[begin] >> bits) ++end;
      if (end - begin > 1)
        std::sort(keys + begin, keys + end,
                  [&](std::int32_t a, std::int32_t b) { return payload[a & places] < payload[b & places]; });
    }
    for (std::size_t k = 0; k < n; ++k) keys[k] &= places;
  }

  // Finds the places of queries in a sorted tile of n candidates. Queries that need only greater ids begin there.
  template <class V>
  void place_queries(const Cut& cut, std::size_t n, Batch<V>& batch) {
    if (!batch.upper && batch.own == Own::absent) return;
    const std::int32_t* const payload = payload_tile_.data();
    const std::int32_t* const ids = queries_.ids.data() + cut.first;
    const std::size_t queries = cut.last - cut.first;
    std::uint32_t* const places = places_.data();
    batch.places = places;
    if (!batch.upper) {  // the queries are in the tile
      const std::uint32_t position = cut.preceded ? ends_[0] : 0;
      for (std::size_t k = 0; k < n; ++k)  // without a branch: others write behind the last
        places[std::min<std::size_t>(static_cast<std::uint32_t>(order_[k]) - position, queries)] =
            static_cast<std::uint32_t>(k);
      return;
    }
    const std::int32_t more = 1 - batch.image;
    std::fill_n(places, queries, 0U);
    // Bisection for all queries in step: none waits for another, and there is no branch to mispredict.
    for (std::size_t left = n; left > 0;) {
      const std::size_t half = (left + 1) / 2;
      for (std::size_t q = 0; q < queries; ++q)
        places[q] += static_cast<std::uint32_t>(half) *
                     static_cast<std::uint32_t>(payload[places[q] + half - 1] < ids[q] + more);
      left -= half;
    }
    batch.own = Own::after;
    batch.upper = false;
  }

  template <class V, std::size_t N>
  Batch<V> batch_of(const std::array<Buffer<V>, N>& x, V inside, V outside) const {
    Batch<V> batch{};
    for (std::size_t c = 0; c < columns_; ++c) batch.x[c] = x[c].data();
    batch.ids = queries_.ids.data();
    batch.inside = inside;
    batch.outside = outside;
    batch.widest = bodies_.raw.widest;
    batch.slope = static_cast<V>(slope_);
    batch.offset = static_cast<V>(offset_);
    return batch;
  }
  // Sets what differs from cut to cut.
  template <class V>
  void aim(Batch<V>& batch, const Cut& cut, Keep keep, double scale) const {
    batch.shifted = cut.shift != Shift{};
    if (batch.shifted) {
      // Exactly that of the definition for the exact test, whose scale is 1.
      const auto image = bodies_.box.image(cut.shift);
      for (std::size_t a = 0; a < D; ++a) batch.shift[a] = static_cast<V>(image[a] * static_cast<T>(scale));
    }
    batch.upper = keep == Keep::upper;
    batch.places = nullptr;
    batch.image = keep == Keep::upper && is_upper_image(bodies_.box, cut.shift) ? 1 : 0;
    batch.own = keep == Keep::upper ? Own::absent : cut.own;
  }

  // From this number of queries on it pays off to leave out candidates that none of them can reach.
  static constexpr Slot several = 3;

  template <class V, std::size_t N>
  Tile<V> gather(const Cut& cut, const Kernel<V>& kernel, const Batch<V>& batch, const std::int32_t* payload,
                 std::int32_t* payload_to, const std::array<Buffer<V>, N>& from, std::array<Buffer<V>, N>& to,
                 std::uint32_t& total) {
    std::array<const V*, N> source{};
    std::array<V*, N> target{};
    Tile<V> tile{};
    for (std::size_t c = 0; c < columns_; ++c) {
      source[c] = from[c].data();
      target[c] = to[c].data();
      tile.x[c] = target[c];
    }
    QueryBounds<V> bounds;
    const bool choose = cut.last - cut.first >= several && cut.total > 2 * tile_lanes;
    if (choose) bounds = bounds_of(cut, batch);
    total = kernel.gather(source.data(), payload, spans_.data(), span_count_, batch, choose ? &bounds : nullptr,
                          target.data(), payload_to, ends_.data());
    tile.payload = payload_to;
    tile.size = static_cast<std::uint32_t>((total + tile_lanes - 1) / tile_lanes * tile_lanes);
    return tile;
  }
  template <class V>
  QueryBounds<V> bounds_of(const Cut& cut, const Batch<V>& batch) const {
    QueryBounds<V> bounds{};
    const std::size_t above = shape_ == Shape::box ? D : 0;
    for (std::size_t a = 0; a < D; ++a) {
      bounds.low[a] = batch.x[a][cut.first];
      bounds.high[a] = batch.x[above + a][cut.first];
    }
    for (Slot k = cut.first + 1; k < cut.last; ++k)  // all axes in turn: no step waits for the one before
      for (std::size_t a = 0; a < D; ++a) {
        bounds.low[a] = std::min(bounds.low[a], batch.x[a][k]);
        bounds.high[a] = std::max(bounds.high[a], batch.x[above + a][k]);
      }
    if (shape_ == Shape::sphere) bounds.radius = *std::max_element(batch.x[D] + cut.first, batch.x[D] + cut.last);
    if (batch.upper) bounds.id = *std::min_element(batch.ids + cut.first, batch.ids + cut.last);
    return bounds;
  }

  // Whether a query or a candidate is at the border of a cut frame. Clamped coordinates are not farther apart than true
  // ones, so candidates out of reach in the frame are out of reach; candidates within reach must be tested again.
  [[nodiscard]] bool reaches_outside(const Cut& cut) const {
    if (!banded_) return false;
    const auto within = [](const std::vector<std::uint32_t>& slots, Slot begin, Slot end) {
      const auto first = std::lower_bound(slots.begin(), slots.end(), begin);
      return first != slots.end() && *first < end;
    };
    if (!queries_.outside.empty() && within(queries_.outside, cut.first, cut.last)) return true;
    if (bodies_.outside.empty()) return false;
    return std::any_of(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(span_count_),
                       [&](const Span& span) { return within(bodies_.outside, span.begin, span.end); });
  }

  // Writes the hits of queries that may have candidates in doubt, and their numbers to counts_. Candidates in doubt are
  // copied side by side in T and tested by the exact kernel. The other queries of the tile probably have some, too.
  // `counted`: only their number is wanted, and `to` is scratch. `sort`, unless null, sorts the hits of each query.
  template <class V>
  void resolve(const Cut& cut, const Kernel<V>& kernel, Batch<V> batch, const Tile<V>& tile,
               const std::int32_t* payload, HitRoom to, bool counted, const SortKernels* sort) {
    if constexpr (!std::is_same_v<V, T>) {  // only such tests leave doubts
      if (unsure_.size() == 0) make_room_for_doubts();
      std::array<T, Bodies<T, D>::most> x;
      Batch<T> one = exact_batch_;
      aim(one, cut, Keep::all, 1);
      for (std::size_t c = 0; c < columns_; ++c) one.x[c] = &x[c];
      one.first = 0;
      one.last = 1;
      one.own = Own::absent;
      const Slot first = batch.first;
      for (; batch.first < batch.last;
           ++batch.first, ++batch.position, batch.places += batch.places != nullptr ? 1 : 0) {
        std::array<std::uint32_t, 2> counts;
        kernel.part(tile, batch, counted && !at_border_ ? nullptr : to.hits, unsure_.data(), counts.data());
        if (at_border_) {
          std::copy_n(to.hits, counts[0], unsure_.data() + counts[1]);
          counts = {0, counts[0] + counts[1]};
        }
        ++resolved_;
        if (counts[1] > 0) {
          ++doubts_;
          for (std::size_t c = 0; c < columns_; ++c) x[c] = queries_.position(batch.first, static_cast<int>(c));
          const std::int32_t self = batch.own == Own::except ? tile.payload[begin_of(batch, batch.first)] : -1;
          const Tile<T> exact = exact_tile(counts[1], self, payload != nullptr);
          if (counted) exact_kernel_.count(exact, one, &counts[1]);
          else exact_kernel_.hits(exact, one, to.hits + counts[0], nullptr, &counts[1]);
        }
        const std::uint32_t n = counts[0] + counts[1];
        if (sort != nullptr && counts[1] > 0) sort->sort(to.hits, n, to.hits);
        counts_[batch.first - first] = n;
        if (!counted) to.hits += n;
        if (to.owners != nullptr) to.owners = std::fill_n(to.owners, n, queries_.ids[batch.first]);
      }
    }
  }
  void make_room_for_doubts() {
    unsure_.reset(tile_candidates + overshoot);
    for (std::size_t c = 0; c < columns_; ++c) exact_tile_[c].reset(tile_candidates + gather_overshoot);
  }
  // The tile of the first `count` of unsure_ in T, without `self`; `ids`: those are the user's numbers, otherwise
  // slots.
  Tile<T> exact_tile(std::size_t count, std::int32_t self, bool ids) {
    Tile<T> tile{};
    std::array<T*, D + 1> x{};
    for (std::size_t c = 0; c < columns_; ++c) tile.x[c] = x[c] = exact_tile_[c].data();
    // Copies: what is written might alias members, and they would be read again each time.
    const Box<T, D> box = bodies_.box;
    const T* const data = bodies_.raw.data;
    const T* const radii = shape_ == Shape::sphere ? bodies_.raw.extra : nullptr;
    const std::int32_t* const id_of = ids ? nullptr : bodies_.ids.data();
    std::size_t n = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const std::int32_t candidate = unsure_[k];
      const auto body = static_cast<std::size_t>(id_of == nullptr ? candidate : id_of[candidate]);
      const auto position = box.wrap(data + body * D);
      for (std::size_t a = 0; a < D; ++a) x[a][n] = position[a];
      if (radii != nullptr) x[D][n] = radii[body];
      exact_payload_[n] = candidate;
      n += candidate != self ? 1 : 0;
    }
    constexpr std::size_t lanes = cache_line / sizeof(T);  // whole registers of any instruction set
    for (std::size_t c = 0; c < columns_; ++c)
      std::fill_n(x[c] + n, lanes, c < D ? std::numeric_limits<T>::infinity() : T{0});
    tile.payload = exact_payload_.data();
    tile.size = static_cast<std::uint32_t>((n + lanes - 1) / lanes * lanes);
    return tile;
  }
  // The same tile once more, with slots as payload.
  template <class V>
  Tile<V> gather_slots(const Cut& cut, const Kernel<V>& kernel, const Batch<V>& batch, const Tile<V>& tile) {
    if constexpr (std::is_same_v<V, T>) {
      return tile;
    } else {
      std::uint32_t total = 0;
      return gather(cut, kernel, batch, nullptr, payload_tile_.data(), bodies_.near, near_tile_, total);
    }
  }

  // Runs f(cut) for the candidates of a block, with spans_ set to them: at once if they fit, otherwise in tiles.
  template <class F>
  void for_each_tile(const Block& block, F&& f) {
    const auto ranges = block.ranges;
    const Slot queries = block.last_query - block.first_query;
    std::size_t total = 0;
    int other_images = 0;
    for (const Range& range : ranges) {
      total += range.end - range.begin;
      other_images |= (range.shift.x ^ ranges[0].shift.x) | (range.shift.y ^ ranges[0].shift.y) |
                      (range.shift.z ^ ranges[0].shift.z);
    }
    if (total == 0) return;
    // Queries of a block are inside the range that leaves them out; one with Own::after begins with the first query.
    std::uint64_t candidates = std::uint64_t{queries} * total;
    if (ranges[0].own == Own::after) candidates -= std::uint64_t{queries} * (queries + 1) / 2;
    if (ranges[0].own == Own::except) candidates -= queries;
    candidates_ += block.candidates > 0 ? block.candidates : candidates;
    if (candidates == 0) return;  // bodies without candidates are common in sparse space
    if (total > tile_candidates || other_images != 0 || queries > cut_queries || ranges.size() >= spans_.size()) {
      for (Slot first = block.first_query; first < block.last_query; first += static_cast<Slot>(cut_queries))
        cut_up(block, first, std::min(first + static_cast<Slot>(cut_queries), block.last_query), f);
      return;
    }
    span_count_ = 0;
    const bool preceded = ranges[0].own != Own::absent && ranges[0].begin < block.first_query;
    if (preceded) spans_[span_count_++] = {ranges[0].begin, block.first_query};
    for (const Range& range : ranges) spans_[span_count_++] = {range.begin, range.end};
    if (preceded) spans_[1].begin = block.first_query;
    f(Cut{block.first_query, block.last_query, ranges[0].shift, ranges[0].own, preceded, total});
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
  Batch<T> exact_batch_{};
  Batch<float> near_batch_{};
  std::uint64_t candidates_ = 0;
  std::array<Span, 64> spans_{};
  std::size_t span_count_ = 0;
  std::array<std::uint32_t, 64> ends_{};
  std::array<Buffer<T>, Bodies<T, D>::most> exact_tile_;
  std::array<Buffer<float>, Bodies<T, D>::most> near_tile_;
  Buffer<std::int32_t> payload_tile_;
  Buffer<std::int32_t> order_;                           // of a tile that is sorted
  std::array<std::uint32_t, cut_queries + 1> places_{};  // of queries in it
  std::array<std::uint32_t, cut_queries> counts_{};
  const std::array<Buffer<T>, Bodies<T, D>::most>* exact_columns_ = &bodies_.exact;
  // Of queries with candidates in doubt.
  bool at_border_ = false;                   // the tile reaches the border of a cut frame
  bool doubtful_ = false;                    // a query of this tile had some
  std::uint32_t doubts_ = 0, resolved_ = 0;  // of queries resolved in this tile, how many had some
  std::uint32_t doubtful_queries_ = 0;       // in tiles in a row, in which most had some
  std::uint32_t exact_tiles_ = 0;            // how many more tiles are tested in double
  Buffer<std::int32_t> unsure_, hits_;
  std::optional<HitFilter<T, D>> filter_;
  std::array<std::int32_t, tile_candidates + gather_overshoot> exact_payload_{};
};

template <class T, int D>
std::unique_ptr<Test<T, D>> make_test(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, T cutoff,
                                      const PairFilter* filter) {
  return std::make_unique<ExactTest<T, D>>(queries, bodies, cutoff, filter);
}

}  // namespace vicinal
