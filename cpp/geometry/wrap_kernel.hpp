// The vector code that wraps many positions into a tilted cell.
//
// This header is included by translation units compiled for different instruction sets, so it must not pull in
// anything whose inline functions the linker could share between them: plain types only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinal {

// Wraps n positions, given one after the other, from `from` to `to`. `counts`, unless null, gets the numbers of vectors
// subtracted. `vector` and `inverse` are the rows of Lattice (geometry/box.hpp).
template <class T>
using WrapKernel = void (*)(const T* vector, const double* inverse, const T* from, std::size_t n, T* to,
                            std::int32_t* counts);

// By dimension.
struct WrapKernels {
  WrapKernel<float> single[2];
  WrapKernel<double> twice[2];
};

// Of the instruction set in use.
const WrapKernels& wrap_kernels();

const WrapKernels& baseline_wrap_kernels();
const WrapKernels& avx2_wrap_kernels();
const WrapKernels& avx512_wrap_kernels();
const WrapKernels& neon_wrap_kernels();

}  // namespace vicinal
