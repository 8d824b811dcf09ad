// Statistics of bodies for the chooser, made before a structure is built: their density at every scale, and their
// sizes. They come from a sample, because they must cost little compared with the search itself.
//
// A sample of s of n bodies is sorted along a Morton curve once. Then the cells of every size 2^-k of the space are
// runs of equal prefixes. A sample contains the share s / n of the other bodies in the cell of a body, so their mean
// number is estimated without bias at every scale at which some bodies of the sample share a cell; at finer scales
// space is assumed to be filled more and more evenly. The number of occupied cells needs more care, since most of the
// bodies in a cell are not in the sample. There are two estimates. The density around a body is taken from the smallest
// cell around it that contains enough of the sample, and from there on decreases as it does for the other bodies of
// that cell: too many cells where bodies lie along lines. Cells that contain one or two bodies of the sample tell how
// many contain none (Chao and Lin 2012): too few cells where densities vary. The geometric mean of both is taken.
//
// The cells cover nearly all bodies of the sample, so that a few strays do not reduce the resolution.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/morton.hpp"
#include "index/bodies.hpp"
#include "index/size_levels.hpp"

namespace vicinal {

// Cells of edge * 2^-k, k = 0 … scales - 1.
struct Crowding {
  static constexpr int scales = 17;
  double edge = 0;                      // the longest extent of the space the bodies are in, strays left out
  std::array<double, scales> others{};  // other bodies in the cell of a body, on average over bodies
  std::array<double, scales> cells{};   // occupied cells
};

template <int D>
struct SizeGroup {
  double largest = 0;
  double count = 0;
  std::array<double, D> edge{};  // the longest along each axis
  double mean = 0;               // size
};

template <int D>
struct Statistics {
  Crowding crowding;
  // Along each axis: the integral of the square of the density of bodies, that is, the mean share of all other bodies
  // beside a body, per unit of length; strays left out.
  std::array<double, D> beside{};
  // Edges of the boxes around bodies: mean, and mean absolute deviation; 0 for points.
  std::array<double, D> mean_edge{}, edge_spread{};
  // Mean over pairs of (ri + rj)^D, or of the volume in which the corners of overlapping boxes can lie; 0 for points.
  double pair_volume = 0;
  // Ascending; none for points.
  std::vector<SizeGroup<D>> levels;   // as a hierarchical grid would divide them
  std::vector<SizeGroup<D>> octaves;  // by powers of two
};

namespace detail {

// Pseudo-random numbers that are independent of the order of the input.
inline std::uint64_t scramble(std::uint64_t x) {
  x = (x + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9;
  return x ^ x >> 29;
}
// One body of each of `count` equal pieces of the input, without a division per body.
class Sample {
 public:
  Sample(std::size_t count, std::size_t n) : all_(count == n), step_((static_cast<std::uint64_t>(n) << 32U) / count) {}
  std::size_t operator[](std::size_t k) const {
    if (all_) return k;
    const std::uint64_t begin = k * step_ >> 32U;
    const std::uint64_t length = ((k + 1) * step_ >> 32U) - begin;
    return static_cast<std::size_t>(begin + ((scramble(k) >> 32U) * length >> 32U));
  }

 private:
  bool all_;
  std::uint64_t step_;
};

inline void sort_codes(std::vector<std::uint64_t>& codes, int bits) {
  if (codes.size() <= 512) {  // clearing and summing up the counts of a radix sort would take longer
    std::sort(codes.begin(), codes.end());
    return;
  }
  std::vector<std::uint64_t> other(codes.size());
  for (int shift = 0; shift < bits; shift += 8) {
    std::array<std::uint32_t, 257> start{};
    for (const std::uint64_t code : codes) ++start[(code >> shift & 255) + 1];
    if (std::find(start.begin(), start.end(), codes.size()) != start.end()) continue;
    for (std::size_t d = 0; d < 256; ++d) start[d + 1] += start[d];
    for (const std::uint64_t code : codes) other[start[code >> shift & 255]++] = code;
    codes.swap(other);
  }
}

// From the sorted codes of a sample of n bodies. `strays` of the sample have no code: they are alone in their cells.
template <int D>
Crowding crowding_of(const std::vector<std::uint64_t>& codes, std::size_t strays, double n) {
  constexpr int scales = Crowding::scales;
  constexpr std::uint32_t enough = 8;  // bodies of the sample in a cell from which its density is estimated
  using Level = std::array<double, scales>;
  Level coinciding{};    // ordered pairs that share a cell
  Level runs{};          // cells with bodies of the sample
  Level ones{}, twos{};  // cells with one and with two of them
  Level crowded{};       // cells with enough of them
  Level edge_bodies{};   // bodies whose smallest crowded cell is of this scale
  Level edge_others{};   // sum, over these bodies, of the other bodies of the sample in that cell
  Level edge_next{};     // the same one scale finer
  std::array<std::uint32_t, scales> begin{}, in_crowded{}, next_pairs{};
  const auto close = [&](std::size_t k, std::uint32_t end) {
    const std::uint32_t count = end - begin[k];
    const double pairs = static_cast<double>(count) * (count - 1.0);
    coinciding[k] += pairs;
    if (count == 2) ++twos[k];
    if (count >= enough) {
      ++crowded[k];
      const double rest = count - in_crowded[k];
      edge_bodies[k] += rest;
      edge_others[k] += rest * (count - 1.0);
      edge_next[k] += next_pairs[k];
      if (k > 0) in_crowded[k - 1] += count;
    } else if (k > 0) {
      next_pairs[k - 1] += count * (count - 1);
    }
    in_crowded[k] = next_pairs[k] = 0;
  };
  const auto s = static_cast<std::uint32_t>(codes.size());
  int open = -1;   // the finest scale at which the last bodies share a cell
  int before = 0;  // `same` of the body before
  for (std::uint32_t i = 1; i <= s; ++i) {
    int same = 0;  // scales at which this body and the one before share a cell
    if (i < s) {
      const std::uint64_t differ = codes[i - 1] ^ codes[i];
      same = scales - static_cast<int>((static_cast<std::size_t>(std::bit_width(differ)) + D - 1) / D);
    }
    for (int k = open; k >= same; --k) close(static_cast<std::size_t>(k), i);
    for (int k = open + 1; k < same; ++k) begin[static_cast<std::size_t>(k)] = i - 1;
    if (same < scales) ++runs[static_cast<std::size_t>(same)];
    if (const int alone = std::max(same, before); alone < scales) ++ones[static_cast<std::size_t>(alone)];
    before = same;
    open = same - 1;
  }
  const double sample = s + static_cast<double>(strays);
  const double share = sample > 1 ? (sample - 1) / (n - 1) : 1;
  Crowding result;
  // With enough pairs the mean is known to a few percent; at finer scales the last ratio is continued.
  constexpr double certain = 300;
  std::size_t known = 0;
  while (known + 1 < scales && coinciding[known + 1] >= certain) ++known;
  // The ratio from scale to scale in evenly filled space; it is larger where bodies lie along lines or in clusters.
  constexpr double even = 1.0 / (1 << D);
  double ratio = even;
  if (const std::size_t back = std::min<std::size_t>(known, 2); back > 0 && coinciding[known - back] > 0)
    ratio = std::pow(coinciding[known] / coinciding[known - back], 1.0 / static_cast<double>(back));
  ratio = std::clamp(ratio, even, 1.0);
  for (std::size_t k = 0; k < scales; ++k) {
    if (k <= known || share == 1) {
      result.others[k] = coinciding[k] / std::max(sample, 1.0) / share;
    } else {
      result.others[k] = result.others[k - 1] * ratio;
      ratio = (ratio + even) / 2;  // because lines have a width, too
    }
  }
  if (share == 1) {
    auto occupied = static_cast<double>(strays);
    for (std::size_t k = 0; k < scales; ++k) result.cells[k] = occupied += runs[k];
    return result;
  }
  for (std::size_t k = 0; k < scales; ++k) result.cells[k] = crowded[k] + static_cast<double>(strays) / share;
  for (std::size_t from = 0; from + 1 < scales; ++from) {
    if (edge_bodies[from] == 0) continue;
    double here = edge_others[from] / edge_bodies[from] / share;
    const double ratio = std::clamp(edge_next[from] / std::max(edge_others[from], 1.0), std::exp2(-D), 1.0);
    for (std::size_t k = from + 1; k < scales; ++k) {
      here *= ratio;
      // Cells per body for a random distribution in which each has `here` others.
      result.cells[k] += edge_bodies[from] / share * (here < 1e-3 ? 1 - here / 2 : (1 - std::exp(-here)) / here);
    }
  }
  auto seen = static_cast<double>(strays);
  double alone = seen;
  for (std::size_t k = 0; k < scales; ++k) {
    seen += runs[k];
    alone += ones[k];
    const double least = seen + alone * alone / std::max(2 * twos[k] + share / (1 - share) * alone, 1.0);
    result.cells[k] = std::min(std::sqrt(result.cells[k] * least), n);
  }
  return result;
}

}  // namespace detail

template <class T, int D>
class Sampler {
 public:
  Sampler(const BodyView<T, D>& points, const Box<T, D>& box) : points_(points), box_(box) {}

