// Finds the spheres of a list that touch, in groups of entries. The loop branches only if a contact begins or ends.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "dem/arrays.hpp"
#include "dem/kernels.hpp"
#include "dem/lanes.hpp"
#include "exec/prefetch.hpp"

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

template <class Lanes>
std::size_t search_from(SearchJob& whole, std::size_t k) {
  constexpr std::size_t width = Lanes::width;
  SearchJob job = whole;  // a local copy: stores cannot alias it
  const bool periodic = job.period.any();
  constexpr std::size_t ahead = 32;  // entries
  for (; k + width <= job.end; k += width) {
    // Most bodies of a pair are close in memory, but not all.
    for (std::size_t lane = 0; lane < width && k + ahead + width <= job.end; ++lane)
      prefetch_to_read(job.places + job.second[k + ahead + lane]);
    const auto between = apart<Lanes>(job.places, job.first + k, job.second + k, job.period, periodic);
    const unsigned touching = Lanes::bits(between.reach * between.reach > dot(between.way, between.way));
    Lanes::compress(job.first + k, touching, job.i + job.found);
    Lanes::compress(job.second + k, touching, job.j + job.found);
    Lanes::compress_count(static_cast<Number>(k), touching, job.entry + job.found);
    job.found += static_cast<std::size_t>(std::popcount(touching));

    const unsigned before = Lanes::bits_of(job.active + k);
    if (before == touching) continue;
    for (std::size_t lane = 0; lane < width; ++lane) {
      const bool was = (before >> lane & 1) != 0, is = (touching >> lane & 1) != 0;
      job.active[k + lane] = is ? 1 : 0;
      if (was && !is) job.ended[job.endings++] = static_cast<Number>(k + lane);
    }
  }
  whole.found = job.found;
  whole.endings = job.endings;
  return k;
}

}  // namespace
}  // namespace vicinal::dem
