// The choice among the instruction sets.
#include "index/stay.hpp"

#include "exec/isa.hpp"

namespace vicinal {

namespace {

template <class T>
Stay<T> choose([[maybe_unused]] int dimensions, [[maybe_unused]] Shape resized, [[maybe_unused]] bool banded) {
#ifdef VICINAL_X86
  if (isa_in_use() != Isa::baseline) return stay_avx2(dimensions, resized, banded, T{});
#endif
  return nullptr;
}

}  // namespace

Stay<float> stay_in_vectors(int dimensions, Shape resized, bool banded, float /*T*/) {
  return choose<float>(dimensions, resized, banded);
}
Stay<double> stay_in_vectors(int dimensions, Shape resized, bool banded, double /*T*/) {
  return choose<double>(dimensions, resized, banded);
}

}  // namespace vicinal
