// The test that decides which candidates of a block are pairs. exact_test.hpp defines it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "index/bodies.hpp"
#include "index/structure.hpp"
#include "pairs/filter.hpp"
#include "pairs/kernels.hpp"
#include "pairs/sort_kernels.hpp"

namespace vicinal {

// Candidates tested at once. A tile of them stays in the first cache with room for the hits.
inline constexpr std::size_t tile_candidates = 1024;
static_assert(tile_candidates <= most_ranked);

// Which hits of a query are kept.
enum class Keep {
  all,
  upper,  // only those with a larger id: each pair once (of a body's own images, one of two opposite ones)
};
// What hits are asked for. With `sort`, candidates are sorted, so that hits in one tile are in ascending order.
struct HitOptions {
  Keep keep = Keep::all;
  const SortKernels* sort = nullptr;
};
// A body is its own neighbour through images; of two opposite ones this is the one that is kept.
template <class T, int D>
bool is_upper_image(const Box<T, D>& box, const Shift& shift) {
  typename Box<T, D>::Integers numbers{};
  for (std::size_t a = 0; a < D; ++a) numbers[a] = shift[a];
  return box.up(numbers);
}

// Room for hits, and for the ids of their queries.
struct HitRoom {
  std::int32_t* hits;
  std::int32_t* owners;  // or null: not needed
};
// The most hits that a sink makes room for at once: those of a few queries with a whole tile.
inline constexpr std::size_t batch_hits = 4 * tile_candidates;
// A sink takes the hits of a block, some queries at a time.
class HitSink {
 public:
  // Where up to `most` hits (and `overshoot` more) can be written.
  virtual HitRoom room(std::size_t most) = 0;
  // The number of hits of each query from `first` on.
  virtual void take(Slot first, std::span<const std::uint32_t> counts, const Shift& shift) = 0;

 protected:
  ~HitSink() = default;
};

// One per thread.
template <class T, int D>
class Test {
 public:
  Test() = default;
  Test(const Test&) = delete;
  Test& operator=(const Test&) = delete;
  virtual ~Test() = default;

  // Hands the hits of a block to a sink, as payload[slot], or as slots if `payload` is null. Options need
  // payloads that are ids.
  virtual void hits(const Block& block, const std::int32_t* payload, HitSink& sink, const HitOptions& options) = 0;
  // Adds the number of hits of each query to counts, by the user's number of the query.
  virtual void count(const Block& block, std::span<std::int32_t> counts) = 0;
  // The number of candidates of all blocks so far.
  [[nodiscard]] virtual std::uint64_t candidates() const = 0;
};

// A filter, if any, is applied to hits by slot: see Want::slots.
template <class T, int D>
std::unique_ptr<Test<T, D>> make_test(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, T cutoff,
                                      const PairFilter* filter);

}  // namespace vicinal