  // `lengths` are those of the space that HashGrid divides into cells.
  [[nodiscard]] Statistics<D> run(const std::array<double, D>& lengths) const {
    Statistics<D> result;
    if (points_.size == 0) return result;
    result.crowding = crowding(result.beside);
    if (points_.shape != Shape::point) {
      const std::vector<SizeGroup<D>> fine = sizes();
      edges(result);
      result.pair_volume = pair_volume(fine);
      result.levels = merged(fine, limits(fine, lengths));
      std::vector<double> powers;
      for (const SizeGroup<D>& group : fine) powers.push_back(power_of_two(group.largest));
      powers.erase(std::unique(powers.begin(), powers.end()), powers.end());
      result.octaves = merged(fine, powers);
    }
    return result;
  }

 private:
  using Position = std::array<double, D>;

  // An eighth of the bodies, within bounds: enough for a reliable estimate and cheap compared with any search.
  [[nodiscard]] std::size_t sample() const {
    return std::min(points_.size, std::clamp<std::size_t>(points_.size / 8, 512, 8192));
  }
  // Sizes vary less than densities.
  [[nodiscard]] std::size_t sample_of_sizes() const {
    return std::min(points_.size, std::clamp<std::size_t>(points_.size / 4, 512, 4096));
  }

  struct Interval {
    double low = 0, high = 0;
  };
  // The interval of the bodies of the sample along an axis, except for a few that are far from all others.
  [[nodiscard]] Interval span_of(const std::vector<Position>& sampled, std::size_t axis) const {
    const auto edge = static_cast<double>(box_.edge[axis]);
    if (edge > 0) return {0, edge};
    const Interval all{static_cast<double>(points_.low[axis]), static_cast<double>(points_.high[axis])};
    std::array<double, 128> some{};
    const std::size_t count = std::min(sampled.size(), some.size());
    for (std::size_t k = 0; k < count; ++k) some[k] = sampled[k * sampled.size() / count][axis];
    auto* const lower = some.data() + count / 32;
    auto* const end = some.data() + count;
    auto* const upper = end - 1 - count / 32;
    std::nth_element(some.data(), lower, end);
    const double low = *lower;
    std::nth_element(lower, upper, end);
    const double high = *upper;
    const double wide = high - low;
    const Interval most{std::max(all.low, low - 1.4 * wide), std::min(all.high, high + 0.6 * wide)};
    return wide > 0 && most.high - most.low < (all.high - all.low) / 2 ? most : all;
  }

