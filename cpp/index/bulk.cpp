#include "index/bulk.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "exec/threads.hpp"

namespace vicinal {

namespace {

// The middle part of the positions along an axis, from a sample: 1/8 of the sample is below, 1/8 above.
template <class T, int D>
std::array<double, 2> middle_of(const BodyView<T, D>& bodies, int axis, std::size_t sample) {
  std::vector<double> values;
  values.reserve(sample + 1);
  const std::size_t step = std::max<std::size_t>(1, bodies.size / sample);
  for (std::size_t k = 0; k < bodies.size; k += step) values.push_back(bodies.along(k, axis));
  const auto tail = static_cast<std::ptrdiff_t>(values.size() / 8);
  const auto lower = values.begin() + tail;
  const auto upper = values.end() - 1 - tail;
  std::nth_element(values.begin(), upper, values.end());
  std::nth_element(values.begin(), lower, upper);
  return {*lower, *upper};
}

// The bodies outside the bulk, and the bounds of the others.
template <class T, int D>
class Narrowing {
 public:
  Narrowing(const BodyView<T, D>& bodies, const Box<T, D>& box, const Bulk<D>& bulk)
      : bodies_(bodies), least_(bulk.low), most_(bulk.high), low_(bulk.high), high_(bulk.low) {
    for (std::size_t a = 0; a < D; ++a)
      if (box.edge[a] > 0) {
        least_[a] = -std::numeric_limits<double>::infinity();
        most_[a] = std::numeric_limits<double>::infinity();
      }
  }

  void add(std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end;) {
      if (end - k >= together && !bodies_.box.tilted && add_together(k)) {
        k += together;
      } else {
        const std::size_t next = std::min(k + together, end);
        for (; k < next; ++k) add_one(k);
      }
    }
  }
  void add(const Narrowing& other) {
    outside_ += other.outside_;
    for (std::size_t a = 0; a < D; ++a) take(a, other.low_[a], other.high_[a]);
  }
  void apply(const Box<T, D>& box, Bulk<D>& bulk) const {
    bulk.outside = outside_;
    for (std::size_t a = 0; a < D; ++a) {
      if (box.edge[a] > 0) continue;
      bulk.low[a] = low_[a];
      bulk.high[a] = high_[a];
    }
  }

 private:
  // Bodies that are mostly all inside.
  static constexpr std::size_t together = 32;

  void take(std::size_t axis, double low, double high) {
    low_[axis] = std::min(low_[axis], low);
    high_[axis] = std::max(high_[axis], high);
  }
  void add_one(std::size_t k) {
    std::array<double, D> x;
    bool outside = false;
    for (std::size_t a = 0; a < D; ++a) {
      x[a] = bodies_.along(k, static_cast<int>(a));
      outside = outside || x[a] < least_[a] || x[a] > most_[a];
    }
    outside_ += outside ? 1 : 0;
    for (std::size_t a = 0; a < D && !outside; ++a) take(a, x[a], x[a]);
  }
  // Returns false, and does nothing, if one of them is outside. Four bodies side by side are whole registers.
  bool add_together(std::size_t k) {
    constexpr std::size_t lanes = 4 * D;
    const T* const x = bodies_.data + k * D;
    std::array<T, lanes> low, high;
    for (std::size_t lane = 0; lane < lanes; ++lane) low[lane] = high[lane] = x[lane];
    for (std::size_t first = lanes; first < together * D; first += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const T value = x[first + lane];
        low[lane] = value < low[lane] ? value : low[lane];
        high[lane] = value > high[lane] ? value : high[lane];
      }
    for (std::size_t lane = D; lane < lanes; ++lane) {
      low[lane % D] = std::min(low[lane % D], low[lane]);
      high[lane % D] = std::max(high[lane % D], high[lane]);
    }
    for (std::size_t a = 0; a < D; ++a)
      if (static_cast<double>(low[a]) < least_[a] || static_cast<double>(high[a]) > most_[a]) return false;
    for (std::size_t a = 0; a < D; ++a) take(a, static_cast<double>(low[a]), static_cast<double>(high[a]));
    return true;
  }

  const BodyView<T, D>& bodies_;
  std::array<double, D> least_, most_;  // the bulk as it was
  std::array<double, D> low_, high_;    // of the bodies inside
  std::size_t outside_ = 0;
};

template <class T, int D>
void narrow(const BodyView<T, D>& bodies, const Box<T, D>& box, Bulk<D>& bulk) {
  constexpr std::size_t grain = std::size_t{1} << 16;
  Narrowing<T, D> all(bodies, box, bulk);
  std::vector<Narrowing<T, D>> pieces((bodies.size + grain - 1) / grain, all);
  parallel_ranges(bodies.size, grain,
                  [&](std::size_t begin, std::size_t end, std::size_t piece) { pieces[piece].add(begin, end); });
  for (const auto& piece : pieces) all.add(piece);
  all.apply(box, bulk);
}

}  // namespace

template <class T, int D>
Bulk<D> find_bulk(const BodyView<T, D>& bodies, const Box<T, D>& box, double reach, std::size_t most) {
  // Fewer bodies give too small a sample, and their search is fast in any case.
  constexpr std::size_t least = 512;
  // A small sample is enough if the space is evenly filled.
  constexpr std::size_t glance = 64;
  constexpr std::size_t sample = 1024;
  constexpr double far = 4;  // least ratio of the whole length to that of the middle part (3/4 of evenly spread bodies)
  Bulk<D> all;
  for (std::size_t a = 0; a < D; ++a) {
    const bool periodic = box.edge[a] > 0;
    all.low[a] = periodic ? 0 : static_cast<double>(bodies.low[a]);
    all.high[a] = static_cast<double>(periodic ? box.edge[a] : bodies.high[a]);
    all.length[a] = all.high[a] - all.low[a];
  }
  if (bodies.size < least) return all;
  Bulk<D> bulk = all;
  for (int axis = 0; axis < D; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    if (box.periodic(axis)) continue;
    // Halved, because the difference of two coordinates may overflow.
    const auto short_of = [&](const std::array<double, 2>& middle, double margin) {
      return far * (middle[1] / 2 - middle[0] / 2 + margin) < all.high[a] / 2 - all.low[a] / 2;
    };
    if (!short_of(middle_of(bodies, axis, glance), 0)) continue;
    const auto middle = middle_of(bodies, axis, sample);
    const double margin = std::max(middle[1] - middle[0], 8 * reach);
    if (!short_of(middle, margin)) continue;
    bulk.low[a] = std::max(all.low[a], middle[0] - margin);
    bulk.high[a] = std::min(all.high[a], middle[1] + margin);
    bulk.length[a] = std::max((middle[1] - middle[0]) * 4 / 3, reach);
    bulk.cut = true;
  }
  if (!bulk.cut) return all;
  narrow(bodies, box, bulk);
  return bulk.outside <= most ? bulk : all;
}

template Bulk<2> find_bulk(const BodyView<float, 2>&, const Box<float, 2>&, double, std::size_t);
template Bulk<3> find_bulk(const BodyView<float, 3>&, const Box<float, 3>&, double, std::size_t);
template Bulk<2> find_bulk(const BodyView<double, 2>&, const Box<double, 2>&, double, std::size_t);
template Bulk<3> find_bulk(const BodyView<double, 3>&, const Box<double, 3>&, double, std::size_t);

}  // namespace vicinal
