// Finds all overlapping pairs from scratch: a sweep along one axis, strip by strip.
//
// A single sweep tests each body against all that overlap it along one axis, n^(2/3) of them in space. So the other
// axes are divided into strips a few bodies wide, a body is added to every strip that it overlaps, and each strip is
// swept separately. Of the strips that two bodies share, the one where their overlap begins reports them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "exec/threads.hpp"
#include "index/bulk.hpp"
#include "index/sweep/ends.hpp"

namespace vicinal::sweep {

// The extent of a body.
template <class T, int D>
struct Cover {
  std::array<T, D> low, high;

  [[nodiscard]] bool overlaps(const Cover& other) const {
    bool all = true;
    for (std::size_t a = 0; a < D; ++a) all = all && low[a] <= other.high[a] && other.low[a] <= high[a];
    return all;
  }
};

template <class T, int D, class CoverOf>
class OverlapFinder {
 public:
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  // `ends`: of all bodies along `axis`. `cover(body)` is its Cover. `bulk`: where most of their positions are.
  OverlapFinder(const Ends<T>& ends, std::size_t axis, const CoverOf& cover, const Bulk<D>& bulk)
      : ends_(ends), n_(ends.size() / 2), axis_(axis), cover_(cover), bulk_(bulk) {}

  // Numbers of bodies, each pair once.
  std::vector<Pairs> run() {
    if (n_ == 0) return {};
    cut();
    deal();
    const std::size_t strips = starts_.size() - 1;
    constexpr std::size_t grain = 256;
    const std::size_t pieces = (strips + grain - 1) / grain;
    std::vector<Pairs> pairs(pieces + large_.size());
    parallel_ranges(strips, grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
      std::vector<Member> members;
      std::size_t compared = 0;
      for (std::size_t strip = begin; strip < end; ++strip) compared += sweep(strip, members, pairs[piece]);
      compared_ += compared;
    });
    parallel_for(large_.size(), [&](std::size_t k, int) { compare_with_all(large_[k], pairs[pieces + k]); });
    return pairs;
  }
  // How many pairs `run` compared.
  [[nodiscard]] std::size_t compared() const { return compared_ + large_.size() * n_; }

 private:
  // A body that covers more strips than this is compared with all others instead.
  static constexpr std::size_t most_strips = 64;

  struct Cut {
    double low = 0, inverse = 0;
    std::size_t count = 1;
    [[nodiscard]] std::uint32_t operator()(T x) const {
      return static_cast<std::uint32_t>(
          std::min(std::max((static_cast<double>(x) - low) * inverse, 0.0), static_cast<double>(count - 1)));
    }
  };
  using Strip = std::array<std::uint32_t, 2>;  // along the other axes; in the plane there is one
  struct Member {
    Cover<T, D> cover;
    Strip first;  // strip it covers
    std::uint32_t body;
  };

  [[nodiscard]] std::size_t other(std::size_t k) const { return (axis_ + 1 + k) % D; }

  // The strips cover the bulk of the bodies; what is outside belongs to the outermost ones.
  void cut() {
    std::array<double, D> length{};
    for (std::size_t body = 0; body < n_; ++body) {
      const Cover<T, D> c = cover_(body);
      for (std::size_t a = 0; a < D; ++a) length[a] += static_cast<double>(c.high[a]) - static_cast<double>(c.low[a]);
    }
    // There are at most as many strips as bodies.
    const double most = D == 3 ? std::sqrt(static_cast<double>(n_)) : static_cast<double>(n_);
    for (std::size_t k = 0; k + 1 < D; ++k) {
      const std::size_t a = other(k);
      const double mean = length[a] / static_cast<double>(n_);
      const double low = bulk_.low[a] - mean / 2;
      const double extent = bulk_.high[a] - bulk_.low[a];
      const double width = std::max(2 * mean, extent / most);
      if (!(extent > 0 && extent < 1e300 && width > 0 && width < extent && 1 / width < 1e300)) continue;
      cut_[k] = {low, 1 / width, static_cast<std::size_t>(extent / width) + 1};
    }
  }

