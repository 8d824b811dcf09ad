// How far bodies have moved since a list was built, against how far they may: one pass over the coordinates.
//
// A list holds the pairs within C = cutoff + skin of the places x when it was built. It still holds every pair within
// the cutoff c of the places y of now if nobody moved farther than a budget m, because
//
//   |xi - xj| <= |xi - yi| + |yi - yj| + |yj - xj| <= m + c + m.
//
// So much for real numbers. The test rounds, and so does the measurement; all of it goes into the budget (`Slack`),
// with e the epsilon of T and t its smallest denormal:
//
//   - a pair of now passed fl(d²) <= fl(c²), so its distance is at most c (1 + 16 e) + 2 sqrt(t), see `reach_of`;
//   - it passed the test of the build if its distance then was at most C (1 - 16 e) - 2 sqrt(t), by the same bounds on
//     the rounding of d² and C²;
//   - differences of coordinates are rounded relative to themselves, however large the coordinates are: open axes add
//     nothing;
//   - in a periodic box all that counts are wrapped places w (docs/definition.md), whatever wrapping lost; one image of
//     a pair is in reach, so (wj - wi) + s L rounds by at most e L along an axis: once in the test of now, once in that
//     of the build, and once in the measurement of either body (the shorter way round, L - |wy - wx|);
//   - the measured fl(|x - y|²) is short of the true one by at most a factor 1 - 4 e and 3 t.
//
// Spheres have budgets of their own: built with radii R, of radii r now, body i may move by Ri - ri less slack. Summed
// over a pair that is the same argument with Ri + Rj for C and ri + rj for c, so growing is moving.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "geometry/box.hpp"

namespace vicinal {

// What rounding takes from the budget of one body (half of what it takes from a pair), in double.
template <class T>
struct Slack {
  static constexpr double eps = std::numeric_limits<T>::epsilon();
  // Twice what is derived above: computing a budget in double rounds, too, and with T = double no less than T does.
  static constexpr double relative = 32 * eps;
  double constant = 0;

  template <int D>
  explicit Slack(const Box<T, D>& box) : constant(8 * std::sqrt(static_cast<double>(least))) {
    for (const T edge : box.edge) constant += 4 * eps * static_cast<double>(edge);
  }
  // How far a body may move that reached `built` when the list was built and needs `now`: negative if not at all.
  [[nodiscard]] double budget(double built, double now) const {
    return built * (1 - relative) - now * (1 + relative) - constant;
  }
  // The largest measured square of a way that is within a budget; negative if none is.
  [[nodiscard]] static double square(double budget) { return budget > 0 ? budget * budget * (1 - relative) : -1; }

 private:
  static constexpr T least = std::numeric_limits<T>::denorm_min();
};

struct Drifted {
  bool within = true;  // nobody left their budget; false also for coordinates or sizes that are no finite numbers
  double share = 0;    // the largest share of a budget that is used up, squared
};

// The places of bodies when a list was built, wrapped.
template <class T, int D>
class Reference {
 public:
  void remember(std::span<const T> points, const Box<T, D>& box) {
    box_ = box;
    places_.reset(points.size());
    parallel_ranges(points.size() / D, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      wrapped(points.data() + begin * D, end - begin, places_.data() + begin * D);
    });
    for (std::size_t k = 0; k < tile * D; ++k) {
      const T edge = box.edge[k % D];
      edges_[k] = edge > 0 ? edge : infinity;
      lows_[k] = edge > 0 ? T{0} : -infinity;
    }
  }
  [[nodiscard]] std::size_t size() const { return places_.size() / D; }
  [[nodiscard]] std::size_t bytes() const { return places_.bytes(); }

  // Everybody has the same budget.
  [[nodiscard]] Drifted drift(std::span<const T> now, double budget) const {
    const double limit = Slack<T>::square(budget);
    return measure(now, [&](const T* squares, std::size_t, std::size_t count, Drifted& drifted) {
      // Rounded up to T a limit would be too large.
      const auto most = limit < 0 ? T{-1} : std::nextafter(static_cast<T>(limit), T{0});
      T worst = 0;
      int outside = 0;
      for (std::size_t k = 0; k < count; ++k) {
        worst = std::max(worst, squares[k]);
        outside |= squares[k] <= most ? 0 : 1;  // NaN is outside
      }
      if (outside != 0) drifted.within = false;
      drifted.share = std::max(drifted.share, limit > 0 ? static_cast<double>(worst) / limit : none_left(worst));
    });
  }

