// The vector code of the search for nearest points: one small table of functions per instruction set.
//
// Plain types only, as in kernels.hpp. Candidates are selected in float32. The squared distances of those selected are
// those of the exact test, so their order is that of the definition.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pairs/kernels.hpp"

namespace vicinal {

// Most candidates that `order` sorts.
inline constexpr std::size_t ordered_most = 64;
// Up to this number of wanted neighbours there is a `limit`.
inline constexpr std::size_t limited_most = 40;
// Keys that are sorted together.
inline constexpr std::size_t few_keys = 16;
inline constexpr std::size_t key_padding = 2 * few_keys;
struct KeyRange {
  std::size_t begin, count;
};
// Boxes of one call of `bounds`, the children of a node.
inline constexpr std::size_t touched_boxes = 16;
// Infinities that follow the squares of selected candidates.
inline constexpr std::size_t order_padding = 16;

// The float32 coordinates of the candidates of a run of queries: (x - middle + shift) * scale.
template <class V>
struct LocalFrame {
  V middle[3];
  V shift[3];
  V scale;
  bool shifted;
};

// What `first` needs besides a query: columns of the points, by candidate the slot and the shift (null: none is
// shifted), the bits of a key that number a candidate, and the limit of squares.
template <class V>
struct FewNearest {
  const V* x[3];
  const V* shift[3];
  const std::int32_t* slots;
  const std::int32_t* ids;
  std::uint32_t bits;
  float slope, offset;  // a square f is certainly larger than a square g if f > slope * g + offset in float32
  std::size_t k;
  V most;
};

// squares:  squared distances of points x[axis][0 … count-1] from `at`, moved by `shift` (null: not moved).
//           Writes whole registers.
// squares_at: the same of the points in `slots`, behind which there are others up to a whole register; followed by
//           `order_padding` infinities.
// bounds:   the smallest squared distance that a point of each of `touched_boxes` boxes can have from a point of the
//           box from … to. Rounding is monotone, so no squared distance is smaller than its bound.
// children: the boxes node * touched_boxes + (0 … touched_boxes-1) of all given nodes whose bounds are not beyond
// `most`;
//           room for `touched_boxes` numbers more. Returns their number.
// gather:   copies the coordinates in the frame and the slots of points that are within `most` of the bounds side by
//           side, and `tile_lanes` infinities behind them. Returns their number.
// limit:    writes the squared distances of `size` candidates, a multiple of `tile_lanes`, from `at`. Returns a limit
//           that at least k of them meet and few more, or infinity; k is at most `limited_most`, or 0 for no limit.
// select:   copies the slots of candidates that are not beyond a limit, and some zeros behind them. Returns their
//           number. There must be room for `overshoot` entries more.
// order:    sorts at most `ordered_most` squares, followed by `order_padding` infinities, by square, then id, and
//           writes the first k that are not beyond `most` and their ids. Returns their number. The slot `self` is left
//           out unless it is `no_slot`. Of no squares nothing is read.
// keys_within: writes the keys (first_simd.hpp) of candidates that are not beyond `most`, and `key_padding` infinities
//           behind them. `places` are the bits of 0, 1, 2, … Returns their number.
// least_keys: writes the least `few_keys` of each range of keys in ascending order.
// first:    writes the distances of the first k of the candidates with these keys in the order of the exact test, and
//           their ids; there are k, and `self` unless it is `no_slot`, and one more. Returns the square of the last, or
//           -1 if the keys do not tell the order.
// roots:    takes the square root of each of `count` numbers.
inline constexpr std::int32_t no_slot = -1;

template <class V>
struct NearestKernel {
  void (*squares)(const V* const* x, std::size_t count, const V* at, const V* shift, V* to);
  void (*squares_at)(const V* const* x, const std::int32_t* slots, std::size_t count, const V* at, const V* shift,
                     V* to);
  void (*bounds)(const V* const* low, const V* const* high, const V* from, const V* to, const V* shift, V* bounds);
  std::size_t (*children)(const V* const* low, const V* const* high, const std::int32_t* nodes, std::size_t count,
                          const V* from, const V* to, const V* shift, V most, std::int32_t* children_to);
  std::size_t (*gather)(const V* const* x, const Span* spans, std::size_t count, const LocalFrame<V>& frame,
                        const QueryBounds<float>& bounds, float most, float* const* to, std::int32_t* slots);
  float (*limit)(const float* const* x, std::size_t size, const float* at, std::size_t k, float* squares);
  std::size_t (*select)(const float* squares, const std::int32_t* slots, std::size_t size, float limit,
                        std::int32_t* to);
  std::size_t (*order)(const V* squares, const std::int32_t* slots, const std::int32_t* ids, std::size_t count,
                       std::int32_t self, std::size_t k, V most, V* squares_to, std::int32_t* ids_to);
  std::size_t (*keys_within)(const float* const* x, std::size_t size, const float* at, float most, const float* places,
                             std::uint32_t bits, float* keys);
  void (*least_keys)(const float* keys, const KeyRange* of, std::size_t count, float* sorted);
  V (*first)(const FewNearest<V>& of, const float* sorted, const V* at, std::int32_t self, V* distances,
             std::int32_t* ids);
  void (*roots)(V* x, std::size_t count);
};

// By dimension.
struct NearestKernels {
  NearestKernel<float> single[2];
  NearestKernel<double> twice[2];
};

// Of the instruction set in use.
const NearestKernels& nearest_kernels();

const NearestKernels& baseline_nearest_kernels();
const NearestKernels& avx2_nearest_kernels();
const NearestKernels& avx512_nearest_kernels();
const NearestKernels& neon_nearest_kernels();

}  // namespace vicinal
