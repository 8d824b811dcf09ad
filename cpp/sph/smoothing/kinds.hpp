// The smoothing kernels. The choice among them is a branch that every pair of a run takes the same way.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sph/smoothing/cubic.hpp"
#include "sph/smoothing/quintic.hpp"
#include "sph/smoothing/wendland_c2.hpp"
#include "sph/smoothing/wendland_c4.hpp"

namespace vicinal::sph {

enum class SmoothingKind { wendland_c2, wendland_c4, quintic, cubic };

// Calls f.operator()<Kind>().
template <class F>
[[gnu::always_inline]] inline auto with_smoothing(SmoothingKind kind, F&& f) {
  switch (kind) {
    case SmoothingKind::wendland_c4: return f.template operator()<WendlandC4>();
    case SmoothingKind::quintic: return f.template operator()<QuinticSpline>();
    case SmoothingKind::cubic: return f.template operator()<CubicSpline>();
    case SmoothingKind::wendland_c2: break;
  }
  return f.template operator()<WendlandC2>();
}

// A kernel with its numbers for one smoothing length: W = value × at(q), ∇W = slope × at'(q)/q × (distance vector).
template <class T>
struct Smoothing {
  SmoothingKind kind;
  T per_length;  // 1/h
  T value, slope;

  template <class L>
  [[gnu::always_inline]] void at(typename L::Real distance, typename L::Real& w, typename L::Real& f) const {
    without_scales<L>(distance, w, f);
    w = w * L::all(value);
    f = f * L::all(slope);
  }
  template <class L>
  [[gnu::always_inline]] void without_scales(typename L::Real distance, typename L::Real& w,
                                             typename L::Real& f) const {
    const auto q = distance * L::all(per_length);
    with_smoothing(kind, [&]<class Kind>() { Kind::template at<L>(q, w, f); });
  }
};

}  // namespace vicinal::sph
