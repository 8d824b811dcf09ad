// The exact test in plain C++: branch-free, correct on every processor.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "pairs/kernels.hpp"
#include "pairs/nearest_simd.hpp"

namespace vicinal {
namespace {

// One query; hit(tile, k, maybe) returns whether a candidate is a pair, and adds to `maybe` if it is or might be.
template <class V, int D, Shape S, bool Band, bool Shifted>
struct PlainQuery {
  V x[most_columns];
  V shift[D];
  V inside, outside, slope, offset;
  V radius{}, floor{};  // spheres reach max(their radius, floor) + radius

  PlainQuery(const Batch<V>& batch, std::size_t slot)
      : inside(batch.inside), outside(batch.outside), slope(batch.slope), offset(batch.offset) {
    if constexpr (S == Shape::sphere) (batch.widest ? floor : radius) = batch.x[D][slot];
    for (int c = 0; c < columns_of(S, D); ++c) x[c] = batch.x[c][slot];
    for (int a = 0; a < D; ++a) {
      shift[a] = batch.shift[a];
      if ((Band || S == Shape::box) && batch.shifted) x[a] = x[a] - shift[a];
    }
  }
  [[nodiscard]] V squared_distance(const Tile<V>& tile, std::size_t k) const {
    V sum = 0;
    for (int a = 0; a < D; ++a) {
      V d = tile.x[a][k] - x[a];
      if constexpr (Shifted) d = d + shift[a];
      sum = a == 0 ? d * d : sum + d * d;
    }
    return sum;
  }
  // 1 or 0, so that counting needs no branch.
  std::uint32_t hit(const Tile<V>& tile, std::size_t k, std::uint32_t& maybe) const {
    if constexpr (S == Shape::box) {
      unsigned all = 1;
      for (int a = 0; a < D; ++a) {
        V low = tile.x[a][k];
        if constexpr (Shifted) low = low + shift[a];
        all &= static_cast<unsigned>(low <= x[D + a]) & static_cast<unsigned>(x[a] <= tile.x[D + a][k]);
      }
      return all;
    } else {
      const V d2 = squared_distance(tile, k);
      V low = inside;
      V high = outside;
      V width = 0;
      if constexpr (S == Shape::sphere) {
        const V other = tile.x[D][k];
        const V s = (other > floor ? other : floor) + radius;
        low = s * s;
        if constexpr (Band) width = slope * s + offset;
        high = low + width;
      }
      if constexpr (Band) maybe += d2 <= high ? 1 : 0;
      return (Band ? d2 + width : d2) <= low ? 1 : 0;
    }
  }
};

template <class V, int D, Shape S, bool Band, bool Shifted, bool Upper>
std::uint32_t hits_of(const Tile<V>& tile, const Batch<V>& batch, std::int32_t* out, std::int32_t* owner,
                      std::uint32_t* counts) {
  for (std::uint32_t q = batch.first; q < batch.last; ++q) {
    const PlainQuery<V, D, S, Band, Shifted> query(batch, q);
    const std::uint32_t first = batch.own == Own::absent ? 0 : begin_of(batch, q);
    const std::int32_t id = batch.ids[q];
    std::uint32_t n = 0;
    std::uint32_t all = 0;
    std::uint32_t maybe = 0;
    const auto run = [&](std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t k = begin; k < end; ++k) {
        out[n] = tile.payload[k];  // written always, kept only when the cursor moves on: no branch to mispredict
        if (owner != nullptr) owner[n] = id;
        const std::uint32_t hit = query.hit(tile, k, maybe);
        all += hit;
        n += !Upper || tile.payload[k] > id - batch.image ? hit : 0;
      }
    };
    if (batch.own == Own::except) run(0, first);
    run(batch.own == Own::except ? first + 1 : first, tile.size);
    if (Band && all != maybe) return q - batch.first;
    counts[q - batch.first] = n;
    out += n;
    if (owner != nullptr) owner += n;
  }
  return batch.last - batch.first;
}

template <class V, int D, Shape S, bool Band, bool Shifted>
std::uint32_t count_of(const Tile<V>& tile, const Batch<V>& batch, std::uint32_t* counts) {
  for (std::uint32_t q = batch.first; q < batch.last; ++q) {
    const PlainQuery<V, D, S, Band, Shifted> query(batch, q);
    std::uint32_t n = 0;
    std::uint32_t maybe = 0;
    for (std::uint32_t k = batch.own == Own::after ? begin_of(batch, q) : 0; k < tile.size; ++k)
      n += query.hit(tile, k, maybe);
    if (Band && n != maybe) return q - batch.first;
    counts[q - batch.first] = n - (batch.own == Own::except ? 1 : 0);  // a body is always a pair with itself
  }
  return batch.last - batch.first;
}

template <class V, int D, Shape S, bool Band>
std::uint32_t hits(const Tile<V>& tile, const Batch<V>& batch, std::int32_t* out, std::int32_t* owner,
                   std::uint32_t* counts) {
  const auto run = [&]<bool Upper>() {
    return !Band && batch.shifted ? hits_of<V, D, S, Band, true, Upper>(tile, batch, out, owner, counts)
                                  : hits_of<V, D, S, Band, false, Upper>(tile, batch, out, owner, counts);
  };
  return batch.upper ? run.template operator()<true>() : run.template operator()<false>();
}
template <class V, int D, Shape S, bool Band>
std::uint32_t count(const Tile<V>& tile, const Batch<V>& batch, std::uint32_t* counts) {
  return !Band && batch.shifted ? count_of<V, D, S, Band, true>(tile, batch, counts)
                                : count_of<V, D, S, Band, false>(tile, batch, counts);
}

void stream(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

// Whether a candidate may be a pair with a query inside the bounds: as in kernels_simd.hpp, no pair is lost to
// rounding.
template <class V, int D, Shape S, bool Band>
bool near(const V* const* x, std::size_t slot, const Batch<V>& batch, const QueryBounds<V>& bounds) {
  const bool moved = batch.shifted && (Band || S == Shape::box);
  const bool shifted = batch.shifted && !Band;
  V sum = 0;
  for (int a = 0; a < D; ++a) {
    const V low = moved ? bounds.low[a] - batch.shift[a] : bounds.low[a];
    const V high = moved && S != Shape::box ? bounds.high[a] - batch.shift[a] : bounds.high[a];
    const V at = x[a][slot];
    if constexpr (S == Shape::box) {
      if (!((shifted ? at + batch.shift[a] : at) <= high && low <= x[D + a][slot])) return false;
    } else {
      V above = at - high;
      V below = low - at;
      if (shifted) {
        above = above + batch.shift[a];
        below = below - batch.shift[a];
      }
      const V beyond = above > below ? above : below;
      const V d = beyond > 0 ? beyond : V{0};
      sum = a == 0 ? d * d : sum + d * d;
    }
  }
  if constexpr (S == Shape::box) return true;
  if constexpr (S == Shape::point) return sum <= (Band ? batch.outside : batch.inside);
  const V other = x[S == Shape::sphere ? D : 0][slot];
  const V s = !batch.widest ? bounds.radius + other : other > bounds.radius ? other : bounds.radius;
  const V s2 = s * s;
  return sum <= (Band ? s2 + (batch.slope * s + batch.offset) : s2);
}

template <class V, int D, Shape S, bool Band>
std::uint32_t gather(const V* const* x, const std::int32_t* payload, const Span* spans, std::size_t count,
                     const Batch<V>& batch, const QueryBounds<V>* bounds, V* const* to, std::int32_t* payload_to,
                     std::uint32_t* ends) {
  std::size_t at = 0;
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t slot = spans[s].begin; slot < spans[s].end; ++slot) {
      for (int c = 0; c < columns_of(S, D); ++c) to[c][at] = x[c][slot];
      if (payload != nullptr) payload_to[at] = payload[slot];
      else if (payload_to != nullptr) payload_to[at] = static_cast<std::int32_t>(slot);
      const bool greater = bounds == nullptr || !batch.upper || payload[slot] > bounds->id - batch.image;
      at += bounds == nullptr || (greater && near<V, D, S, Band>(x, slot, batch, *bounds)) ? 1 : 0;
    }
    ends[s] = static_cast<std::uint32_t>(at);
  }
  for (std::size_t k = 0; k < tile_lanes; ++k)
    for (int c = 0; c < columns_of(S, D); ++c) to[c][at + k] = c < D ? std::numeric_limits<V>::infinity() : V{0};
  return static_cast<std::uint32_t>(at);
}