  // Spheres that may have grown: `built` are the radii of the list, `radii` those of now.
  [[nodiscard]] Drifted drift(std::span<const T> now, std::span<const T> built, std::span<const T> radii) const {
    const Slack<T> slack(box_);
    return measure(now, [&](const T* squares, std::size_t first, std::size_t count, Drifted& drifted) {
      for (std::size_t k = 0; k < count; ++k) {
        const auto radius = static_cast<double>(radii[first + k]);
        const double limit = Slack<T>::square(slack.budget(static_cast<double>(built[first + k]), radius));
        const auto square = static_cast<double>(squares[k]);
        if (!(square <= limit && radius >= 0)) drifted.within = false;
        drifted.share = std::max(drifted.share, limit > 0 ? square / limit : none_left(squares[k]));
      }
    });
  }

  // The bodies in another order: body k is now who was order[k].
  void reorder(std::span<const std::int32_t> order) {
    Buffer<T> moved(places_.size());
    parallel_ranges(order.size(), grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t k = begin; k < end; ++k)
        std::copy_n(places_.data() + static_cast<std::size_t>(order[k]) * D, D, moved.data() + k * D);
    });
    places_ = std::move(moved);
  }

 private:
  static constexpr T infinity = std::numeric_limits<T>::infinity();
  static constexpr std::size_t tile = 256;  // bodies; a tile and its squares stay in the first cache
  static constexpr std::size_t grain = std::size_t{1} << 15;
  // Farther out than this many edges Python refuses a body (most_wraps in _check.py), so it has to see it.
  static constexpr double most_wraps = std::min(0x1p29, 0.125 / std::numeric_limits<T>::epsilon());

  static double none_left(T square) { return square > 0 ? std::numeric_limits<double>::infinity() : 0; }

  void wrapped(const T* points, std::size_t bodies, T* places) const {
    for (std::size_t k = 0; k < bodies * D; ++k) places[k] = box_.wrap(points[k], static_cast<int>(k % D));
  }
  // As `wrapped`, with NaN for who is too far out. Most bodies of a tile are inside.
  void wrapped_or_nan(const T* points, std::size_t bodies, T* places) const {
    for (std::size_t k = 0; k < bodies * D; ++k) {
      places[k] = points[k];
      if (points[k] >= lows_[k] && points[k] < edges_[k]) continue;
      const bool far = !(std::abs(static_cast<double>(points[k])) < most_wraps * static_cast<double>(edges_[k]));
      places[k] = far ? std::numeric_limits<T>::quiet_NaN() : box_.wrap(points[k], static_cast<int>(k % D));
    }
  }

  // Calls judge(squared ways, first body, bodies, drifted) for tile after tile.
  template <class Judge>
  [[nodiscard]] Drifted measure(std::span<const T> now, Judge&& judge) const {
    const std::size_t n = size();
    std::vector<Drifted> found((n + grain - 1) / grain);
    const bool periodic = box_.periodic();
    parallel_ranges(n, grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
      std::array<T, tile * D> steps;
      std::array<T, tile> squares;
      for (std::size_t first = begin; first < end; first += tile) {
        const std::size_t count = std::min(tile, end - first);
        if (periodic) steps_in_box(now.data() + first * D, first, count, steps.data());
        else steps_in_space(now.data() + first * D, first, count, steps.data());
        for (std::size_t k = 0; k < count; ++k) {
          T sum = steps[k * D] + steps[k * D + 1];
          if constexpr (D == 3) sum += steps[k * D + 2];
          squares[k] = sum;
        }
        judge(squares.data(), first, count, found[piece]);
      }
    });
    Drifted all;
    for (const Drifted& piece : found) {
      all.within = all.within && piece.within;
      all.share = std::max(all.share, piece.share);
    }
    return all;
  }

  // The square of every coordinate's way: flat loops, which compilers turn into vectors.
  void steps_in_space(const T* now, std::size_t first, std::size_t count, T* steps) const {
    const T* const then = places_.data() + first * D;
    for (std::size_t k = 0; k < count * D; ++k) {
      const T way = now[k] - then[k];
      steps[k] = way * way;
    }
  }
  void steps_in_box(const T* now, std::size_t first, std::size_t count, T* steps) const {
    const T* const then = places_.data() + first * D;
    int outside = 0;
    for (std::size_t k = 0; k < count * D; ++k) outside |= (now[k] >= lows_[k] && now[k] < edges_[k]) ? 0 : 1;
    std::array<T, tile * D> inside;
    if (outside != 0) {
      wrapped_or_nan(now, count, inside.data());
      now = inside.data();
    }
    for (std::size_t k = 0; k < count * D; ++k) {
      const T straight = std::abs(now[k] - then[k]);
      const T round = std::abs(edges_[k] - straight);
      const T way = round < straight ? round : straight;  // NaN stays; along an open axis `round` is infinite or NaN
      steps[k] = way * way;
    }
  }

  Box<T, D> box_;
  Buffer<T> places_;
  std::array<T, tile * D> edges_{};  // per coordinate of a tile: the period, or infinity
  std::array<T, tile * D> lows_{};
};

}  // namespace vicinal
