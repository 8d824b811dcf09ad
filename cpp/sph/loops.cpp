// The choice among the instruction sets.
#include "sph/loops.hpp"

#include "exec/of_isa.hpp"

namespace vicinal::sph {

namespace {

const LoopTable<float>& floats() { return VICINAL_OF_ISA(loops); }
const LoopTable<double>& doubles() {
#ifdef VICINAL_X86
  if (isa_in_use() == Isa::avx512) return avx512_double_loops;
#endif
  return baseline_double_loops;
}

}  // namespace

template <>
const Loops<float, 2>& loops() {
  return floats().in_2d;
}
template <>
const Loops<float, 3>& loops() {
  return floats().in_3d;
}
template <>
const Loops<double, 2>& loops() {
  return doubles().in_2d;
}
template <>
const Loops<double, 3>& loops() {
  return doubles().in_3d;
}

}  // namespace vicinal::sph
