#include "index/curve_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "exec/threads.hpp"
#include "index/bulk.hpp"
#include "index/cell_order.hpp"

namespace vicinal {

namespace {

// Size classes, one per octave. Without them, a body much larger than its neighbours on the curve would make the box of
// their run as large as itself. The class of a body is the first part of its key, so every class has its own curve.
template <class T, int D>
class SizeOctaves {
 public:
  static constexpr int most = 8;

  SizeOctaves() = default;
  explicit SizeOctaves(const BodyView<T, D>& points) {
    if (points.shape == Shape::point || points.size == 0) return;
    // The typical size, from a sample: half the bodies may be smaller, which is harmless.
    constexpr std::size_t sample = 1024;
    const std::size_t step = (points.size + sample - 1) / sample;
    std::vector<int> octaves;
    for (std::size_t p = 0; p < points.size; p += step) octaves.push_back(octave(points, p));
    const auto middle = octaves.begin() + static_cast<std::ptrdiff_t>(octaves.size() / 2);
    std::nth_element(octaves.begin(), middle, octaves.end());
    base_ = *middle + 1;
    const T largest = *std::max_element(points.largest.begin(), points.largest.end());
    const int above = octave_of(static_cast<double>(largest)) - base_;
    if (above <= 0) return;
    width_ = above / most + 1;
    count = above / width_ + 1;
  }

  // The class of a body; 0 for sizes up to twice the typical one.
  [[nodiscard]] int operator()(const BodyView<T, D>& points, std::size_t p) const {
    return count == 1 ? 0 : std::clamp((octave(points, p) - base_) / width_, 0, count - 1);
  }

  int count = 1;

 private:
  static int octave_of(double size) { return size > 0 ? std::ilogb(size) : std::numeric_limits<int>::min() / 2; }
  static int octave(const BodyView<T, D>& points, std::size_t p) {
    if (points.shape == Shape::sphere) return octave_of(static_cast<double>(points.radius(p)));
    T longest = 0;
    for (int a = 0; a < D; ++a) longest = std::max(longest, points.upper(p, a) - points.at(p, a));
    return octave_of(static_cast<double>(longest));
  }

  int base_ = 0;
  int width_ = 1;
};

// Morton codes of the centres of bodies.
template <int D>
class Curve {
 public:
  // Half a centre: the difference of two halves cannot overflow.
  using Place = std::array<double, D>;

  Curve(const Place& low, const Place& high, int bits) : low_(low), most_(std::ldexp(1.0, bits) - 1) {
    // Cells are cubes for any shape of the space, so the boxes of runs are approximately cubes.
    double longest = 0;
    for (std::size_t a = 0; a < D; ++a) longest = std::max(longest, high[a] - low[a]);
    if (longest > 0) inverse_ = std::min((most_ + 1) / longest, std::numeric_limits<double>::max());
  }
  [[nodiscard]] std::uint64_t operator()(const Place& x) const {
    std::array<std::uint32_t, D> cell{};
    for (std::size_t a = 0; a < D; ++a)
      cell[a] = static_cast<std::uint32_t>(std::min(std::max((x[a] - low_[a]) * inverse_, 0.0), most_));
    return morton_code<D>(cell);
  }

 private:
  Place low_;
  double most_;
  double inverse_ = 0;
};

template <class T, int D>
std::array<double, D> half_centre(const Bodies<T, D>& bodies, std::size_t point) {
  std::array<double, D> x = bodies.place_of(point);
  for (int a = 0; a < D; ++a) {
    double& half = x[static_cast<std::size_t>(a)];
    half /= 2;
    if (bodies.raw.shape == Shape::box) half = half / 2 + static_cast<double>(bodies.value(point, a + D)) / 4;
  }
  return x;
}

template <class T, int D>
class CurveKeys {
 public:
  explicit CurveKeys(const Bodies<T, D>& bodies, int bits = morton_bits<D>)
      : bodies_(bodies), classes_(bodies.raw),
        bits_(classes_.count == 1 ? bits : std::min(bits, (63 - class_bits) / D)), curve_(curve_over(bodies, bits_)) {}

