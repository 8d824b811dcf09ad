// The loops for any processor, and the choice among all.
#include "sph/loops.hpp"

#include "exec/isa.hpp"
#include "sph/loop_table.hpp"

namespace vicinal::sph {

namespace {

constexpr LoopTable baseline_loops = table_of<PlainLanes<float>>();

const LoopTable& table() {
#ifdef VICINAL_X86
  switch (isa_setting()) {
    case Isa::avx512: return avx512_loops;
    case Isa::avx2: return avx2_loops;
    case Isa::baseline: break;
  }
#endif
  return baseline_loops;
}

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
