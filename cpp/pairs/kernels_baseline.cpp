// The exact test in plain C++: branch-free, correct on every processor.
#include <cstring>
#include <limits>

#include "pairs/kernels.hpp"

namespace vicinal {
namespace {

template <class V, int D, bool Band>
struct Query {
  V x[D];
  V shift[D];

  Query(const Batch<V>& batch, std::size_t slot) {
    for (int a = 0; a < D; ++a) {
      x[a] = batch.x[a][slot];
      shift[a] = batch.shift[a];
      if (Band && batch.shifted) x[a] = x[a] - shift[a];
    }
  }
  template <bool Shifted>
  [[nodiscard]] V squared_distance(const Tile<V>& tile, std::size_t k) const {
    V sum = 0;
    for (int a = 0; a < D; ++a) {
      V d = tile.x[a][k] - x[a];
      if constexpr (Shifted) d = d + shift[a];
      sum = a == 0 ? d * d : sum + d * d;
    }
    return sum;
  }
};

template <class V, int D, bool Band, bool Shifted>
std::uint32_t hits_of(const Tile<V>& tile, const Batch<V>& batch, std::int32_t* out, std::int32_t* owner,
                      std::uint32_t* counts) {
  for (std::uint32_t q = batch.first; q < batch.last; ++q) {
    const Query<V, D, Band> query(batch, q);
    const std::uint32_t self = batch.position + (q - batch.first);
    const std::int32_t id = batch.ids[q];
    std::uint32_t n = 0;
    std::uint32_t maybe = 0;
    const auto run = [&](std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t k = begin; k < end; ++k) {
        const V d2 = query.template squared_distance<Shifted>(tile, k);
        out[n] = tile.payload[k];  // written always, kept only when the cursor moves on: no branch to mispredict
        if (owner != nullptr) owner[n] = id;
        n += d2 <= batch.inside ? 1 : 0;
        if (Band) maybe += d2 <= batch.outside ? 1 : 0;
      }
    };
    if (batch.own == Own::except) run(0, self);
    run(batch.own == Own::absent ? 0 : self + 1, tile.size);
    if (Band && n != maybe) return q - batch.first;
    counts[q - batch.first] = n;
    out += n;
    if (owner != nullptr) owner += n;
  }
  return batch.last - batch.first;
}

template <class V, int D, bool Band, bool Shifted>
std::uint32_t count_of(const Tile<V>& tile, const Batch<V>& batch, std::uint32_t* counts) {
  for (std::uint32_t q = batch.first; q < batch.last; ++q) {
    const Query<V, D, Band> query(batch, q);
    const std::uint32_t self = batch.position + (q - batch.first);
    std::uint32_t n = 0;
    std::uint32_t maybe = 0;
    for (std::uint32_t k = batch.own == Own::after ? self + 1 : 0; k < tile.size; ++k) {
      const V d2 = query.template squared_distance<Shifted>(tile, k);
      n += d2 <= batch.inside ? 1 : 0;
      if (Band) maybe += d2 <= batch.outside ? 1 : 0;
    }
    if (Band && n != maybe) return q - batch.first;
    counts[q - batch.first] = n - (batch.own == Own::except ? 1 : 0);  // a body is always at distance 0 from itself
  }
  return batch.last - batch.first;
}

template <class V, int D, bool Band>
std::uint32_t hits(const Tile<V>& tile, const Batch<V>& batch, std::int32_t* out, std::int32_t* owner,
                   std::uint32_t* counts) {
  return !Band && batch.shifted ? hits_of<V, D, Band, true>(tile, batch, out, owner, counts)
                                : hits_of<V, D, Band, false>(tile, batch, out, owner, counts);
}
template <class V, int D, bool Band>
std::uint32_t count(const Tile<V>& tile, const Batch<V>& batch, std::uint32_t* counts) {
  return !Band && batch.shifted ? count_of<V, D, Band, true>(tile, batch, counts)
                                : count_of<V, D, Band, false>(tile, batch, counts);
}

void stream(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

template <class V, int D>
void gather(const V* const* x, const std::int32_t* payload, const Span* spans, std::size_t count, V* const* to,
            std::int32_t* payload_to) {
  std::size_t at = 0;
  for (std::size_t s = 0; s < count; ++s)
    for (std::size_t slot = spans[s].begin; slot < spans[s].end; ++slot, ++at) {
      for (int a = 0; a < D; ++a) to[a][at] = x[a][slot];
      if (payload != nullptr) payload_to[at] = payload[slot];
    }
  for (std::size_t k = 0; k < tile_lanes; ++k)
    for (int a = 0; a < D; ++a) to[a][at + k] = std::numeric_limits<V>::infinity();
}

template <class V, int D, bool Band>
constexpr Kernel<V> kernel{gather<V, D>, hits<V, D, Band>, count<V, D, Band>};

}  // namespace

const Kernels& baseline_kernels() {
  static constexpr Kernels kernels{
      {kernel<float, 2, false>, kernel<float, 3, false>},
      {kernel<double, 2, false>, kernel<double, 3, false>},
      {kernel<float, 2, true>, kernel<float, 3, true>},
      stream,
  };
  return kernels;
}

}  // namespace vicinal
