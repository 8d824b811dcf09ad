// The vector code of the search for nearest points: one small table of functions per instruction set.
//
// Plain types only, as in kernels.hpp. Squared distances are those of the exact test, so their order is that of the
// definition.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vicinal {

// Most hits that `order` sorts.
inline constexpr std::size_t ordered_most = 64;
// Up to this number of wanted neighbours `select` finds a limit of its own.
inline constexpr std::size_t selected_most = 40;

// squares: squared distances of points x[axis][0 … count-1] from `at`, moved by `shift` (null: not moved).
//         Writes whole registers.
// bounds: the smallest squared distance that a point of each of `count` boxes can have from a point of the box
//         from … to. Rounding is monotone, so no squared distance is smaller than its bound. `count` is a multiple of
//         `tile_lanes`.
// select: copies squares and ids of candidates that are not beyond a limit: `most`, or a smaller one that at least k
//         candidates meet. Returns their number. `size` is a multiple of `tile_lanes`. The squares are followed by a
//         register of infinities; there must be room for `overshoot` entries more.
// order:  sorts at most `ordered_most` selected squares by square, then id, and writes the ids and the roots of the
//         first k. `self` is left out unless it is negative.
template <class V>
struct NearestKernel {
  void (*squares)(const V* const* x, std::size_t count, const V* at, const V* shift, V* to);
  void (*bounds)(const V* const* low, const V* const* high, std::size_t count, const V* from, const V* to,
                 const V* shift, V* bounds);
  std::size_t (*select)(const V* squares, const std::int32_t* ids, std::size_t size, std::size_t k, V most,
                        V* squares_to, std::int32_t* ids_to);
  void (*order)(const V* squares, const std::int32_t* ids, std::size_t count, std::int32_t self, std::size_t k,
                V* roots, std::int32_t* ids_to);
};

// By dimension.
struct NearestKernels {
  NearestKernel<float> single[2];
  NearestKernel<double> twice[2];
};

const NearestKernels& baseline_nearest_kernels();
const NearestKernels& avx2_nearest_kernels();
const NearestKernels& avx512_nearest_kernels();
const NearestKernels& neon_nearest_kernels();

}  // namespace vicinal
