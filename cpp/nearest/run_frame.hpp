// The float32 coordinates in which the candidates of a run of queries are selected.
//
// They are relative to the middle of the run and scaled by a power of two, so that all coordinates of the run and of
// the points within its radius are below 1 in magnitude. Therefore neither overflow nor underflow matters, and the
// error of float32 is relative to the size of the run, wherever it lies.
//
// Let e = 2^-24 and u be the roundoff of float32 and of the type T of the points, and all lengths be scaled. A
// coordinate of a candidate or query has an error of at most e + 2 u (S + 1), where S is the longest shift to an image;
// the difference of two of them, at most 2 in magnitude, is rounded by 2 e more; the difference in the exact test has
// an error of at most 4 u (S + 2). So along an axis, the two tests differ by less than
//   δ = 8 e + 16 u (S + 1) + 2 m,
// where m is the root of the smallest number of type T: squares below it are rounded to 0 in the exact test.
// The difference vectors of the two tests are not farther apart than 1.74 δ. Squares and sums are rounded by a few e
// of them, so the roots of the squared distances f in float32 and s in the exact test satisfy
//   |√f - √s| <= 1.74 δ + 5 e max(√f, √s).
// If at least k candidates have f <= L, they have √s <= √L (1 + 5 e) + 1.74 δ =: r, and all candidates with √s <= r
// have √f <= (r + 1.74 δ) (1 + 5 e). With (a + b)² <= (1 + 2^-10) a² + (1 + 2^10) b², this limit is met if
//   f <= (1 + 2^-9) L + 2^14 δ² =: widened(L).
// So the candidates with f <= widened(L) contain the k nearest ones, and those with f <= widened(R²) all within the
// distance R in the exact test.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "pairs/kernels.hpp"
#include "pairs/nearest_kernels.hpp"

namespace vicinal {

template <class T, int D>
class RunFrame {
 public:
  // The frame of queries within `bounds` whose candidates are within the radius; `longest`: the largest coordinate of a
  // shift to an image.
  void reset(const QueryBounds<T>& bounds, T radius2, double longest) {
    double half = 0;
    for (std::size_t a = 0; a < D; ++a) {
      frame_.middle[a] = bounds.low[a] / 2 + bounds.high[a] / 2;
      half = std::max({half, static_cast<double>(bounds.high[a]) - static_cast<double>(frame_.middle[a]),
                       static_cast<double>(frame_.middle[a]) - static_cast<double>(bounds.low[a])});
    }
    const double radius = std::sqrt(static_cast<double>(radius2));
    // A little larger than any coordinate, for its rounding.
    const double size = (half + radius) * (1 + 0x1p-10);
    int exponent = 0;
    if (size > 0 && size <= std::numeric_limits<double>::max()) std::frexp(size, &exponent);
    // Powers of two that T can hold. Sizes beyond them are those of points that coincide, or are infinitely far apart.
    constexpr int most = std::numeric_limits<T>::max_exponent - 2;
    exponent = std::clamp(exponent, -most, most);
    const double scale = std::ldexp(1.0, -exponent);
    frame_.scale = static_cast<T>(scale);
    const double smallest = std::sqrt(static_cast<double>(std::numeric_limits<T>::denorm_min()));
    const double delta = 8 * 0x1p-24 +
                         8 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (longest * scale + 1) +
                         2 * smallest * scale;
    constexpr double large = 0x1p126;
    offset_ = static_cast<float>(std::min(0x1p14 * delta * delta, large));
    const double reach = std::min(radius, size) * scale;
    reach2_ = widened(static_cast<float>(std::min(reach * reach * (1 + 0x1p-20), large)));
    for (std::size_t a = 0; a < D; ++a) {
      bounds_.low[a] = place(bounds.low[a], a);
      bounds_.high[a] = place(bounds.high[a], a);
    }
  }

  // A coordinate of a query.
  [[nodiscard]] float place(T x, std::size_t a) const {
    return static_cast<float>((x - frame_.middle[a]) * frame_.scale);
  }
  // The frame of candidates of an image (null: the box itself).
  const LocalFrame<T>& of_image(const T* step) {
    frame_.shifted = step != nullptr;
    for (std::size_t a = 0; a < D; ++a) frame_.shift[a] = step != nullptr ? step[a] : T{0};
    return frame_;
  }
  [[nodiscard]] const QueryBounds<float>& bounds() const { return bounds_; }
  // The limit for all candidates within the radius.
  [[nodiscard]] float reach2() const { return reach2_; }
  [[nodiscard]] float widened(float square) const { return square * slope + offset_; }
  static constexpr float slope = 1 + 0x1p-9F;
  // A square in the frame in the units of the points: no root of s is larger if as many roots of f are not.
  [[nodiscard]] T radius2(float square) const { return static_cast<T>(widened(square)) / frame_.scale / frame_.scale; }
  [[nodiscard]] float offset() const { return offset_; }

 private:
  LocalFrame<T> frame_{};
  QueryBounds<float> bounds_{};
  float offset_ = 0;
  float reach2_ = 0;
};

}  // namespace vicinal
