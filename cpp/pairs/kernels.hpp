// The vector code of the exact test: one small table of functions per instruction set.
//
// This header is included by translation units compiled for different instruction sets, so it must not pull in
// anything whose inline functions the linker could share between them: plain types only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinal {

// A run of candidate slots.
struct Span {
  std::uint32_t begin, end;
};

// One query against runs of candidates, in the dtype of the input:
//   ((xj - x) + shift)^2 + … <= squared, every operation rounded, none fused.
template <class T>
struct ExactProbe {
  T x[3];
  T shift[3];
  bool shifted;
  T squared;
};

// The same in float32 with a band of doubt: d2 <= inside is a pair, d2 > outside is none.
struct BandProbe {
  float x[3];
  float inside, outside;
};

inline constexpr std::size_t in_doubt = ~std::size_t{0};

// `hits` writes payload[slot] of every hit to `out` and returns their number; it may scribble one register beyond.
// `count` only counts. The band versions return `in_doubt` when some candidate is inside the band.
template <class T>
struct ExactKernel {
  std::size_t (*hits)(const T* const* x, const ExactProbe<T>&, const Span*, std::size_t spans,
                      const std::int32_t* payload, std::int32_t* out);
  std::size_t (*count)(const T* const* x, const ExactProbe<T>&, const Span*, std::size_t spans);
};
struct BandKernel {
  std::size_t (*hits)(const float* const* x, const BandProbe&, const Span*, std::size_t spans,
                      const std::int32_t* payload, std::int32_t* out);
  std::size_t (*count)(const float* const* x, const BandProbe&, const Span*, std::size_t spans);
};

// Index 0: two dimensions, 1: three.
struct Kernels {
  ExactKernel<float> single[2];
  ExactKernel<double> twice[2];
  BandKernel band[2];
  // Copies whole cache lines past the cache; `to` is 64-byte aligned, `bytes` a multiple of 64.
  void (*stream)(void* to, const void* from, std::size_t bytes);
};

const Kernels& baseline_kernels();
#ifdef VICINAL_X86
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
#endif

}  // namespace vicinal
