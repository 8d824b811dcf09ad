#include "index/bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "exec/threads.hpp"

namespace vicinal {

namespace {

// The bounds of n rows for several quantities at once; `value(k)` is the k-th number of each, row by row. Numbers that
// one quantity reads are in the cache for the next.
template <class T, int D, class... Value>
std::array<Bounds<T, D>, sizeof...(Value)> bounds_of(std::size_t n, const Value&... value) {
  const std::size_t count = n * D;
  // Twelve lanes: a multiple of both dimensions and of the vector widths that need no dispatch.
  constexpr std::size_t lanes = 12;
  struct Partial {
    std::array<T, lanes> low, high, poison;
  };
  constexpr std::size_t grain = (std::size_t{1} << 18) / lanes * lanes;
  constexpr std::size_t block = (std::size_t{1} << 11) / lanes * lanes;
  const auto add = [](Partial& kept, std::size_t begin, std::size_t end, const auto& values) {
    Partial p = kept;
    std::size_t k = begin;
#ifdef __GNUC__  // Compilers do not vectorise the loop below, because of the order of comparisons with NaN.
    constexpr std::size_t width = 16 / sizeof(T);
    typedef T Vector __attribute__((vector_size(16)));  // ("using" does not take the attribute here.)
    Vector low[lanes / width], high[lanes / width], poison[lanes / width];
    std::memcpy(&low, &p.low, sizeof low);
    std::memcpy(&high, &p.high, sizeof high);
    std::memcpy(&poison, &p.poison, sizeof poison);
    for (; k + lanes <= end; k += lanes)
      for (std::size_t v = 0; v < lanes / width; ++v) {
        Vector x{};
        for (std::size_t l = 0; l < width; ++l) x[l] = values(k + v * width + l);
        low[v] = x < low[v] ? x : low[v];
        high[v] = x > high[v] ? x : high[v];
        poison[v] += x * T{0};  // stays 0 for finite x, becomes NaN otherwise
      }
    std::memcpy(&p.low, &low, sizeof low);
    std::memcpy(&p.high, &high, sizeof high);
    std::memcpy(&p.poison, &poison, sizeof poison);
#endif
    for (std::size_t l = 0; k < end; ++k, l = l + 1 == lanes ? 0 : l + 1) {
      const T x = values(k);
      p.low[l] = std::min(p.low[l], x);
      p.high[l] = std::max(p.high[l], x);
      p.poison[l] += x * T{0};
    }
    kept = p;
  };
  using Partials = std::array<Partial, sizeof...(Value)>;
  Partials none;
  for (Partial& p : none) {
    p.low.fill(std::numeric_limits<T>::infinity());
    p.high.fill(-std::numeric_limits<T>::infinity());
    p.poison.fill(0);
  }
  std::vector<Partials> partials((count + grain - 1) / grain, none);
  parallel_ranges(count, grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    for (; begin < end; begin += block) {
      std::size_t which = 0;
      (add(partials[piece][which++], begin, std::min(begin + block, end), value), ...);
    }
  });
  std::array<Bounds<T, D>, sizeof...(Value)> results;
  std::size_t which = 0;
  const auto join = [&](const auto& values) {
    const std::size_t mine = which++;
    Bounds<T, D>& result = results[mine];
    result.bad = n;
    if (n == 0) return;
    result.low.fill(std::numeric_limits<T>::infinity());
    result.high.fill(-std::numeric_limits<T>::infinity());
    bool poisoned = false;
    for (const Partials& pieces : partials) {
      const Partial& p = pieces[mine];
      for (std::size_t l = 0; l < lanes; ++l) {
        result.low[l % D] = std::min(result.low[l % D], p.low[l]);
        result.high[l % D] = std::max(result.high[l % D], p.high[l]);
        poisoned = poisoned || p.poison[l] != 0;
      }
    }
    if (poisoned)
      for (std::size_t k = 0; k < count && result.bad == n; ++k)
        if (!std::isfinite(values(k))) result.bad = k / D;
  };
  (join(value), ...);
  return results;
}

}  // namespace

template <class T, int D>
Bounds<T, D> bounds_of_points(const T* points, std::size_t n) {
  return bounds_of<T, D>(n, [=](std::size_t k) { return points[k]; })[0];
}
template <class T, int D>
std::array<Bounds<T, D>, 2> bounds_of_boxes(const T* lower, const T* upper, std::size_t n) {
  return bounds_of<T, D>(
      n, [=](std::size_t k) { return lower[k]; }, [=](std::size_t k) { return upper[k] - lower[k]; });
}

template Bounds<float, 2> bounds_of_points(const float*, std::size_t);
template Bounds<float, 3> bounds_of_points(const float*, std::size_t);
template Bounds<double, 2> bounds_of_points(const double*, std::size_t);
template Bounds<double, 3> bounds_of_points(const double*, std::size_t);
template std::array<Bounds<float, 2>, 2> bounds_of_boxes(const float*, const float*, std::size_t);
template std::array<Bounds<float, 3>, 2> bounds_of_boxes(const float*, const float*, std::size_t);
template std::array<Bounds<double, 2>, 2> bounds_of_boxes(const double*, const double*, std::size_t);
template std::array<Bounds<double, 3>, 2> bounds_of_boxes(const double*, const double*, std::size_t);

}  // namespace vicinal
