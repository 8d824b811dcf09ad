// Connected components of the graph whose edges are the pairs, made during the search: no pair is stored.
//
// A forest of slots: the parent of a slot is never larger than the slot, and a root is its own parent. Threads join
// trees without locks (Anderson & Woll 1991): the larger of two roots gets the smaller one as its parent by one
// compare-and-swap, and paths are halved on the way. The components do not depend on the order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pairs/pair_visitor.hpp"

namespace vicinal {

class Forest {
 public:
  explicit Forest(std::size_t size) : parents_(size) {
    parallel_ranges(size, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t k = begin; k < end; ++k) parents_[k] = static_cast<Slot>(k);
    });
  }

  Slot root(Slot slot) {
    while (true) {
      const Slot parent = load(slot);
      if (parent == slot) return slot;
      const Slot above = load(parent);
      // Any ancestor is a valid parent, so it does not matter which of several threads writes last.
      if (above != parent) std::atomic_ref(parents_[slot]).store(above, std::memory_order_relaxed);
      slot = above;
    }
  }
  void join(Slot a, Slot b) {
    while (true) {
      a = root(a);
      b = root(b);
      if (a == b) return;
      if (a < b) std::swap(a, b);
      Slot expected = a;
      if (std::atomic_ref(parents_[a]).compare_exchange_weak(expected, b, std::memory_order_relaxed)) return;
    }
  }

 private:
  Slot load(Slot slot) { return std::atomic_ref(parents_[slot]).load(std::memory_order_relaxed); }

  Buffer<Slot> parents_;
};

struct Components {
  Region labels;  // int32, by the user's number
  std::size_t size = 0;
  std::size_t count = 0;
  Tally tally;
};

// Labels 0, 1, … in the order of the smallest number in each component.
template <class T, int D>
Components find_components(const Task<T, D>& task) {
  const Bodies<T, D>& bodies = task.index.bodies();
  Forest forest(bodies.slots);
  Components result{Region(bodies.size * sizeof(std::int32_t) + overrun), bodies.size, 0, {}};
  result.tally = visit_pairs(task, [&](std::size_t, std::size_t) {
    return [&forest](Slot query, const Shift&, std::span<const std::int32_t> slots) {
      for (const std::int32_t slot : slots) forest.join(query, static_cast<Slot>(slot));
    };
  });
  auto* const labels = static_cast<std::int32_t*>(result.labels.data());
  parallel_ranges(bodies.slots, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t slot = begin; slot < end; ++slot)
      if (bodies.ids[slot] >= 0)
        labels[bodies.ids[slot]] = static_cast<std::int32_t>(forest.root(static_cast<Slot>(slot)));
  });
  Buffer<std::int32_t> label_of(bodies.slots);
  std::fill_n(label_of.data(), bodies.slots, -1);
  std::int32_t next = 0;
  for (std::size_t id = 0; id < bodies.size; ++id) {
    std::int32_t& label = label_of[static_cast<std::size_t>(labels[id])];
    if (label < 0) label = next++;
    labels[id] = label;
  }
  result.count = static_cast<std::size_t>(next);
  return result;
}

}  // namespace vicinal