template <int D, Shape S>
void part(const Tile<float>& tile, const Batch<float>& batch, std::int32_t* hits, std::int32_t* doubts,
          std::uint32_t* counts) {
  const PlainQuery<float, D, S, true, false> query(batch, batch.first);
  std::uint32_t sure = 0;
  std::uint32_t unsure = 0;
  const std::uint32_t begin = begin_of(batch, batch.first);
  for (std::uint32_t k = batch.own == Own::after ? begin : 0; k < tile.size; ++k) {
    if (batch.own == Own::except && k == begin) continue;
    if (batch.upper && tile.payload[k] <= batch.ids[batch.first] - batch.image) continue;
    std::uint32_t maybe = 0;
    const std::uint32_t hit = query.hit(tile, k, maybe);
    if (hits != nullptr) hits[sure] = tile.payload[k];
    sure += hit;
    doubts[unsure] = tile.payload[k];
    unsure += maybe ^ hit;
  }
  counts[0] = sure;
  counts[1] = unsure;
}

template <class V, int D, Shape S, bool Band>
constexpr Kernel<V> make_kernel() {
  Kernel<V> made{gather<V, D, S, Band>, hits<V, D, S, Band>, count<V, D, S, Band>, nullptr};
  if constexpr (Band) made.part = part<D, S>;
  return made;
}
template <class V, int D, Shape S, bool Band>
constexpr Kernel<V> kernel = make_kernel<V, D, S, Band>();

