// Answers queries that want few neighbours from a tile, by keys of float32 that are sorted in registers.
//
// The first k candidates by key are the nearest if the next key is certainly farther away, and their order is that of
// their exact squares if these ascend. Otherwise (points equally far away, for example) the answer is left to the
// search that sorts exact squares.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "exec/memory.hpp"
#include "index/bodies.hpp"
#include "nearest/run_frame.hpp"
#include "pairs/nearest_kernels.hpp"

namespace vicinal {

template <class T, int D>
class FewSearch {
 public:
  using Columns = std::array<Buffer<float>, D>;

  // `room`: the largest size of a tile.
  FewSearch(const NearestKernel<T>& kernel, const Bodies<T, D>& bodies, std::size_t k, bool own, std::size_t room)
      : kernel_(kernel), own_(own), needed_(k + (own ? 1 : 0)) {
    if (!answers()) return;
    for (std::size_t a = 0; a < D; ++a) of_.x[a] = bodies.exact[a].data();
    of_.ids = bodies.ids.data();
    of_.k = k;
    places_.reset(room);
    for (std::size_t p = 0; p < room; ++p) places_[p] = std::bit_cast<float>(static_cast<std::uint32_t>(p));
  }
  // Whether so few neighbours are wanted. One key more tells whether they are the nearest.
  [[nodiscard]] bool answers() const { return needed_ < few_keys; }

  // The tile of the queries that follow. `shifts`: the shift of every candidate, or null pointers.
  void use(const Columns& tile, std::size_t size, const std::int32_t* slots, const std::array<const T*, D>& shifts,
           const RunFrame<T, D>& frame, T most) {
    for (std::size_t a = 0; a < D; ++a) {
      tile_[a] = tile[a].data();
      of_.shift[a] = shifts[a];
    }
    size_ = size;
    used_ = 0;
    ranges_.clear();
    of_.slots = slots;
    of_.bits = std::bit_ceil(static_cast<std::uint32_t>(size | 1)) - 1;
    of_.slope = frame.slope;
    of_.offset = frame.offset();
    of_.most = most;
    reach2_ = frame.reach2();
  }
  // Adds a query at a place of the frame.
  void add(const std::array<float, D>& at) {
    const KeyRange range = find_keys(at, reach2_);
    ranges_.push_back(range);
    used_ += range.count + key_padding;
  }
  void sort() {
    sorted_.reset(ranges_.size() * few_keys);
    kernel_.least_keys(keys_.data(), ranges_.data(), ranges_.size(), sorted_.data());
  }
  // Whether the `number`-th query has fewer candidates within the radius than it needs.
  [[nodiscard]] bool lacks(std::size_t number) const { return ranges_[number].count < needed_; }
  // The square, in the frame, within which a query has the candidates it needs; infinity if the tile has too few.
  float wider(const std::array<float, D>& at) {
    const KeyRange all = find_keys(at, std::numeric_limits<float>::max());
    std::array<float, few_keys> least;
    kernel_.least_keys(keys_.data(), &all, 1, least.data());
    return all.count < needed_ ? std::numeric_limits<float>::infinity()
                               : std::bit_cast<float>(std::bit_cast<std::uint32_t>(least[needed_ - 1]) | of_.bits);
  }
  // Answers the query unless it lacks candidates. Returns the square of the k-th distance, or -1 where the answer is
  // left to another search.
  T answer(std::size_t number, const std::array<T, D>& x, std::int32_t self, T* distances, std::int32_t* ids) const {
    return kernel_.first(of_, sorted_.data() + number * few_keys, x.data(), own_ ? self : no_slot, distances, ids);
  }

 private:
  KeyRange find_keys(const std::array<float, D>& at, float most) {
    if (used_ + size_ + 2 * key_padding > keys_.size()) keys_.resize(used_ + size_ + 4096);
    return {used_,
            kernel_.keys_within(tile_.data(), size_, at.data(), most, places_.data(), of_.bits, keys_.data() + used_)};
  }

  const NearestKernel<T>& kernel_;
  const bool own_;
  const std::size_t needed_;
  FewNearest<T> of_{};
  std::array<const float*, D> tile_{};
  std::size_t size_ = 0;
  float reach2_ = 0;
  Buffer<float> places_;  // the bits of the numbers 0, 1, 2, …
  Buffer<float> keys_;
  std::size_t used_ = 0;
  std::vector<KeyRange> ranges_;
  Buffer<float> sorted_;
};

}  // namespace vicinal