  [[nodiscard]] std::vector<Position> positions() const {
    std::vector<Position> result(sample());
    const detail::Sample chosen(result.size(), points_.size);
    for (std::size_t k = 0; k < result.size(); ++k) {
      const std::size_t point = chosen[k];
      const auto x = box_.wrap(points_.data + point * D);
      for (int a = 0; a < D; ++a) result[k][static_cast<std::size_t>(a)] = box_.along(x, a);
    }
    return result;
  }

  [[nodiscard]] Crowding crowding(std::array<double, D>& beside) const {
    const std::vector<Position> sampled = positions();
    std::array<Interval, D> span{};
    double edge = 0;
    for (std::size_t a = 0; a < D; ++a) {
      span[a] = span_of(sampled, a);
      edge = std::max(edge, span[a].high - span[a].low);
    }
    if (!(edge > 0) || !std::isfinite(edge)) edge = edge > 0 ? 1e300 : 1;  // all coincide, or the extent overflows
    // In open space the cells are offset: a regular pattern of bodies should not coincide with the subdivision.
    const double before = box_.periodic() ? 0 : 0.07 * edge;
    if (!box_.periodic()) edge *= 1.15;
    constexpr int bits = Crowding::scales - 1;
    const double inverse = std::min(0x1p16 / edge, 1e300);
    std::vector<std::uint64_t> codes;
    codes.reserve(sampled.size());
    std::array<std::array<std::uint32_t, 256>, D> slabs{};
    for (const Position& x : sampled) {
      std::array<std::uint32_t, D> cell{};
      bool inside = true;
      for (std::size_t a = 0; a < D; ++a) {
        inside = inside && x[a] >= span[a].low && x[a] <= span[a].high;
        cell[a] = static_cast<std::uint32_t>(std::clamp((x[a] - span[a].low + before) * inverse, 0.0, 0x1p16 - 1));
      }
      if (!inside) continue;
      codes.push_back(morton_code<D>(cell));
      for (std::size_t a = 0; a < D; ++a) ++slabs[a][cell[a] >> 8];
    }
    const auto s = static_cast<double>(sampled.size());
    for (std::size_t a = 0; a < D; ++a) {
      std::uint64_t squares = 0;
      for (const std::uint32_t count : slabs[a]) squares += std::uint64_t{count} * count;
      const auto coinciding = static_cast<double>(squares - codes.size());  // ordered pairs that share a slab
      beside[a] = coinciding / std::max(s * (s - 1), 1.0) * 256 / edge;
    }
    detail::sort_codes(codes, bits * D);
    Crowding result = detail::crowding_of<D>(codes, sampled.size() - codes.size(), static_cast<double>(points_.size));
    result.edge = edge;
    return result;
  }

