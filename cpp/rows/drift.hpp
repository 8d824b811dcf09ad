// The drift watch: compares the drift of bodies since a list was built with the margin within which the list is valid.
//
// A list holds the pairs within C = cutoff + skin of the positions x of its build. It still holds every pair within the
// cutoff c of the current positions y as long as no body has moved farther than a margin m, because
//
//   |xi - xj| <= |xi - yi| + |yi - yj| + |yj - xj| <= m + c + m.
//
// That holds for real numbers. The test of a pair rounds, and so does the measurement of a motion. `Slack` subtracts
// both from the margin, with e the epsilon of T and t its smallest denormal:
//
//   - a current pair passed fl(d²) <= fl(c²), so its distance is at most c (1 + 16 e) + 2 sqrt(t), see `reach_of`;
//   - it passed the test of the build if its distance then was at most C (1 - 16 e) - 2 sqrt(t), by the same bounds on
//     the rounding of d² and C²;
//   - differences of coordinates are rounded relative to themselves, however large the coordinates are: open axes add
//     nothing;
//   - in a periodic box only wrapped positions w count (docs/definition.md), however wrapping rounds; an image within
//     reach has |s| L <= C + L, so (wj - wi) + s L rounds by at most 2 e (L + C) along an axis: once in the current
//     test, once in that of the build, and once in the measurement of each body (the shorter way round). In a tilted
//     cell an image is a sum of vectors, |s| of each of them at most C / edge + 2, which rounds relative to their
//     lengths;
//   - the measured fl(|x - y|²) is short of the true one by at most a factor 1 - 4 e and 3 t.
//
// Every body can have its own margin: a sphere built with radius R that now has radius r may move by R - r minus the
// slack. Summed over a pair, the argument is the same with Ri + Rj for C and ri + rj for c, so growth counts as motion.
//
// Boxes are watched by containment: while every box lies within its box of the build, which is larger by half the skin
// on every side, two that overlap now overlapped then. Comparisons do not round, so open axes need no slack at all.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "exec/memory.hpp"
#include "exec/stream.hpp"
#include "exec/threads.hpp"
#include "geometry/box.hpp"

namespace vicinal {

// The part of the margin of one body that rounding uses up (half that of a pair), in double.
template <class T>
struct Slack {
  static constexpr double eps = std::numeric_limits<T>::epsilon();
  // Twice the bound derived above: computing a margin in double rounds, too, and for T = double as much as T does.
  static constexpr double relative = 32 * eps;
  double constant = 0;

  // `reach` is the largest distance of a pair of the list.
  template <int D>
  Slack(const Box<T, D>& box, double reach) : constant(8 * std::sqrt(static_cast<double>(least))) {
    for (std::size_t k = 0; k < D; ++k)
      if (const auto edge = static_cast<double>(box.edge[k]); edge > 0)
        constant += 4 * eps * (box.tilted ? 4 * (box.length(k) * (reach / edge + 2) + reach) : edge + reach);
  }
  // The margin of a body whose reach was `built` when the list was built and is `now` at present; negative if the list
  // is not valid even without motion.
  [[nodiscard]] double margin(double built, double now) const {
    return built * (1 - relative) - now * (1 + relative) - constant;
  }
  // The largest measured squared motion within a margin; negative if the margin is not positive.
  [[nodiscard]] static double square(double margin) { return margin > 0 ? margin * margin * (1 - relative) : -1; }

