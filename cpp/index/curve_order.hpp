// Sorts bodies along a Morton curve and cuts the curve into runs of few bodies.
//
// The prefixes of the codes are the nodes of a binary tree over the bodies (Karras 2012; Kureck 2016, section 3.1), and
// a run is a node with at most a given number of bodies whose parent has more. So runs are as compact as the cells of a
// grid that is fine where bodies are dense.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/memory.hpp"
#include "geometry/morton.hpp"
#include "index/bodies.hpp"

namespace vicinal {

// Puts `bodies` (already `reset`) into the order of the curve, with groups of equal key. Groups of more than `most`
// bodies are sorted along finer curves. Returns the number of size classes. The curve has `bits` bits per axis.
template <class T, int D>
int sort_by_curve(Bodies<T, D>& bodies, std::size_t most, int bits = morton_bits<D>);

// The keys of slots in ascending order, and the ends of the nodes of the tree over them.
class Prefixes {
 public:
  // Expects slots in ascending order of key, with groups of equal key.
  template <class T, int D>
  void reset(const Bodies<T, D>& bodies);

  // The number of leading bits that the keys of two slots share. Equal keys are extended by the numbers of the slots.
  [[nodiscard]] int shared(std::size_t a, std::size_t b) const {
    const std::uint64_t differ = keys_[a] ^ keys_[b];
    return differ != 0 ? std::countl_zero(differ) : equal_keys + std::countl_zero(static_cast<std::uint32_t>(a ^ b));
  }
  // The number of bits that each slot shares with the one before. Where slots of one key were sorted by finer codes,
  // these take the place of the numbers of slots: `cut` then finds nodes of the finer curve.
  [[nodiscard]] std::uint8_t* shared_with_last() { return shared_.data(); }

  // Cuts all slots into the largest nodes of the tree with at most `most` bodies: fills `starts`, the number of slots
  // last, and returns the number of runs.
  std::size_t cut(std::size_t most, Buffer<std::uint32_t>& starts) const;

 private:
  static constexpr std::size_t grain = std::size_t{1} << 15;
  static constexpr int equal_keys = 128;  // more than the bits of a key and of a finer code

  // The slots from begin to end-1 that start a run: those where the smallest node that contains the slot and the one
  // before has more bodies than a run may have. That node begins at the nearest slot before, and ends before the
  // nearest slot after, that shares no more bits with its predecessor; one pass with a stack of open nodes finds both.
  // Slots farther away than a run is long do not matter.
  [[nodiscard]] std::vector<std::uint32_t> starts_of_runs(std::size_t begin, std::size_t end, std::size_t most) const;

  Buffer<std::uint64_t> keys_;
  Buffer<std::uint8_t> shared_;  // number of bits shared with the slot before
};

// Sorts as `sort_by_curve` does, and puts the prefixes into `prefixes`; afterwards the groups are runs of at most
// `most` bodies.
template <class T, int D>
int order_by_curve(Bodies<T, D>& bodies, std::size_t most, Prefixes& prefixes, int bits = morton_bits<D>);

}  // namespace vicinal