  [[nodiscard]] double extent(std::size_t point, int axis) const {
    if (points_.shape == Shape::sphere) return static_cast<double>(points_.radius(point));
    return static_cast<double>(points_.upper(point, axis)) - static_cast<double>(points_.at(point, axis));
  }

  void edges(Statistics<D>& result) const {
    const std::size_t s = std::min<std::size_t>(points_.size, 256);
    const double weight = (points_.shape == Shape::sphere ? 2 : 1) / static_cast<double>(s);
    const detail::Sample chosen(s, points_.size);
    for (std::size_t a = 0; a < D; ++a) {
      if (a > 0 && points_.shape == Shape::sphere) {
        result.mean_edge[a] = result.mean_edge[0];
        result.edge_spread[a] = result.edge_spread[0];
        continue;
      }
      const auto mean_over_bodies = [&](auto&& f) {
        double sum = 0;
        for (std::size_t k = 0; k < s; ++k) sum += f(extent(chosen[k], static_cast<int>(a)));
        return weight * sum;
      };
      result.mean_edge[a] = mean_over_bodies([](double edge) { return edge; });
      const double mean = result.mean_edge[a] / (weight * static_cast<double>(s));
      result.edge_spread[a] = mean_over_bodies([&](double edge) { return std::abs(edge - mean); });
    }
  }