 private:
  static constexpr T least = std::numeric_limits<T>::denorm_min();
};

struct Drifted {
  bool within = true;  // whether no body has left its margin; false if a coordinate or size is not finite
  double share = 0;    // the square of the largest fraction of a margin that is used up
};

// Stores the wrapped positions of the bodies for which a list was built.
template <class T, int D>
class DriftWatch {
 public:
  // `reach` is the largest distance of a pair of the list. `wraps`: prepare for `crossings`.
  void remember(std::span<const T> positions, const Box<T, D>& box, double reach, bool wraps) {
    box_ = box;
    reach_ = reach;
    positions_.reset(positions.size());
    parallel_ranges(positions.size() / D, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      wrapped(positions.data() + begin * D, end - begin, positions_.data() + begin * D);
    });
    wraps_.reset(wraps ? positions.size() : 0);
    for (std::size_t k = 0; k < wraps_.size(); k += D) {
      const auto moved = box.wraps(positions.data() + k);
      std::copy(moved.begin(), moved.end(), wraps_.data() + k);
    }
    upper_.reset(0);
    for (std::size_t k = 0; k < tile * D; ++k) {
      const T edge = box.edge[k % D];
      edges_[k] = edge > 0 ? edge : infinity;
      lows_[k] = edge > 0 ? T{0} : -infinity;
    }
  }
  // Boxes of the build, enlarged by `half_skin` on every side. `longest`: the longest edges.
  void remember_boxes(std::span<const T> lower, std::span<const T> upper, const Box<T, D>& box, double half_skin,
                      const std::array<double, D>& longest) {
    remember(lower, box, 0, true);
    half_skin_ = half_skin;
    for (std::size_t a = 0; a < D; ++a) {
      const auto edge = static_cast<double>(box.edge[a]);
      box_slack_[a] = edge > 0 ? 16 * Slack<T>::eps * (edge + longest[a]) : 0;
    }
    if (box.tilted) {
      // An image is moved by up to two vectors more than boxes are long, see `lattice_reach`.
      double most = 0;
      for (std::size_t k = 0; k < D; ++k)
        if (const auto edge = static_cast<double>(box.edge[k]); edge > 0)
          most += box.length(k) * (D * *std::max_element(longest.begin(), longest.end()) / edge + 3);
      box_slack_.fill(16 * Slack<T>::eps * most);
    }
    upper_.reset(upper.size());
    for (std::size_t k = 0; k < upper.size(); k += D) {
      const auto moved = wrapped_upper(lower.data() + k, upper.data() + k);
      std::copy(moved.begin(), moved.end(), upper_.data() + k);
    }
  }
  [[nodiscard]] std::size_t size() const { return positions_.size() / D; }
  [[nodiscard]] std::size_t bytes() const { return positions_.bytes() + upper_.bytes() + wraps_.bytes(); }
  [[nodiscard]] std::span<const T> positions() const { return positions_.span(); }
  [[nodiscard]] Slack<T> slack() const { return Slack<T>(box_, reach_); }

