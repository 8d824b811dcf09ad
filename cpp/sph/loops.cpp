// The choice among the instruction sets.
#include "sph/loops.hpp"

#include "exec/of_isa.hpp"

namespace vicinal::sph {

namespace {

const LoopTable& table() { return VICINAL_OF_ISA(loops); }

}  // namespace

template <>
const Loops<float, 2>& loops() {
  return table().float2;
}
template <>
const Loops<float, 3>& loops() {
  return table().float3;
}
template <>
const Loops<double, 2>& loops() {
  return table().double2;
}
template <>
const Loops<double, 3>& loops() {
  return table().double3;
}

}  // namespace vicinal::sph
