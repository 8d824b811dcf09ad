// The loops for any processor, and the choice among all.
#include "sph/loops.hpp"

#include "exec/isa.hpp"
#include "sph/loop_table.hpp"

namespace vicinal::sph {

namespace {

constexpr LoopTable baseline_loops = table_of<PlainLanes<float>>();

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