  template <class F>
  [[gnu::flatten]] void for_each(std::size_t begin, std::size_t end, F&& f) const {
    const Curve<D> curve = curve_;  // not read again after every key
    if (bodies_.raw.shape == Shape::point && !bodies_.box.periodic()) {
      const T* x = bodies_.raw.data + begin * D;
      for (std::size_t p = begin; p < end; ++p, x += D) {
        std::array<double, D> half;
        for (std::size_t a = 0; a < D; ++a) half[a] = static_cast<double>(x[a]) / 2;
        f(p, curve(half));
      }
      return;
    }
    for (std::size_t p = begin; p < end; ++p) {
      const auto size = static_cast<std::uint64_t>(classes_(bodies_.raw, p));
      f(p, size << (bits_ * D) | curve(half_centre(bodies_, p)));
    }
  }
  [[nodiscard]] std::uint64_t limit() const { return static_cast<std::uint64_t>(classes_.count) << (bits_ * D); }
  [[nodiscard]] int classes() const { return classes_.count; }

 private:
  static constexpr int class_bits = std::bit_width(static_cast<unsigned>(SizeOctaves<T, D>::most) - 1);

  // The curve covers the bulk of the bodies; strays share the outermost cells.
  static Curve<D> curve_over(const Bodies<T, D>& bodies, int bits) {
    const double largest = static_cast<double>(*std::max_element(bodies.raw.largest.begin(), bodies.raw.largest.end()));
    const Bulk<D> bulk = find_bulk(bodies.raw, bodies.box, largest, most_strays(bodies.size));
    std::array<double, D> low{};
    std::array<double, D> high{};
    for (std::size_t a = 0; a < D; ++a) {
      low[a] = bulk.low[a] / 2;
      high[a] = bulk.high[a] / 2;
      if (bodies.raw.shape == Shape::box) high[a] += static_cast<double>(bodies.raw.largest[a]) / 4;
    }
    return Curve<D>(low, high, bits);
  }

  const Bodies<T, D>& bodies_;
  SizeOctaves<T, D> classes_;
  int bits_;
  Curve<D> curve_;
};

// Sorts the bodies of slots begin … end-1, which share a cell of the curve, along a finer one; a stray body far away
// must not make the cells of all others too large. `shared`, if not null, receives for each slot but the first the
// number of bits of the finer codes that it shares with the slot before, added to 64.
template <class T, int D>
class FinerOrder {
 public:
  FinerOrder(Bodies<T, D>& bodies, std::size_t enough, std::uint8_t* shared)
      : bodies_(bodies), enough_(enough), shared_(shared) {}

  void sort(std::size_t begin, std::size_t end) {
    if (end - begin <= enough_) return;
    find_codes(begin, end);
    // The bodies coincide, or are too close for any factor to separate them.
    if (codes_.front().code == codes_.back().code) return;
    for (std::size_t c = 0; c < bodies_.columns(); ++c) {
      if (bodies_.banded) rearrange(bodies_.near[c].data() + begin, near_);
      else rearrange(bodies_.exact[c].data() + begin, exact_);
    }
    rearrange(bodies_.ids.data() + begin, ids_);
    std::vector<std::size_t> crowded;  // where runs of one code begin and end
    for (std::size_t first = 0, last = 0; first < codes_.size(); first = last) {
      while (last < codes_.size() && codes_[last].code == codes_[first].code) ++last;
      if (shared_ != nullptr && first > 0)
        shared_[begin + first] =
            static_cast<std::uint8_t>(64 + std::countl_zero(codes_[first - 1].code ^ codes_[first].code));
      if (last - first > enough_) crowded.insert(crowded.end(), {begin + first, begin + last});
    }
    // The bits of still finer codes would be too many to be told from those of this one.
    std::uint8_t* const shared = std::exchange(shared_, nullptr);
    for (std::size_t k = 0; k < crowded.size(); k += 2) sort(crowded[k], crowded[k + 1]);
    shared_ = shared;
  }

 private:
  struct Code {
    std::uint64_t code;
    std::uint32_t from;  // the place of the body before
  };

