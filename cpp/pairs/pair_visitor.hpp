// Uses pairs without storing them: every hit of a search is handed to a function object.
//
// A `Visitor` takes the hits of one query, visit(query, shift, slots of the hits), or, if it has a function several(),
// those of several queries in one image: several(slots of their queries, shift, slots of the hits). Slots, not the
// user's numbers: what belongs to bodies close in space is then close in memory. If it has a function finish(), that is
// called after the last hit of a part.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pairs/kernels.hpp"
#include "pairs/owners.hpp"
#include "pairs/search.hpp"
#include "pairs/test.hpp"

namespace vicinal {

template <class Visitor>
class VisitingSink final : public HitSink {
 public:
  explicit VisitingSink(Visitor& visitor) : visitor_(visitor), slots_(batch_hits + overshoot) {
    if constexpr (of_several) owners_.reset(batch_hits + overshoot);
  }

  [[nodiscard]] HitRoom room(std::size_t /*most*/) override { return {slots_.data(), nullptr}; }
  void take(Slot first, std::span<const std::uint32_t> counts, const Shift& shift) override {
    const std::int32_t* at = slots_.data();
    if constexpr (of_several) {
      const std::size_t n = write_owners(first, counts, owners_.data());
      visitor_.several(owners_.data(), shift, std::span<const std::int32_t>(at, n));
      pairs_ += n;
    } else {
      for (std::size_t k = 0; k < counts.size(); ++k) {
        if (counts[k] > 0) visitor_(first + static_cast<Slot>(k), shift, std::span<const std::int32_t>(at, counts[k]));
        at += counts[k];
        pairs_ += counts[k];
      }
    }
  }
  [[nodiscard]] std::uint64_t pairs() const { return pairs_; }

 private:
  static constexpr bool of_several =
      requires(Visitor& visitor) { visitor.several(nullptr, Shift{}, std::span<const std::int32_t>()); };

  Visitor& visitor_;
  Buffer<std::int32_t> slots_, owners_;
  std::uint64_t pairs_ = 0;
};

// For every part of a task calls begin(part, thread), which returns the visitor of its hits, or a reference to it.
template <class T, int D, class Begin>
Tally visit_pairs(const Task<T, D>& task, Begin&& begin) {
  std::atomic<std::uint64_t> pairs{0};
  Tally tally;
  tally.candidates = detail::for_each_part(task, [&](std::size_t part, std::size_t thread, auto&& run) {
    auto&& visitor = begin(part, thread);
    VisitingSink sink(visitor);
    run([&](Test<T, D>& test, const Block& block) { test.hits(block, nullptr, sink, {}); });
    if constexpr (requires { visitor.finish(); }) visitor.finish();
    pairs.fetch_add(sink.pairs(), std::memory_order_relaxed);
  });
  tally.pairs = pairs;
  return tally;
}

}  // namespace vicinal