  [[nodiscard]] Strip strip_of(const std::array<T, D>& corner) const {
    Strip strip{};
    for (std::size_t k = 0; k + 1 < D; ++k) strip[k] = cut_[k](corner[other(k)]);
    return strip;
  }
  // f(strip) for all strips of a body; false if they are too many.
  template <class F>
  bool for_each_strip(const Cover<T, D>& cover, F&& f) const {
    const Strip first = strip_of(cover.low);
    const Strip last = strip_of(cover.high);
    if ((last[0] - first[0] + std::size_t{1}) * (last[1] - first[1] + std::size_t{1}) > most_strips) return false;
    for (std::size_t v = first[1]; v <= last[1]; ++v)
      for (std::size_t u = first[0]; u <= last[0]; ++u) f(v * cut_[0].count + u);
    return true;
  }

  // Puts bodies into their strips, in the order of their lower ends along the axis of the sweep.
  void deal() {
    starts_.assign(cut_[0].count * cut_[1].count + 1, 0);
    for (std::size_t body = 0; body < n_; ++body)
      if (!for_each_strip(cover_(body), [&](std::size_t strip) { ++starts_[strip]; }))
        large_.push_back(static_cast<std::uint32_t>(body));
    std::size_t sum = 0;
    for (std::size_t& start : starts_) sum += std::exchange(start, sum);
    members_.resize(sum);
    for (std::size_t k = 0; k < ends_.size(); ++k) {
      const Tag tag = ends_[k].tag;
      if (!tag.upper())
        for_each_strip(cover_(tag.body()), [&](std::size_t strip) { members_[starts_[strip]++] = tag.body(); });
    }
    std::copy_backward(starts_.begin(), starts_.end() - 1, starts_.end());
    starts_.front() = 0;
  }

  // Returns how many pairs were compared.
  std::size_t sweep(std::size_t strip, std::vector<Member>& members, Pairs& pairs) const {
    const Strip here{static_cast<std::uint32_t>(strip % cut_[0].count),
                     static_cast<std::uint32_t>(strip / cut_[0].count)};
    members.clear();
    for (std::size_t k = starts_[strip]; k < starts_[strip + 1]; ++k) {
      const Cover<T, D> cover = cover_(members_[k]);
      members.push_back({cover, strip_of(cover.low), members_[k]});
    }
    std::size_t compared = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Member& a = members[i];
      std::size_t j = i + 1;
      for (; j < members.size() && members[j].cover.low[axis_] <= a.cover.high[axis_]; ++j) {
        const Member& b = members[j];
        const bool begins_here =
            std::max(a.first[0], b.first[0]) == here[0] && std::max(a.first[1], b.first[1]) == here[1];
        if (begins_here && a.cover.overlaps(b.cover)) pairs.emplace_back(a.body, b.body);
      }
      compared += j - i - 1;
    }
    return compared;
  }

  void compare_with_all(std::uint32_t body, Pairs& pairs) const {
    const Cover<T, D> cover = cover_(body);
    for (std::uint32_t k = 0; k < n_; ++k) {
      if (!cover_(k).overlaps(cover) || k == body) continue;
      const bool both_large = std::binary_search(large_.begin(), large_.end(), k);
      if (!both_large || body < k) pairs.emplace_back(body, k);
    }
  }

  const Ends<T>& ends_;
  std::size_t n_;
  std::size_t axis_;
  const CoverOf& cover_;
  const Bulk<D>& bulk_;
  std::array<Cut, 2> cut_;
  std::vector<std::size_t> starts_;  // of the members of each strip
  std::vector<std::uint32_t> members_;
  std::vector<std::uint32_t> large_;  // ascending
  std::atomic<std::size_t> compared_{0};
};

}  // namespace vicinal::sweep