  [[nodiscard]] double pair_volume(const std::vector<SizeGroup<D>>& fine) const {
    if (points_.shape == Shape::sphere) {
      // The mean of (ri + rj)^D over all i and j, from the means of r, r^2 and r^3.
      double one = 0, two = 0, three = 0;
      for (const SizeGroup<D>& group : fine) {
        const double r = group.largest;
        one += group.count * r;
        two += group.count * r * r;
        three += group.count * r * r * r;
      }
      const auto n = static_cast<double>(points_.size);
      one /= n;
      two /= n;
      three /= n;
      return D == 3 ? 2 * three + 6 * two * one : 2 * two + 2 * one * one;
    }
    const std::size_t s = std::min<std::size_t>(points_.size, 512);
    const detail::Sample chosen(s, points_.size);
    double sum = 0;
    for (std::size_t k = 0; k < s; ++k) {
      const std::size_t one = chosen[k];
      const std::size_t two = detail::scramble(one + points_.size) % points_.size;
      double volume = 1;
      for (int a = 0; a < D; ++a) volume *= extent(one, a) + extent(two, a);
      sum += volume;
    }
    return sum / static_cast<double>(s);
  }

  [[nodiscard]] std::vector<SizeGroup<D>> sizes() const {
    const std::size_t s = sample_of_sizes();
    const double weight = static_cast<double>(points_.size) / static_cast<double>(s);
    std::vector<SizeGroup<D>> groups;
    std::array<std::uint16_t, SizeHistogram::classes> place{};  // 1 + the position of a class in `groups`, or 0
    const auto add = [&](const std::array<double, D>& edge, double count) {
      const double size = *std::max_element(edge.begin(), edge.end());
      std::uint16_t& at = place[SizeHistogram::class_of(size)];
      if (at == 0) {
        groups.emplace_back();
        at = static_cast<std::uint16_t>(groups.size());
      }
      SizeGroup<D>& group = groups[at - 1U];
      group.count += count;
      group.largest = std::max(group.largest, size);
      for (std::size_t a = 0; a < D; ++a) group.edge[a] = std::max(group.edge[a], edge[a]);
    };
    const detail::Sample chosen(s, points_.size);
    for (std::size_t k = 0; k < s; ++k) {
      const std::size_t point = chosen[k];
      std::array<double, D> edge{};
      if (points_.shape == Shape::sphere) edge.fill(extent(point, 0));
      else
        for (int a = 0; a < D; ++a) edge[static_cast<std::size_t>(a)] = extent(point, a);
      add(edge, weight);
    }
    // The largest body determines the cells of most grids; a sample may have missed it.
    std::array<double, D> largest{};
    for (std::size_t a = 0; a < D; ++a) largest[a] = static_cast<double>(points_.largest[a]);
    if (place[SizeHistogram::class_of(*std::max_element(largest.begin(), largest.end()))] == 0) add(largest, 1);
    std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.largest < b.largest; });
    return groups;
  }
  static double power_of_two(double size) { return size > 0 ? std::ldexp(1.0, std::ilogb(size) + 1) : 0; }
  // The levels of HashGrid.
  [[nodiscard]] std::vector<double> limits(const std::vector<SizeGroup<D>>& fine,
                                           const std::array<double, D>& lengths) const {
    const double reach = points_.shape == Shape::sphere ? 2 : 1;
    double volume = 1;
    for (const double length : lengths) volume *= std::max(length, reach * fine.back().largest);
    std::vector<SizeClass> classes;
    for (const SizeGroup<D>& group : fine)
      classes.push_back({group.largest, static_cast<std::size_t>(std::ceil(group.count))});
    return choose_levels(classes, reach, volume, D);
  }
  // Groups joined up to ascending limits.
  static std::vector<SizeGroup<D>> merged(const std::vector<SizeGroup<D>>& fine, const std::vector<double>& limits) {
    std::vector<SizeGroup<D>> result(limits.size());
    std::size_t at = 0;
    for (const SizeGroup<D>& group : fine) {
      while (at + 1 < limits.size() && group.largest > limits[at]) ++at;
      SizeGroup<D>& to = result[at];
      to.mean = (to.count * to.mean + group.count * group.largest) / (to.count + group.count);
      to.count += group.count;
      to.largest = std::max(to.largest, group.largest);
      for (std::size_t a = 0; a < D; ++a) to.edge[a] = std::max(to.edge[a], group.edge[a]);
    }
    return result;
  }

  const BodyView<T, D>& points_;
  const Box<T, D>& box_;
};

}  // namespace vicinal
