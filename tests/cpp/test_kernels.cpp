// The vector code of the exact test and of nearest points: the same bits with every instruction set that was compiled
// in, and on every processor. `make neon` runs this for aarch64.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "check.hpp"
#include "exec/isa.hpp"
#include "exec/memory.hpp"
#include "pairs/kernels.hpp"
#include "pairs/nearest_kernels.hpp"

namespace {

using namespace vicinal;

constexpr std::size_t bodies = 203, room = 4096;
constexpr int dimensions[] = {2, 3};

// Which candidates a query leaves out, and whether its place among them is given.
struct Beginning {
  Own own;
  bool placed;
};
constexpr Beginning beginnings[] = {
    {Own::absent, false}, {Own::after, false}, {Own::except, false}, {Own::after, true}, {Own::except, true}};

// Collects results bit by bit (FNV-1a), and a copy of it at the end of each case.
class Digest {
 public:
  template <class T>
  void add(const T* values, std::size_t n) {
    for (const auto byte : std::as_bytes(std::span(values, n)))
      state_ = (state_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
  }
  template <class T>
  void add(T value) {
    add(&value, 1);
  }
  void finish(const std::string& name) {
    names.push_back(name);
    states.push_back(state_);
  }
  std::vector<std::string> names;
  std::vector<std::uint64_t> states;

 private:
  std::uint64_t state_ = 0xcbf29ce484222325U;
};

// Bodies in a unit cube, or boxes between two corners; a third of them on a lattice, where distances are often equal.
template <class V>
struct Scene {
  Buffer<V> column[most_columns];
  Buffer<std::int32_t> ids{bodies};

