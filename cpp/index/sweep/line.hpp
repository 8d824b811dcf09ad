// Bodies along a line in ascending order of their lower ends, to find those that overlap an interval.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/memory.hpp"

namespace vicinal::sweep {

// An integer for every coordinate, in the same order: integers are sorted and compared fast.
//
// Unless bodies are too small for the space they are in, it is a position on a scale of 2^32 marks. Two ends at the
// same mark count as touching, which adds candidates and loses no pair. Otherwise it is the bits of the coordinate
// without the last one: sort keys have at most 63.
class Ruler {
 public:
  static constexpr double marks = 0x1p32;

  Ruler() = default;
  // From low to high; `size`: a length that must be resolved well.
  Ruler(double low, double high, double size) {
    const double extent = high - low;
    if (!(extent > 0 && extent < 1e300 && size * 0x1p24 >= extent)) return;
    low_ = low;
    scale_ = (marks - 1) / extent;
    if (!(scale_ < 1e300)) scale_ = 0;
  }

  [[nodiscard]] std::uint64_t operator()(double x) const {
    if (scale_ > 0) return static_cast<std::uint64_t>(std::min(std::max((x - low_) * scale_, 0.0), marks - 1));
    const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);  // -0 becomes 0
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return ((bits & sign) != 0 ? ~bits : bits | sign) >> 1;
  }
  // All values are below.
  [[nodiscard]] std::uint64_t limit() const { return std::uint64_t{1} << (scale_ > 0 ? 32 : 63); }

 private:
  double low_ = 0;
  double scale_ = 0;  // 0: by bits
};

class Line {
 public:
  // `low(k)` and `high(k)`: the ends of the body at place k, low in ascending order.
  template <class Low, class High>
  void build(std::size_t n, Low&& low, High&& high) {
    low_.reset(n);
    high_.reset(n);
    for (std::size_t k = 0; k < n; ++k) {
      low_[k] = low(k);
      high_[k] = high(k);
    }
    highest_.clear();
    const std::uint64_t* below = high_.data();
    for (std::size_t count = n; count > 1 || highest_.empty();) {
      std::vector<std::uint64_t> level((count + fan - 1) / fan);
      for (std::size_t k = 0; k < level.size(); ++k)
        level[k] = *std::max_element(below + k * fan, below + std::min(count, (k + 1) * fan));
      count = level.size();
      highest_.push_back(std::move(level));
      below = highest_.back().data();
    }
  }

  [[nodiscard]] std::uint64_t low(std::size_t place) const { return low_[place]; }
  [[nodiscard]] std::uint64_t high(std::size_t place) const { return high_[place]; }
  // The first place from `from` on whose body starts beyond `end`.
  [[nodiscard]] std::size_t after(std::uint64_t end, std::size_t from = 0) const {
    return static_cast<std::size_t>(std::upper_bound(low_.data() + from, low_.data() + low_.size(), end) - low_.data());
  }
  [[nodiscard]] std::size_t first_from(std::uint64_t start) const {
    return static_cast<std::size_t>(std::lower_bound(low_.data(), low_.data() + low_.size(), start) - low_.data());
  }

  // Calls f(begin, end) for ascending runs of places that contain every body that overlaps [low, high]. Where a few
  // long bodies reach far past many short ones, the short ones are left out `fan` at a time.
  template <class F>
  void covering(std::uint64_t low, std::uint64_t high, F&& f) const {
    const std::size_t end = after(high);
    if (end > 0) descend(highest_.size() - 1, 0, low, end, f);
  }

  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = low_.bytes() + high_.bytes();
    for (const auto& level : highest_) sum += level.size() * sizeof(std::uint64_t);
    return sum;
  }

 private:
  static constexpr std::size_t fan = 16;

  template <class F>
  void descend(std::size_t level, std::size_t node, std::uint64_t low, std::size_t end, F& f) const {
    if (highest_[level][node] < low) return;
    if (level > 0) {
      std::size_t width = fan;  // places below a child
      for (std::size_t l = 1; l < level; ++l) width *= fan;
      const std::size_t last = std::min(highest_[level - 1].size(), (node + 1) * fan);
      for (std::size_t child = node * fan; child < last && child * width < end; ++child)
        descend(level - 1, child, low, end, f);
      return;
    }
    std::size_t first = node * fan;
    std::size_t last = std::min(end, first + fan);
    while (first < last && high_[first] < low) ++first;
    while (first < last && high_[last - 1] < low) --last;
    if (first < last) f(first, last);
  }

  Buffer<std::uint64_t> low_, high_;
  std::vector<std::vector<std::uint64_t>> highest_;  // the largest `high` of fan, fan^2, … places
};

}  // namespace vicinal::sweep