  // The codes of bodies, sorted.
  void find_codes(std::size_t begin, std::size_t end) {
    const std::size_t n = end - begin;
    centres_.resize(n);
    std::array<double, D> low{};
    std::array<double, D> high{};
    low.fill(std::numeric_limits<double>::infinity());
    high.fill(-std::numeric_limits<double>::infinity());
    for (std::size_t k = 0; k < n; ++k) {
      std::array<double, D> x;
      if (bodies_.raw.shape == Shape::box) {
        x = half_centre(bodies_, static_cast<std::size_t>(bodies_.ids[begin + k]));
      } else {
        x = bodies_.place_at(begin + k);
        for (double& half : x) half /= 2;
      }
      centres_[k] = x;
      for (std::size_t a = 0; a < D; ++a) {
        low[a] = x[a] < low[a] ? x[a] : low[a];
        high[a] = x[a] > high[a] ? x[a] : high[a];
      }
    }
    constexpr int bits = morton_bits<D>;
    const Curve<D> curve(low, high, bits);
    unsorted_.resize(n);
    // The leading bits distribute the codes, so that few are left to compare.
    const int shift = std::max(0, bits * D - static_cast<int>(std::bit_width(n)));
    next_.assign((std::size_t{1} << (bits * D - shift)) + 1, 0);
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint64_t code = curve(centres_[k]);
      unsorted_[k] = {code, static_cast<std::uint32_t>(k)};
      ++next_[(code >> shift) + 1];
    }
    for (std::size_t part = 1; part < next_.size(); ++part) next_[part] += next_[part - 1];
    codes_.resize(n);
    for (const Code& entry : unsorted_) codes_[next_[entry.code >> shift]++] = entry;
    // Few bodies stay in the order they are in, as if the rest of their codes were equal.
    const std::size_t few = std::max<std::size_t>(enough_ / 4, 1);
    const auto before = [](const Code& a, const Code& b) {
      return a.code != b.code ? a.code < b.code : a.from < b.from;
    };
    std::size_t first = 0;
    for (std::size_t part = 0; first < n; ++part) {  // now next_[part] is its end
      const std::size_t last = next_[part];
      if (last - first > few)
        std::sort(codes_.begin() + static_cast<std::ptrdiff_t>(first),
                  codes_.begin() + static_cast<std::ptrdiff_t>(last), before);
      else
        for (std::size_t k = first; k < last; ++k) codes_[k].code = codes_[k].code >> shift << shift;
      first = last;
    }
  }

  template <class V>
  void rearrange(V* column, std::vector<V>& copy) const {
    copy.assign(column, column + codes_.size());
    for (std::size_t k = 0; k < codes_.size(); ++k) column[k] = copy[codes_[k].from];
  }

  Bodies<T, D>& bodies_;
  const std::size_t enough_;
  std::uint8_t* shared_;
  std::vector<std::array<double, D>> centres_;
  std::vector<Code> unsorted_, codes_;
  std::vector<std::uint32_t> next_;
  std::vector<float> near_;
  std::vector<T> exact_;
  std::vector<std::int32_t> ids_;
};

}  // namespace

template <class T, int D>
void Prefixes::reset(const Bodies<T, D>& bodies) {
  keys_.reset(bodies.size);
  parallel_ranges(bodies.groups, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t g = begin; g < end; ++g)
      std::fill(keys_.data() + bodies.group_begin[g], keys_.data() + bodies.group_begin[g + 1], bodies.group_key[g]);
  });
  shared_.reset(bodies.size);
  parallel_ranges(bodies.size, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t slot = std::max<std::size_t>(begin, 1); slot < end; ++slot)
      shared_[slot] = static_cast<std::uint8_t>(shared(slot - 1, slot));
  });
}

std::size_t Prefixes::cut(std::size_t most, Buffer<std::uint32_t>& starts) const {
  const std::size_t n = keys_.size();
  const std::size_t pieces = (n + grain - 1) / grain;
  std::vector<std::vector<std::uint32_t>> found(pieces);
  parallel_ranges(n, grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    found[piece] = starts_of_runs(begin, end, most);
  });
  std::vector<std::size_t> counts(pieces + 1, 0);
  for (std::size_t piece = 0; piece < pieces; ++piece) counts[piece] = found[piece].size();
  std::size_t sum = 0;
  for (std::size_t& count : counts) sum += std::exchange(count, sum);
  starts.reset(sum + 1);
  parallel_for(pieces, [&](std::size_t piece, int) {
    std::copy(found[piece].begin(), found[piece].end(), starts.data() + counts[piece]);
  });
  starts[sum] = static_cast<std::uint32_t>(n);
  return sum;
}

