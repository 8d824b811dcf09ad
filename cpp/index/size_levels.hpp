// Splits a size distribution into levels that share a grid, such that the search is cheapest.
//
// One grid for all sizes has cells as large as the largest body, and every small body is tested against all others in
// such a cell. A grid for every size has ideal cells, but every body is looked up in every grid. Krijgsman, Ogarko and
// Luding (2014) showed that with well-chosen levels a mixture costs no more per pair than equal bodies do. Here the
// work is a sum over levels, whose minimum is found by dynamic programming over classes of size.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

namespace vicinal {

// Bodies whose sizes are about equal.
struct SizeClass {
  double largest = 0;
  std::size_t count = 0;
};

// Eight classes per octave, in ascending order: the leading bits of a float are the class.
class SizeHistogram {
 public:
  static constexpr std::size_t classes = 2048;
  static std::size_t class_of(double size) { return std::bit_cast<std::uint32_t>(static_cast<float>(size)) >> 20U; }

  void add(double size) {
    SizeClass& c = classes_[class_of(size)];
    c.largest = std::max(c.largest, size);
    ++c.count;
  }
  [[nodiscard]] std::vector<SizeClass> sorted() const {
    std::vector<SizeClass> result;
    std::copy_if(classes_.begin(), classes_.end(), std::back_inserter(result),
                 [](const auto& c) { return c.count > 0; });
    return result;
  }

 private:
  std::vector<SizeClass> classes_ = std::vector<SizeClass>(classes);
};

// Returns the largest size of each level, ascending. `reach` is the total reach of a body relative to its size (2 for a
// radius, 1 for an edge); `volume` is that of the space of the bodies.
inline std::vector<double> choose_levels(std::span<const SizeClass> classes, double reach, double volume,
                                         int dimensions) {
  // Nanoseconds for a distance test and for looking up a body in one more grid (benchmarks/calibrate.py).
  constexpr double test = 0.4;
  constexpr double look = 12;
  const auto power = [dimensions](double x) { return dimensions == 3 ? x * x * x : x * x; };
  const std::size_t n = classes.size();
  std::vector<double> before(n + 1, 0);  // bodies smaller than class k
  for (std::size_t k = 0; k < n; ++k) before[k + 1] = before[k] + static_cast<double>(classes[k].count);
  std::vector<double> cost(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> first(n + 1, 0);
  cost[0] = 0;
  for (std::size_t last = 1; last <= n; ++last)
    for (std::size_t begin = last; begin-- > 0;) {
      const double cell = reach * classes[last - 1].largest;
      const double here = before[last] - before[begin];
      // Bodies of this level in the 3^d cells around one of them, and around a smaller body, whose box is less.
      const double around = std::min(here, here / volume * power(3 * cell));
      const double around_small = std::min(here, here / volume * power(2.5 * cell));
      const double work = test * (here * around / 2 + before[begin] * around_small) + look * before[last];
      // Levels with more classes need even more work.
      if (work > cost[last]) break;
      if (cost[begin] + work <= cost[last]) {
        cost[last] = cost[begin] + work;
        first[last] = begin;
      }
    }
  std::vector<double> levels;
  for (std::size_t last = n; last > 0; last = first[last]) levels.push_back(classes[last - 1].largest);
  std::reverse(levels.begin(), levels.end());
  return levels;
}

}  // namespace vicinal
