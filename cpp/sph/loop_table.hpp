// The loops of one instruction set.
#pragma once

#include "sph/loops.hpp"
#include "sph/schemes/curvature.hpp"
#include "sph/schemes/delta.hpp"
#include "sph/schemes/dfsph.hpp"
#include "sph/schemes/edac.hpp"
#include "sph/schemes/extrapolate.hpp"
#include "sph/schemes/react.hpp"
#include "sph/schemes/solver_sweep.hpp"

namespace vicinal::sph {

namespace {

template <class L, int D>
constexpr Loops<typename L::T, D> loops_of() {
  return {Pass<L, D, Delta>::run, Pass<L, D, PlainDelta>::run, Pass<L, D, Edac>::run,
          Curvature<L, D>::run,   Extrapolate<L, D>::run,      React<L, D>::run,
          Dfsph<L, D>::run,       SolverSweep<L, D>::gradient, SolverSweep<L, D>::divergence};
}
template <class L>
constexpr LoopTable<typename L::T> table_of() {
  return {loops_of<L, 2>(), loops_of<L, 3>()};
}

}  // namespace
}  // namespace vicinal::sph