  // For bodies with the same margin. Also writes the positions to `copy` unless it is null.
  [[nodiscard]] Drifted drift(std::span<const T> now, double margin, T* copy = nullptr) const {
    const double limit = Slack<T>::square(margin);
    return measure(now, copy, [&](const T* squares, std::size_t, std::size_t count, Drifted& drifted) {
      // A limit rounded up to T would be too large.
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

  // For bodies with different margins: margin_of(body).
  template <class MarginOf>
  [[nodiscard]] Drifted drift_each(std::span<const T> now, MarginOf&& margin_of, T* copy = nullptr) const {
    return measure(now, copy, [&](const T* squares, std::size_t first, std::size_t count, Drifted& drifted) {
      for (std::size_t k = 0; k < count; ++k) {
        const double limit = Slack<T>::square(margin_of(first + k));
        const auto square = static_cast<double>(squares[k]);
        if (!(square <= limit)) drifted.within = false;
        drifted.share = std::max(drifted.share, limit > 0 ? square / limit : none_left(squares[k]));
      }
    });
  }
  // For spheres: `built` are the radii of the list, `radii` the current ones.
  [[nodiscard]] Drifted drift(std::span<const T> now, std::span<const T> built, std::span<const T> radii,
                              T* copy = nullptr) const {
    const Slack<T> slack = this->slack();
    const auto margin_of = [&](std::size_t body) {
      const auto radius = static_cast<double>(radii[body]);
      return radius >= 0 ? slack.margin(static_cast<double>(built[body]), radius) : -1.0;
    };
    return drift_each(now, margin_of, copy);
  }

  // For boxes; their margin is the difference to the enlarged boxes of the build.
  [[nodiscard]] Drifted drift_boxes(std::span<const T> lower, std::span<const T> upper) const {
    return in_pieces([&](std::size_t begin, std::size_t end, Drifted& drifted) {
      double most = -infinity;
      for (std::size_t k = begin * D; k < end * D; k += D) {
        bool valid = near_enough(lower.data() + k);
        for (std::size_t a = k; a < k + D; ++a) valid = valid && std::isfinite(upper[a]) && lower[a] <= upper[a];
        if (!valid) {
          drifted.within = false;
          continue;
        }
        const auto now = box_.wrap(lower.data() + k);
        const auto ends = wrapped_upper(lower.data() + k, upper.data() + k);
        const auto back = box_.image(crossing(now, k));
        for (std::size_t a = 0; a < D; ++a) {
          const double low = static_cast<double>(now[a]) - static_cast<double>(back[a]);
          const double high = static_cast<double>(ends[a]) - static_cast<double>(back[a]);
          const double built_low = static_cast<double>(positions_[k + a]);
          const double built_high = static_cast<double>(upper_[k + a]);
          if (!(low >= built_low + box_slack_[a] && high <= built_high - box_slack_[a])) drifted.within = false;
          most = std::max({most, built_low + half_skin_ - low, high - (built_high - half_skin_)});
        }
      }
      const double used = std::max(most, 0.0) / half_skin_;
      drifted.share = std::max(drifted.share, used * used);
    });
  }

  // Writes the number of periods by which wrapping has moved each coordinate since the build: current - crossings *
  // edge is close to the position of the build. Returns whether any number is not 0. Bodies must be within their
  // margins, and margins must be below half an edge.
  bool crossings(std::span<const T> now, std::span<std::int32_t> out) const {
    std::int32_t any = 0;
    for (std::size_t k = 0; k < now.size(); k += D) {
      auto moved = crossing(box_.wrap(now.data() + k), k);
      const auto wraps = box_.wraps(now.data() + k);
      for (std::size_t a = 0; a < D; ++a) moved[a] += wraps[a] - wraps_[k + a];
      moved = box_.given(moved);
      for (std::size_t a = 0; a < D; ++a) {
        out[k + a] = moved[a];
        any |= moved[a];
      }
    }
    return any != 0;
  }

  // Reorders the bodies: the new body k is the former body order[k].
  void reorder(std::span<const std::int32_t> order) {
    permute(positions_, order);
    permute(upper_, order);
    permute(wraps_, order);
  }

 private:
  static constexpr T infinity = std::numeric_limits<T>::infinity();
  static constexpr std::size_t tile = 256;  // bodies; a tile and its squares fit into the level-1 cache
  static constexpr std::size_t grain = std::size_t{1} << 15;
  // Arrays longer than this have left the caches by the next step.
  static constexpr std::size_t cached_bytes = std::size_t{8} << 20;
  // Python refuses bodies farther outside a periodic box than this (most_wraps in _check.py), so they are not within.
  static constexpr double most_wraps = std::min(0x1p29, 0.125 / std::numeric_limits<T>::epsilon());

  static double none_left(T square) { return square > 0 ? std::numeric_limits<double>::infinity() : 0; }

  using Position = typename Box<T, D>::Position;
  using Integers = typename Box<T, D>::Integers;

  void wrapped(const T* points, std::size_t bodies, T* positions) const {
    for (std::size_t k = 0; k < bodies * D; k += D) {
      const Position position = box_.wrap(points + k);
      std::copy(position.begin(), position.end(), positions + k);
    }
  }
  // Whether a position is finite and close enough to the box.
  [[nodiscard]] bool near_enough(const T* x) const {
    Position position;
    std::copy_n(x, D, position.begin());
    for (std::size_t a = 0; a < D; ++a)
      if (!std::isfinite(x[a]) || (box_.edge[a] > 0 && !(std::abs(box_.fraction(position, a)) < most_wraps)))
        return false;
    return true;
  }
  // Like `wrapped`, with NaN for bodies that are too far outside. Most bodies of a tile are inside.
  void wrapped_or_nan(const T* points, std::size_t bodies, T* positions) const {
    for (std::size_t k = 0; k < bodies * D; ++k) {
      positions[k] = points[k];
      if (points[k] >= lows_[k] && points[k] < edges_[k]) continue;
      const bool far = !(std::abs(static_cast<double>(points[k])) < most_wraps * static_cast<double>(edges_[k]));
      positions[k] = far ? std::numeric_limits<T>::quiet_NaN() : box_.wrap(points[k], static_cast<int>(k % D));
    }
  }
  // The upper corner moves with the lower one and never falls below it (docs/definition.md).
  [[nodiscard]] Position wrapped_upper(const T* lower, const T* upper) const {
    const Position low = box_.wrap(lower);
    const Position moved = box_.image(box_.wraps(lower));
    Position high;
    for (std::size_t a = 0; a < D; ++a) {
      high[a] = upper[a];
      if (box_.tilted || box_.edge[a] > 0) high[a] = std::max(upper[a] - moved[a], low[a]);
    }
    return high;
  }
  // The number of edges by which a current wrapped position exceeds that of the build: the nearest integers for
  // positions, and for boxes in an orthogonal cell those that leave the lower corner at or above that of the build.
  [[nodiscard]] Integers crossing(const Position& now, std::size_t k) const {
    Position moved;
    for (std::size_t a = 0; a < D; ++a) moved[a] = now[a] - positions_[k + a];
    if (box_.tilted) return box_.nearest(moved);
    Integers whole{};
    for (std::size_t a = 0; a < D; ++a) {
      if (!(box_.edge[a] > 0)) continue;
      const double edges =
          (static_cast<double>(now[a]) - static_cast<double>(positions_[k + a])) / static_cast<double>(box_.edge[a]);
      whole[a] = static_cast<std::int32_t>(upper_.size() > 0 ? std::floor(edges) : std::round(edges));
    }
    return whole;
  }

  template <class Values>
  static void permute(Buffer<Values>& values, std::span<const std::int32_t> order) {
    if (values.size() == 0) return;
    Buffer<Values> moved(values.size());
    parallel_ranges(order.size(), grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t k = begin; k < end; ++k)
        std::copy_n(values.data() + static_cast<std::size_t>(order[k]) * D, D, moved.data() + k * D);
    });
    values = std::move(moved);
  }

  // Calls f(begin, end, drifted) for ranges of bodies and combines the results.
  template <class F>
  [[nodiscard]] Drifted in_pieces(F&& f) const {
    const std::size_t n = size();
    std::vector<Drifted> pieces((n + grain - 1) / grain);
    parallel_ranges(n, grain,
                    [&](std::size_t begin, std::size_t end, std::size_t piece) { f(begin, end, pieces[piece]); });
    Drifted all;
    for (const Drifted& piece : pieces) {
      all.within = all.within && piece.within;
      all.share = std::max(all.share, piece.share);
    }
    return all;
  }

  // Calls judge(squared motions, first body, number of bodies, drifted) for each tile.
  template <class Judge>
  [[nodiscard]] Drifted measure(std::span<const T> now, T* copy, Judge&& judge) const {
    const bool periodic = box_.periodic();
    const bool past_cache = now.size() * sizeof(T) > cached_bytes;
    return in_pieces([&](std::size_t begin, std::size_t end, Drifted& drifted) {
      std::array<T, tile * D> steps;
      std::array<T, tile> squares;
      for (std::size_t first = begin; first < end; first += tile) {
        const std::size_t count = std::min(tile, end - first);
        if (box_.tilted) steps_in_cell(now.data() + first * D, first, count, steps.data());
        else if (periodic) steps_in_box(now.data() + first * D, first, count, steps.data());
        else steps_in_space(now.data() + first * D, first, count, steps.data());
        if (copy != nullptr) {
          if (past_cache) stream_copy(copy + first * D, now.data() + first * D, count * D * sizeof(T));
          else std::copy_n(now.data() + first * D, count * D, copy + first * D);
        }
        for (std::size_t k = 0; k < count; ++k) {
          T sum = steps[k * D] + steps[k * D + 1];
          if constexpr (D == 3) sum += steps[k * D + 2];
          squares[k] = sum;
        }
        judge(squares.data(), first, count, drifted);
      }
      if (past_cache) finish_streams();
    });
  }

  // The squared motion of every coordinate. Flat loops, which compilers vectorise.
  void steps_in_space(const T* now, std::size_t first, std::size_t count, T* steps) const {
    const T* const then = positions_.data() + first * D;
    for (std::size_t k = 0; k < count * D; ++k) {
      const T motion = now[k] - then[k];
      steps[k] = motion * motion;
    }
  }
  void steps_in_box(const T* now, std::size_t first, std::size_t count, T* steps) const {
    const T* const then = positions_.data() + first * D;
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
      const T motion = round < straight ? round : straight;  // NaN stays; on an open axis `round` is infinite or NaN
      steps[k] = motion * motion;
    }
  }

