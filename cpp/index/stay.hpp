// Bodies of a hash grid that moved a little: most of them are still in their bins, and only their coordinates change.
//
// This header is included by translation units compiled for different instruction sets, so it must not pull in
// anything whose inline functions the linker could share between them: plain types only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/prefetch.hpp"
#include "geometry/shape.hpp"

namespace vicinal {

// The values of level, box and frame along one axis: see HashAxis and NearFrame.
template <class T>
struct StayAxis {
  double origin, inverse, lowest, highest, lift;
  std::uint32_t mask;
  T period;  // 0 if it is open
  double centre, low, high;
  double longest;  // edge of a box
  float* near;
  T* exact;
};

// The bodies in slots begin … end-1 that are in bins of one level.
template <class T>
struct StayJob {
  StayAxis<T> axis[3];
  double scale;                      // of the frame
  double above, most;                // the sizes that the level takes
  std::uint32_t first;               // bin of the level
  const T* positions;                // by id
  const T* extra;                    // by id: radii, or upper corners
  float* near_radius;                // by slot
  T* grown[3];                       // by slot: the same as `extra`
  const std::int32_t* ids;           // by slot, negative in holes
  const std::uint32_t* bins;         // by slot
  std::uint32_t begin, end, finish;  // ids up to `finish` may be prefetched
};

// Prefetches the data of the body some slots ahead: the bodies of a bin are anywhere in the user's array, and a row may
// span two cache lines.
template <int D, int Extras, class T>
[[gnu::always_inline]] inline void prefetch_ahead(const StayJob<T>& job, std::uint32_t slot) {
  constexpr std::uint32_t ahead = 32;
  if (slot + ahead >= job.finish) return;
  const std::int32_t id = job.ids[slot + ahead];
  const auto row = static_cast<std::size_t>(id < 0 ? 0 : id);
  prefetch_to_read(job.positions + row * D);
  prefetch_to_read(job.positions + row * D + D - 1);
  if constexpr (Extras > 0) prefetch_to_read(job.extra + row * Extras);
  if constexpr (Extras > 1) prefetch_to_read(job.extra + row * Extras + Extras - 1);
}

// Sets the coordinates (in the frame if `banded`) and sizes of all bodies, and lists the slots of those that must be
// treated one by one, because they left their bin or have to be wrapped. Returns their number.
template <class T>
using Stay = std::uint32_t (*)(const StayJob<T>&, std::uint32_t* slots);

// `resized` is the shape of bodies that may have changed size; otherwise it is that of points.
// Of the instruction set in use; nullptr if there is no vector code for it.
Stay<float> stay_in_vectors(int dimensions, Shape resized, bool banded, float);
Stay<double> stay_in_vectors(int dimensions, Shape resized, bool banded, double);

Stay<float> stay_avx2(int dimensions, Shape resized, bool banded, float);
Stay<double> stay_avx2(int dimensions, Shape resized, bool banded, double);

}  // namespace vicinal