std::vector<std::uint32_t> Prefixes::starts_of_runs(std::size_t begin, std::size_t end, std::size_t most) const {
  const std::size_t n = keys_.size();
  const std::size_t from = begin > most + 1 ? begin - most - 1 : 0;
  const std::size_t to = n - end > most + 1 ? end + most + 1 : n;
  struct Open {
    std::uint32_t slot, first;  // `first`: where its node begins
    int shared;
  };
  // Bits grow along the stack: there are never more entries than different numbers of bits.
  std::array<Open, equal_keys + 34> stack;
  std::size_t depth = 0;
  stack[depth++] = {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(from), -1};
  std::vector<char> large(end - begin, 0);
  const auto close = [&](const Open& open, std::size_t after) {
    // (Not a branch on a condition that is hard to predict; slots outside are not asked for.)
    const std::size_t place = open.slot - begin;
    if (place < large.size()) large[place] = after - open.first > most ? 1 : 0;
  };
  for (std::size_t slot = from + 1; slot < to; ++slot) {
    const int here = shared_[slot];
    while (stack[depth - 1].shared > here) close(stack[--depth], slot);
    std::uint32_t first = stack[depth - 1].slot;
    if (stack[depth - 1].shared == here) close(stack[--depth], slot);
    stack[depth++] = {static_cast<std::uint32_t>(slot), first, here};
  }
  while (depth > 1) close(stack[--depth], to);
  if (begin == 0) large[0] = 1;
  std::vector<std::uint32_t> starts;
  for (std::size_t k = 0; k < large.size(); ++k)
    if (large[k] != 0) starts.push_back(static_cast<std::uint32_t>(begin + k));
  return starts;
}

namespace {

// Sorts, and fills `prefixes` unless it is null.
template <class T, int D>
int sort_along_curve(Bodies<T, D>& bodies, std::size_t most, int bits, Prefixes* prefixes) {
  const CurveKeys<T, D> keys(bodies, bits);
  order_by_key(keys.limit(), keys, bodies);
  std::vector<std::size_t> crowded;
  for (std::size_t g = 0; g < bodies.groups; ++g)
    if (bodies.group_begin[g + 1] - bodies.group_begin[g] > most) crowded.push_back(g);
  if (prefixes != nullptr) prefixes->reset(bodies);
  std::uint8_t* const shared = prefixes == nullptr ? nullptr : prefixes->shared_with_last();
  std::vector<FinerOrder<T, D>> finer(static_cast<std::size_t>(thread_count()), {bodies, most, shared});
  parallel_for(crowded.size(), [&](std::size_t k, int thread) {
    finer[static_cast<std::size_t>(thread)].sort(bodies.group_begin[crowded[k]], bodies.group_begin[crowded[k] + 1]);
  });
  return keys.classes();
}

}  // namespace

template <class T, int D>
int sort_by_curve(Bodies<T, D>& bodies, std::size_t most, int bits) {
  return sort_along_curve<T, D>(bodies, most, bits, nullptr);
}

template <class T, int D>
int order_by_curve(Bodies<T, D>& bodies, std::size_t most, Prefixes& prefixes, int bits) {
  const int classes = sort_along_curve(bodies, most, bits, &prefixes);
  bodies.groups = prefixes.cut(most, bodies.group_begin);
  bodies.group_key.release();
  return classes;
}

template int sort_by_curve(Bodies<float, 2>&, std::size_t, int);
template int sort_by_curve(Bodies<float, 3>&, std::size_t, int);
template int sort_by_curve(Bodies<double, 2>&, std::size_t, int);
template int sort_by_curve(Bodies<double, 3>&, std::size_t, int);
template int order_by_curve(Bodies<float, 2>&, std::size_t, Prefixes&, int);
template int order_by_curve(Bodies<float, 3>&, std::size_t, Prefixes&, int);
template int order_by_curve(Bodies<double, 2>&, std::size_t, Prefixes&, int);
template int order_by_curve(Bodies<double, 3>&, std::size_t, Prefixes&, int);

}  // namespace vicinal