  void steps_in_cell(const T* now, std::size_t first, std::size_t count, T* steps) const {
    for (std::size_t k = 0; k < count * D; k += D) {
      if (!near_enough(now + k)) {
        steps[k] = std::numeric_limits<T>::quiet_NaN();
        continue;
      }
      const Position at = box_.wrap(now + k);
      Position motion;
      for (std::size_t a = 0; a < D; ++a) motion[a] = at[a] - positions_[first * D + k + a];
      const Position round = box_.image(box_.nearest(motion));
      for (std::size_t a = 0; a < D; ++a) steps[k + a] = (motion[a] - round[a]) * (motion[a] - round[a]);
    }
  }

  Box<T, D> box_;
  double reach_ = 0;
  Buffer<T> positions_;              // for boxes the lower corners
  Buffer<T> upper_;                  // of boxes
  Buffer<std::int32_t> wraps_;       // the number of edges that wrapping subtracted from the positions
  std::array<T, tile * D> edges_{};  // per coordinate of a tile: the period, or infinity
  std::array<T, tile * D> lows_{};
  double half_skin_ = 0;  // of boxes
  std::array<double, D> box_slack_{};
};

// Bounds the drift by speeds, for callers that know them: positions are measured only when the bound exceeds the
// margin. The result depends on speeds and steps, not on measured times, so repeated runs build the same lists.
class DriftBound {
 public:
  // `used` is the largest fraction of a margin that is used up.
  void start(double used) { used_ = used; }
  // Whether all bodies stay within their margins in a step in which each uses at most the fraction `next` of it.
  // `measure` returns the largest fraction that is currently used up.
  template <class Measure>
  [[nodiscard]] bool lasts(double next, Measure&& measure) {
    if (used_ + next <= 1) return true;
    used_ = measure();
    return used_ + next <= 1;
  }
  void advance(double next) { used_ += next; }

 private:
  double used_ = 0;
};

}  // namespace vicinal