  Scene(Shape shape, int dimension) {
    std::mt19937_64 rng(7);  // unlike distributions, its numbers are the same everywhere
    const auto number = [&] { return static_cast<double>(rng() >> 11U) * 0x1p-53; };
    for (auto& c : column) c.reset(bodies);
    for (std::size_t k = 0; k < bodies; ++k) {
      ids[k] = static_cast<std::int32_t>(k * 89 % bodies);
      for (int a = 0; a < dimension; ++a) {
        const double x = number();
        column[a][k] = static_cast<V>(k % 3 == 0 ? static_cast<double>(static_cast<int>(8 * x)) / 8 : x);
        if (shape == Shape::box) column[dimension + a][k] = column[a][k] + static_cast<V>(0.2 * number());
      }
      if (shape == Shape::sphere) column[dimension][k] = static_cast<V>(0.15 * number());
    }
  }
};

// The functions for one shape, dimension and precision, on every kind of batch.
template <class V>
void run_pairs(const Kernel<V>& kernel, Shape shape, int dimension, bool band, bool widest, Digest& digest) {
  Scene<V> scene(shape, dimension);
  const int columns = columns_of(shape, dimension);
  const V* x[most_columns];
  Buffer<V> copies[most_columns];
  V* to[most_columns];
  for (int c = 0; c < most_columns; ++c) {
    copies[c].reset(room);
    to[c] = copies[c].data();
    x[c] = scene.column[c].data();
  }
  Buffer<std::int32_t> payload(room), out(64 * room), owner(64 * room);
  const Span spans[] = {{10, 41}, {60, 61}, {77, 80}, {100, 203}};
  std::uint32_t ends[4];
  for (const bool shifted : {false, true})
    for (const bool bounded : {false, true})
      for (const bool upper : {false, true})
        for (const auto& [own, placed] : beginnings) {
          // The place of a query in the tile is known if all candidates are copied, or if it is given.
          if (own != Own::absent && (upper || (bounded && !placed))) continue;
          Batch<V> batch{};
          for (int c = 0; c < columns; ++c) batch.x[c] = x[c];
          batch.ids = scene.ids.data();
          batch.first = 13;
          batch.last = 33;
          batch.own = own;
          batch.position = 3;
          batch.shifted = shifted;
          for (int a = 0; a < dimension; ++a) batch.shift[a] = static_cast<V>(shifted ? 0.25 * (a - 1) : 0);
          batch.inside = batch.outside = static_cast<V>(0.09);
          batch.widest = widest;
          batch.upper = upper;
          batch.image = upper ? 1 : 0;
          QueryBounds<V> bounds{};
          bounds.id = static_cast<std::int32_t>(bodies);
          for (std::uint32_t q = batch.first; q < batch.last; ++q) {
            for (int a = 0; a < dimension; ++a) {
              const V low = x[a][q], high = shape == Shape::box ? x[dimension + a][q] : low;
              bounds.low[a] = q == batch.first || low < bounds.low[a] ? low : bounds.low[a];
              bounds.high[a] = q == batch.first || high > bounds.high[a] ? high : bounds.high[a];
            }
            if (shape == Shape::sphere && x[dimension][q] > bounds.radius) bounds.radius = x[dimension][q];
            if (scene.ids[q] < bounds.id) bounds.id = scene.ids[q];
          }
          const std::uint32_t size = kernel.gather(x, scene.ids.data(), spans, 4, batch, bounded ? &bounds : nullptr,
                                                   to, payload.data(), ends);
          digest.add(ends, 4);
          digest.add(payload.data(), size);
          std::array<std::uint32_t, 20> places{};
          for (std::uint32_t k = 0; k < places.size(); ++k) places[k] = k * 37 % size;
          if (placed) batch.places = places.data();
          Tile<V> tile{};
          for (int c = 0; c < columns; ++c) {
            tile.x[c] = to[c];
            digest.add(to[c], size);
          }
          tile.payload = payload.data();
          tile.size = static_cast<std::uint32_t>((size + tile_lanes - 1) / tile_lanes * tile_lanes);
          std::array<std::uint32_t, 20> counts{};
          check::equal(kernel.hits(tile, batch, out.data(), owner.data(), counts.data()), counts.size(), "queries");
          std::size_t sum = 0;
          for (const std::uint32_t n : counts) sum += n;
          check::that(sum > 0, "some hits");
          digest.add(counts.data(), counts.size());
          digest.add(out.data(), sum);
          digest.add(owner.data(), sum);
          if (!upper && !placed) {
            check::equal(kernel.count(tile, batch, counts.data()), counts.size(), "queries");
            digest.add(counts.data(), counts.size());
          }
          if (band) {
            batch.outside = static_cast<V>(0.12);
            batch.slope = static_cast<V>(0.1);
            batch.offset = static_cast<V>(0.01);
            if constexpr (std::is_same_v<V, float>) kernel.part(tile, batch, out.data(), owner.data(), counts.data());
            digest.add(counts.data(), 2);
            digest.add(out.data(), counts[0]);
            digest.add(owner.data(), counts[1]);
          }
          digest.finish("shape " + std::to_string(static_cast<int>(shape)) + ", " + std::to_string(dimension) + "D, " +
                        std::to_string(sizeof(V)) + " bytes, band " + std::to_string(band) + ", shifted " +
                        std::to_string(shifted) + ", bounds " + std::to_string(bounded) + ", upper " +
                        std::to_string(upper) + ", own " + std::to_string(static_cast<int>(own)) + ", placed " +
                        std::to_string(placed) + ", widest " + std::to_string(widest));
        }
}

// A tile of candidates around a point.
template <class V>
struct Around {
  const V* const* x;
  const std::int32_t* slots;
  const std::int32_t* ids;
  const float* const* tile;
  std::size_t size;
  const V* at;
  const V* shift;
};

// The first neighbours by keys are those of a sort of all candidates.
template <class V>
void few_nearest(const NearestKernel<V>& kernel, int dimension, const Around<V>& around, Digest& digest) {
  const std::size_t padded = (around.size + tile_lanes - 1) / tile_lanes * tile_lanes;
  Buffer<float> numbers(room), keys(room);
  Buffer<V> squares(room), shifts[3];
  for (std::uint32_t place = 0; place < room; ++place) numbers[place] = std::bit_cast<float>(place);
  const float middle[3] = {};
  constexpr std::uint32_t bits = 255;
  const std::size_t n = kernel.keys_within(around.tile, padded, middle, 1e6F, numbers.data(), bits, keys.data());
  check::equal(n, around.size, "keys of all candidates");
  digest.add(keys.data(), n);
  std::vector<float> sorted(keys.data(), keys.data() + n);
  std::sort(sorted.begin(), sorted.end());
  sorted.resize(few_keys);
  std::vector<float> least(few_keys);
  const KeyRange all{0, n};
  kernel.least_keys(keys.data(), &all, 1, least.data());
  check::that(least == sorted, "the least keys in ascending order");

  FewNearest<V> few{{}, {}, around.slots, around.ids, bits, 1, 0, 8, V{100}};
  for (int a = 0; a < dimension; ++a) {
    few.x[a] = around.x[a];
    shifts[a].reset(room);
    std::fill(shifts[a].data(), shifts[a].data() + room, around.shift != nullptr ? around.shift[a] : V{0});
    if (around.shift != nullptr) few.shift[a] = shifts[a].data();
  }
  std::array<V, few_keys> distances{};
  std::array<std::int32_t, few_keys> ids{};
  std::vector<std::int32_t> slots(around.slots, around.slots + n);
  slots.resize(n + order_padding);  // whole registers are read
  kernel.squares_at(around.x, slots.data(), n, around.at, around.shift, squares.data());
  std::vector<std::pair<V, std::int32_t>> expected;
  for (std::size_t c = 0; c < n; ++c) expected.emplace_back(squares[c], around.ids[around.slots[c]]);
  std::sort(expected.begin(), expected.end());
  // Whether the first k + 1 are clearly not equally far away: then the keys must tell the order.
  const auto apart = [&](std::size_t k) {
    for (std::size_t c = 0; c < k; ++c)
      if (!(expected[c].first * static_cast<V>(1.001) < expected[c + 1].first)) return false;
    return true;
  };
  for (few.k = 1; few.k < few_keys; ++few.k) {
    const V last = kernel.first(few, least.data(), around.at, no_slot, distances.data(), ids.data());
    check::that(last >= 0 || !apart(few.k), "the keys tell the order");
    if (last < 0) continue;
    check::that(last == expected[few.k - 1].first, "the square of the last");
    for (std::size_t c = 0; c < few.k; ++c)
      check::that(distances[c] == std::sqrt(expected[c].first) && ids[c] == expected[c].second, "the order of squares");
  }
  few.k = 3;
  check::that(apart(3), "no equal distances");
  few.slope = 1000;
  check::that(kernel.first(few, least.data(), around.at, no_slot, distances.data(), ids.data()) < 0,
              "another candidate might be nearer");
}

template <class V>
void run_nearest(const NearestKernel<V>& kernel, int dimension, Digest& digest) {
  constexpr std::size_t count = bodies / tile_lanes * tile_lanes;
  Scene<V> scene(Shape::box, dimension);
  const V* low[3] = {scene.column[0].data(), scene.column[1].data(), scene.column[2].data()};
  const V* high[3];
  for (int a = 0; a < dimension; ++a) high[a] = scene.column[dimension + a].data();
  const V at[3] = {static_cast<V>(0.3), static_cast<V>(0.6), static_cast<V>(0.45)};
  const V to[3] = {static_cast<V>(0.4), static_cast<V>(0.61), static_cast<V>(0.5)};
  const V shift[3] = {1, 0, -1};
  const Span spans[2] = {{0, 35}, {40, static_cast<std::uint32_t>(count)}};
  Buffer<V> squares(room), bounds(touched_boxes);
  Buffer<float> tile[3], places(room);
  Buffer<std::int32_t> slots(room), selected(room);
  float* columns[3];
  for (int a = 0; a < dimension; ++a) {
    tile[a].reset(room);
    columns[a] = tile[a].data();
  }
  for (const V* const moved : {static_cast<const V*>(nullptr), shift}) {
    kernel.bounds(low, high, at, to, moved, bounds.data());
    digest.add(bounds.data(), touched_boxes);
    std::vector<std::int32_t> near;
    const std::vector<std::int32_t> nodes = {0, 2, 3};
    for (const std::int32_t node : nodes) {
      const auto first = static_cast<std::int32_t>(touched_boxes) * node;
      const V* lower[3] = {};
      const V* upper[3] = {};
      for (int a = 0; a < dimension; ++a) {
        lower[a] = low[a] + first;
        upper[a] = high[a] + first;
      }
      kernel.bounds(lower, upper, at, to, moved, bounds.data());
      for (std::size_t b = 0; b < touched_boxes; ++b)
        if (bounds[b] <= static_cast<V>(0.1)) near.push_back(first + static_cast<std::int32_t>(b));
    }
    const std::size_t touching =
        kernel.children(low, high, nodes.data(), nodes.size(), at, to, moved, static_cast<V>(0.1), selected.data());
    check::that(std::vector<std::int32_t>(selected.data(), selected.data() + touching) == near,
                "boxes within the limit");
    kernel.squares(low, count, at, moved, squares.data());
    digest.add(squares.data(), count);
    LocalFrame<V> frame{{at[0], at[1], at[2]}, {}, 2, moved != nullptr};
    if (moved != nullptr) std::copy(shift, shift + 3, frame.shift);
    const QueryBounds<float> around{{-0.1F, -0.2F, -0.1F}, {0.1F, 0.2F, 0.3F}, 0, 0};
    const float reach = moved != nullptr ? 10 : 1;
    const std::size_t size = kernel.gather(low, spans, 2, frame, around, reach, columns, slots.data());
    check::that(size > 40, "enough candidates");
    digest.add(size);
    digest.add(slots.data(), size);
    const std::size_t padded = (size + tile_lanes - 1) / tile_lanes * tile_lanes;
    for (int a = 0; a < dimension; ++a) digest.add(columns[a], padded);
    const float from[3] = {0.05F, -0.1F, 0.2F};
    for (const std::size_t k : {1, 8, 17, 40}) {
      const float limit = kernel.limit(columns, padded, from, k, places.data());
      digest.add(places.data(), padded);
      digest.add(limit);
      const std::size_t n = kernel.select(places.data(), slots.data(), padded, limit, selected.data());
      check::that(n >= k, "as many candidates as wanted");
      digest.add(n);
      digest.add(selected.data(), n);
      kernel.squares_at(low, selected.data(), n, at, moved, squares.data());
      digest.add(squares.data(), n + order_padding);
      if (n > ordered_most) continue;
      std::array<V, ordered_most> sorted{};
      std::array<std::int32_t, ordered_most> names{};
      for (const std::int32_t self : {no_slot, selected[0]}) {
        const std::size_t found = kernel.order(squares.data(), selected.data(), scene.ids.data(), n, self, k, V{100},
                                               sorted.data(), names.data());
        digest.add(found);
        digest.add(sorted.data(), found);
        kernel.roots(sorted.data(), found);
        digest.add(sorted.data(), found);
        digest.add(names.data(), found);
      }
    }
    few_nearest(kernel, dimension, {low, slots.data(), scene.ids.data(), columns, size, at, moved}, digest);
    digest.finish("nearest, " + std::to_string(dimension) + "D, " + std::to_string(sizeof(V)) + " bytes");
  }
}

// The sanitizers report places before the first one, where the ranks of what is no number would lead.
template <class V>
void order_nothing(const NearestKernel<V>& kernel) {
  std::array<V, ordered_most> squares, sorted{};
  squares.fill(std::numeric_limits<V>::quiet_NaN());
  const std::array<std::int32_t, ordered_most> slots{}, ids{};
  std::array<std::int32_t, ordered_most> names{};
  for (const std::int32_t self : {no_slot, std::int32_t{0}})
    check::equal(
        kernel.order(squares.data(), slots.data(), ids.data(), 0, self, 3, V{100}, sorted.data(), names.data()),
        std::size_t{0}, "neighbours of a query without candidates");
}

const check::Register no_candidates("of no candidates nothing is sorted, and nothing in memory is used", [] {
  const Isa before = isa_setting();
  for (const Isa isa : available_isas()) {
    set_isa(name(isa));
    for (const auto& kernel : vicinal::nearest_kernels().single) order_nothing(kernel);
    for (const auto& kernel : vicinal::nearest_kernels().twice) order_nothing(kernel);
  }
  isa_setting() = before;
});

Digest run_all() {
  const Kernels& kernels = vicinal::kernels();
  const NearestKernels& nearest = vicinal::nearest_kernels();
  Digest digest;
  for (std::size_t d = 0; d < 2; ++d) {
    for (std::size_t s = 0; s < shapes; ++s) {
      const auto shape = static_cast<Shape>(s);
      for (const bool widest : {false, true}) {
        if (widest && shape != Shape::sphere) continue;
        run_pairs(kernels.single[s][d], shape, dimensions[d], false, widest, digest);
        run_pairs(kernels.twice[s][d], shape, dimensions[d], false, widest, digest);
        if (shape != Shape::box) run_pairs(kernels.band[s][d], shape, dimensions[d], true, widest, digest);
      }
    }
    run_nearest(nearest.single[d], dimensions[d], digest);
    run_nearest(nearest.twice[d], dimensions[d], digest);
  }
  return digest;
}

const check::Register same_bits("every instruction set finds the same, bit by bit, on every processor", [] {
  const Isa before = isa_setting();
  set_isa("baseline");
  const Digest expected = run_all();
  for (const Isa isa : available_isas()) {
    set_isa(name(isa));
    const Digest actual = run_all();
    for (std::size_t k = 0; k < expected.states.size(); ++k)
      check::equal(actual.states[k], expected.states[k], std::string(name(isa)) + ", " + expected.names[k]);
  }
  isa_setting() = before;
  // Computed on x86-64; a fused or reordered operation would change it.
  check::equal(expected.states.back(), std::uint64_t{18378565858125503810U}, "the digest of all results");
});

}  // namespace
