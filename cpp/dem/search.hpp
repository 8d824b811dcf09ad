// Finds the spheres of a list that begin to touch, in groups of entries. A group sleeps until the odometer says that
// one of its pairs may touch.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"

namespace vicinal::dem {
namespace {

template <class Lanes, class Real>
[[gnu::always_inline]] inline Real folded(Real a, double edge) {
  if (edge == 0) return a;
  const Real whole = Lanes::all(edge), half = Lanes::all(0.5 * edge);
  a = choose(a > half, a - whole, a);
  return choose(Lanes::all(-0.5 * edge) > a, a + whole, a);
}

// The vector from the centre of the first to the nearest image of the second, their radii and the sum of the radii.
template <class Lanes>
struct Apart {
  Triple<typename Lanes::Real> way;
  typename Lanes::Real ri, rj, reach;
};
template <class Lanes>
[[gnu::always_inline]] inline Apart<Lanes> apart(const Place* places, const Number* i, const Number* j,
                                                 const Period& period, bool periodic) {
  typename Lanes::Real from[4], to[4];
  Lanes::gather([&](std::size_t lane) -> const Place& { return places[i[lane]]; }, from);
  Lanes::gather([&](std::size_t lane) -> const Place& { return places[j[lane]]; }, to);
  Triple<typename Lanes::Real> way{to[0] - from[0], to[1] - from[1], to[2] - from[2]};
  if (periodic)
    way = {folded<Lanes>(way.x, period.edge[0]), folded<Lanes>(way.y, period.edge[1]),
           folded<Lanes>(way.z, period.edge[2])};
  return {way, from[3], to[3], from[3] + to[3]};
}

// The result for a group; one bit per entry.
struct Found {
  unsigned touching = 0, before = 0;                     // now, and in the step before
  double gap = std::numeric_limits<double>::infinity();  // the smallest of those that do not touch
};
// Tests `count` entries, which is a multiple of the number of lanes.
template <class Lanes>
[[gnu::always_inline]] inline Found test(const SearchJob& job, std::size_t k, std::size_t count) {
  Found found;
  for (std::size_t c = 0; c < count; c += Lanes::width) {
    const auto between = apart<Lanes>(job.places, job.first + k + c, job.second + k + c, job.period, job.period.any());
    const auto square = dot(between.way, between.way);
    const auto touches = between.reach * between.reach > square;
    found.touching |= Lanes::bits(touches) << c;
    found.before |= Lanes::bits_of(job.active + k + c) << c;
    const auto free = root(square) - between.reach;
    const auto sure = free > Lanes::all(least_gap) * between.reach;
    const double least = Lanes::smallest(choose(touches, Lanes::all(found.gap), choose(sure, free, Lanes::all(0))));
    found.gap = least < found.gap ? least : found.gap;
  }
  return found;
}

template <class Lanes>
void search(SearchJob& whole) {
  static_assert(SearchJob::group % Lanes::width == 0);
  SearchJob job = whole;  // a local copy: stores cannot alias it
  for (std::size_t k = job.begin, group = 0; k < job.end; k += SearchJob::group, ++group) {
    if (job.odometer < job.wakes[group]) continue;
    const std::size_t count = job.end - k < SearchJob::group ? job.end - k : SearchJob::group;
    const Found found = count == SearchJob::group ? test<Lanes>(job, k, count) : test<OneLane>(job, k, count);
    job.wakes[group] = job.odometer + usable_gap * found.gap;
    for (unsigned fresh = found.touching & ~found.before; fresh != 0; fresh &= fresh - 1)
      job.found[job.count++] = static_cast<Number>(k) + static_cast<Number>(std::countr_zero(fresh));
  }
  whole.count = job.count;
}

template <class Lanes>
std::size_t collect_from(CollectJob& whole, std::size_t k) {
  CollectJob job = whole;  // a local copy: stores cannot alias it
  for (; k + Lanes::width <= job.end; k += Lanes::width) {
    const unsigned touching = Lanes::bits_of(job.active + k);
    Lanes::compress(job.first + k, touching, job.i + job.found);
    Lanes::compress(job.second + k, touching, job.j + job.found);
    Lanes::compress_count(static_cast<Number>(k), touching, job.entry + job.found);
    job.found += static_cast<std::size_t>(std::popcount(touching));
  }
  whole.found = job.found;
  return k;
}

}  // namespace
}  // namespace vicinal::dem