// A register of one number, for the vector code of nearest points.
template <class V>
struct ScalarLanes {
  using value = V;
  using vector = V;
  using mask = std::size_t;
  static constexpr std::size_t width = 1;

  static inline vector load(const V* p) { return *p; }
  static inline void store(V* p, vector v) { *p = v; }
  static inline vector broadcast(V x) { return x; }
  static inline vector subtract(vector a, vector b) { return a - b; }
  static inline vector add(vector a, vector b) { return a + b; }
  static inline vector multiply(vector a, vector b) { return a * b; }
  static inline vector most(vector a, vector b) { return a > b ? a : b; }
  static inline vector least(vector a, vector b) { return a < b ? a : b; }
  static inline vector zero() { return 0; }
  static inline V root(V x) { return std::sqrt(x); }
  static inline vector roots(vector x) { return root(x); }
  static inline mask at_most(vector a, vector b) { return a <= b ? 1 : 0; }
  static inline std::size_t number(mask m) { return m; }
  static inline mask first(std::size_t k) { return k < 1 ? 0 : 1; }
  static inline mask both(mask a, mask b) { return a & b; }
  static inline std::size_t bits(mask m) { return m; }
  static inline mask packing(mask m) { return m; }
  static inline vector pack(vector v, mask) { return v; }
  static inline void pack_slots(std::int32_t* to, std::size_t first, mask) { *to = static_cast<std::int32_t>(first); }
  static inline std::size_t keep(std::int32_t* to, const std::int32_t* payload, mask m) {
    *to = *payload;
    return m;
  }
  static inline float narrow(double x) { return static_cast<float>(x); }
  static inline vector at(const V* p, const std::int32_t* places) { return p[*places]; }
  static inline vector where(mask m, vector a, vector b) { return m != 0 ? a : b; }
  static inline vector packed(vector v, mask) { return v; }
  static inline vector with_bits(vector v, vector replaced, vector bits) {
    const auto of = [](vector x) { return std::bit_cast<std::uint32_t>(x); };
    return std::bit_cast<float>((of(v) & ~of(replaced)) | of(bits));
  }
  template <int X>
  static inline vector exchanged(vector v) {
    static_assert(X == 0);
    return v;
  }
  static inline vector least_of(vector v) { return v; }
  using tally = std::size_t;
  using count = std::size_t;
  static inline tally none_yet() { return 0; }
  static inline tally add_to(tally t, mask m) { return t + m; }
  static inline mask reached(tally t, std::size_t k) { return t >= k ? 1 : 0; }
  static inline void store_tally(count* to, tally t) { *to = t; }
};

}  // namespace

const NearestKernels& baseline_nearest_kernels() {
  static constexpr NearestKernels kernels = make_nearest_kernels<ScalarLanes<float>, ScalarLanes<double>>();
  return kernels;
}

const Kernels& baseline_kernels() {
  static constexpr Kernels kernels{
      {{kernel<float, 2, Shape::point, false>, kernel<float, 3, Shape::point, false>},
       {kernel<float, 2, Shape::sphere, false>, kernel<float, 3, Shape::sphere, false>},
       {kernel<float, 2, Shape::box, false>, kernel<float, 3, Shape::box, false>}},
      {{kernel<double, 2, Shape::point, false>, kernel<double, 3, Shape::point, false>},
       {kernel<double, 2, Shape::sphere, false>, kernel<double, 3, Shape::sphere, false>},
       {kernel<double, 2, Shape::box, false>, kernel<double, 3, Shape::box, false>}},
      {{kernel<float, 2, Shape::point, true>, kernel<float, 3, Shape::point, true>},
       {kernel<float, 2, Shape::sphere, true>, kernel<float, 3, Shape::sphere, true>}},
      stream,
  };
  return kernels;
}

}  // namespace vicinal
