// The image of the second body of each entry of a list: shifts and vectors for the current positions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "geometry/box.hpp"

namespace vicinal {

// Positions wrapped into the box, and the number of edges that wrapping subtracted along each axis.
template <class T, int D>
struct WrappedPositions {
  Buffer<T> position;
  Buffer<std::int32_t> wraps;

  WrappedPositions(std::span<const T> points, const Box<T, D>& box) : position(points.size()), wraps(points.size()) {
    parallel_ranges(points.size() / D, std::size_t{1} << 14, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t k = begin * D; k < end * D; k += D) {
        const auto wrapped = box.wrap(points.data() + k);
        const auto moved = box.wraps(points.data() + k);
        std::copy(wrapped.begin(), wrapped.end(), position.data() + k);
        std::copy(moved.begin(), moved.end(), wraps.data() + k);
      }
    });
  }
};

// Calls f(entry, vector, image) for every entry between two bodies, in parallel. The image is the shift between wrapped
// positions: that of `shifts`, or without shifts the nearest one. The vector is (wj - wi) + image * edge, as in
// docs/definition.md; in a tilted cell the image is in units of the reduced vectors. Entries with a plane (numbers from
// `bodies` on) are left out.
template <class T, int D, class F>
void for_each_image(std::span<const std::int32_t> i, std::span<const std::int32_t> j, const std::int32_t* shifts,
                    const WrappedPositions<T, D>& at, const Box<T, D>& box, F&& f) {
  const std::size_t bodies = at.position.size() / D;
  parallel_ranges(i.size(), std::size_t{1} << 14, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto first = static_cast<std::size_t>(i[k]), second = static_cast<std::size_t>(j[k]);
      if (first >= bodies || second >= bodies) continue;
      std::array<T, D> vector;
      for (std::size_t a = 0; a < D; ++a) vector[a] = at.position[second * D + a] - at.position[first * D + a];
      std::array<std::int32_t, D> image{};
      if (shifts != nullptr) {
        std::copy_n(shifts + k * D, D, image.begin());
        image = box.reduced(image);
        for (std::size_t a = 0; a < D; ++a) image[a] += at.wraps[second * D + a] - at.wraps[first * D + a];
      } else if (box.tilted) {
        image = box.nearest(vector);
        for (std::int32_t& step : image) step = -step;
      } else {
        for (std::size_t a = 0; a < D; ++a) {
          const T edge = box.edge[a];
          if (!(edge > 0)) continue;
          if (std::abs(vector[a] + edge) < std::abs(vector[a])) image[a] = 1;
          if (std::abs(vector[a] - edge) < std::abs(vector[a])) image[a] = -1;
        }
      }
      const std::array<T, D> moved = box.image(image);
      for (std::size_t a = 0; a < D; ++a)
        if (box.tilted || box.edge[a] > 0) vector[a] = vector[a] + moved[a];
      f(k, vector, image);
    }
  });
}

// The vectors D, one per entry; 0 for an entry with a plane.
template <class T, int D>
void fill_vectors(std::span<const std::int32_t> i, std::span<const std::int32_t> j, const std::int32_t* shifts,
                  std::span<const T> points, const Box<T, D>& box, T* vectors) {
  const WrappedPositions<T, D> at(points, box);
  for_each_image<T, D>(i, j, shifts, at, box, [&](std::size_t k, const auto& vector, const auto&) {
    std::copy(vector.begin(), vector.end(), vectors + k * D);
  });
}

// The shifts S of the nearest images, such that D = points[j] - points[i] + S * edge; 0 for an entry with a plane.
template <class T, int D>
void fill_nearest_shifts(std::span<const std::int32_t> i, std::span<const std::int32_t> j, std::span<const T> points,
                         const Box<T, D>& box, std::int32_t* shifts) {
  const WrappedPositions<T, D> at(points, box);
  for_each_image<T, D>(i, j, nullptr, at, box, [&](std::size_t k, const auto&, const auto& image) {
    std::array<std::int32_t, D> shift;
    for (std::size_t a = 0; a < D; ++a)
      shift[a] = image[a] + at.wraps[static_cast<std::size_t>(i[k]) * D + a] -
                 at.wraps[static_cast<std::size_t>(j[k]) * D + a];
    shift = box.given(shift);
    std::copy(shift.begin(), shift.end(), shifts + k * D);
  });
}

}  // namespace vicinal
