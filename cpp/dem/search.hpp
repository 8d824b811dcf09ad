// Which spheres of a list touch: groups of entries at a time, without branches but where a contact begins or ends.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

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

// From the centre of the first to that of the second, the shorter way; and the sum of their radii.
template <class Lanes>
struct Apart {
  Triple<typename Lanes::Real> way;
  typename Lanes::Real reach;
};
template <class Lanes>
[[gnu::always_inline]] inline Apart<Lanes> apart(const Place* places, const Number* i, const Number* j,
                                                 const Period& period) {
  typename Lanes::Row between[Lanes::width];
  for (std::size_t lane = 0; lane < Lanes::width; ++lane)
    between[lane] = Lanes::apart(Lanes::load(&places[j[lane]].x), Lanes::load(&places[i[lane]].x));
  typename Lanes::Real c[4];
  Lanes::columns(between, c);
  return {
      {folded<Lanes>(c[0], period.edge[0]), folded<Lanes>(c[1], period.edge[1]), folded<Lanes>(c[2], period.edge[2])},
      c[3]};
}

template <class Lanes>
std::size_t search_from(SearchJob& job, std::size_t k) {
  constexpr std::size_t width = Lanes::width;
  const Number *const first = job.first, *const second = job.second;
  std::size_t found = job.found;
  for (; k + width <= job.end; k += width) {
    const auto between = apart<Lanes>(job.places, first + k, second + k, job.period);
    const unsigned touching = Lanes::bits(between.reach * between.reach > dot(between.way, between.way));
    Number entries[width];
    for (std::size_t lane = 0; lane < width; ++lane) entries[lane] = static_cast<Number>(k + lane);
    Lanes::compress(first + k, touching, job.i + found);
    Lanes::compress(second + k, touching, job.j + found);
    Lanes::compress(entries, touching, job.entry + found);
    found += static_cast<std::size_t>(std::popcount(touching));

    unsigned before = 0;
    for (std::size_t lane = 0; lane < width; ++lane) before |= static_cast<unsigned>(job.active[k + lane]) << lane;
    if (before == touching) continue;
    for (std::size_t lane = 0; lane < width; ++lane) {
      const bool was = (before >> lane & 1) != 0, is = (touching >> lane & 1) != 0;
      job.active[k + lane] = is ? 1 : 0;
      if (was && !is) job.ended[job.endings++] = entries[lane];
    }
  }
  job.found = found;
  return k;
}

}  // namespace
}  // namespace vicinal::dem
