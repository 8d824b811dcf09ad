// The k nearest points of every query.
//
// Queries are answered by runs of neighbours on the curve. One of them, the probe, descends the tree alone. Its k-th
// distance, a little enlarged, is the radius within which the candidates of the whole run are copied into one tile.
// A query of the run that has k candidates within the radius is done: none outside the tile can be nearer. The others
// descend the tree alone, and so do all queries of a run whose tile would be too large (a void next to a cluster, for
// example): the run is halved until the tile fits. So the time per query is bounded for any distribution of points.
//
// Every decision compares squared distances of the exact test (docs/definition.md), or bounds of them that are rounded
// in the same way: the result is that of sorting all candidates by squared distance, then by number.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/prefetch.hpp"
#include "exec/threads.hpp"
#include "geometry/box.hpp"
#include "index/images.hpp"
#include "index/parts.hpp"
#include "nearest/nearest.hpp"
#include "nearest/tree.hpp"
#include "pairs/nearest_kernels.hpp"
#include "pairs/search.hpp"

namespace vicinal {

inline const NearestKernels& nearest_kernels() { return VICINAL_OF_ISA(nearest_kernels()); }

// The k nearest points found so far, by squared distance, then number.
template <class T>
class Best {
 public:
  void reset(std::size_t k, T most) {
    squares_.resize(k);
    ids_.resize(k);
    count_ = 0;
    most_ = most;
  }
  [[nodiscard]] bool full() const { return count_ == squares_.size(); }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const T* squares() const { return squares_.data(); }
  [[nodiscard]] const std::int32_t* ids() const { return ids_.data(); }
  // Points farther away are not wanted,
  [[nodiscard]] T limit() const { return full() ? squares_.back() : most_; }
  // nor are points as far away with a number from this one on.
  [[nodiscard]] std::int32_t limit_id() const {
    return full() ? ids_.back() : std::numeric_limits<std::int32_t>::max();
  }
  [[nodiscard]] bool wants(T square, std::int32_t id) const {
    return square < limit() || (square == limit() && id < limit_id());
  }
  void add(T square, std::int32_t id) {
    if (!wants(square, id)) return;
    std::size_t to = full() ? count_ - 1 : count_++;
    for (; to > 0 && (squares_[to - 1] > square || (squares_[to - 1] == square && ids_[to - 1] > id)); --to) {
      squares_[to] = squares_[to - 1];
      ids_[to] = ids_[to - 1];
    }
    squares_[to] = square;
    ids_[to] = id;
  }

 private:
  std::vector<T> squares_;
  std::vector<std::int32_t> ids_;
  std::size_t count_ = 0;
  T most_{};
};

// Rows of k distances and numbers, one per query as the user numbers them.
template <class T>
struct NearestRows {
  std::size_t k;
  T* distances;
  std::int32_t* ids;
};

// The search of one thread.
template <class T, int D>
class NearestSearch {
 public:
  // `own`: the queries are the points of the tree themselves, and none is its own neighbour.
  NearestSearch(const NearestTree<T, D>& tree, const Bodies<T, D>& queries, bool own, T cutoff,
                const NearestRows<T>& rows)
      : tree_(tree), bodies_(tree.bodies()), queries_(queries), own_(own), rows_(rows),
        most_(cutoff < std::numeric_limits<T>::infinity() ? cutoff * cutoff : std::numeric_limits<T>::max()),
        most_candidates_(2048 + 8 * rows.k), gather_(gather_kernel()), kernel_(nearest_kernel()) {
    T shortest = 0;
    for (std::size_t a = 0; a < D; ++a)
      if (const T edge = bodies_.box.edge[a]; edge > 0) shortest = shortest > 0 ? std::min(shortest, edge) : edge;
    for (const auto* const raw : {&bodies_.raw, &queries_.raw})
      for (std::size_t a = 0; a < D; ++a)
        for (const T x : {raw->low[a], raw->high[a]}) bound_[a] = std::max(bound_[a], std::abs(static_cast<double>(x)));
    near_reach_ = static_cast<double>(shortest) / 2;
    near_images_ = images_of(near_reach_);
    // All candidates, those up to a whole register behind the last image, and what `gather` writes too much.
    const std::size_t room = most_candidates_ + 2 * tile_lanes + gather_overshoot;
    for (auto& column : tile_) column.reset(room);
    tile_ids_.reset(room);
    squares_.reset(room);
  }

  // Answers queries first … last-1, which are neighbours.
  void run(Slot first, Slot last) {
    queue_.resize(last - first);
    std::iota(queue_.begin(), queue_.end(), first);
    sum_ = 0;
    // The first guess is the mean of the run before, which is close in space. Where density changes, part of the change
    // is foreseen: runs hold about as many points, so sparse ones are wider. (In the clouds of benchmarks/nearest.py, a
    // square that grows with the width left 7 % of clustered queries without k candidates, an unchanged one 11 %; one
    // that grows with the square of the width 6 %, but more queries descended alone, and uniform ones gained nothing.)
    const bool known = guess_ >= 0;
    if (!known) probe(first + (last - first) / 2);
    const double width = width_of(bounds_of(queue_), last - first);
    if (known && width > 0 && width_ > 0)
      guess_ = static_cast<T>(std::min(static_cast<double>(guess_) * (width / width_), static_cast<double>(most_)));
    width_ = width;
    answer(queue_, grown(guess_), !known);
    finish_picked();
    guess_ = sum_ / static_cast<T>(last - first);
  }

 private:
  // Fewer queries than this do not share a tile.
  static constexpr std::size_t several = 2;
  // The bounds of fewer queries than this say little about density.
  static constexpr std::size_t few = 5;
  static constexpr Slot none = ~Slot{0};
  // The square of the radius within which the queries of a run are searched, relative to their k-th distance. Measured
  // by benchmarks/nearest.py: more candidates against more queries that have to descend the tree alone.
  static constexpr T growth = static_cast<T>(1.9);

  struct Image {
    Shift shift;
    std::array<T, D> step;
    bool unmoved;

    [[nodiscard]] const T* data() const { return unmoved ? nullptr : step.data(); }
  };
  // Candidates of the tile of one periodic image.
  struct Segment {
    std::size_t begin, end;
    Image image;
  };
  struct Entry {
    T bound;
    std::uint32_t level, node;
  };
  // Candidates begin … begin+count-1 of picked_ are those of a query.
  struct Picked {
    Slot query;
    std::size_t begin, count;
  };

  static const Kernel<T>& gather_kernel() {
    if constexpr (std::is_same_v<T, float>) return kernels().single[0][D - 2];
    else return kernels().twice[0][D - 2];
  }
  static const NearestKernel<T>& nearest_kernel() {
    if constexpr (std::is_same_v<T, float>) return nearest_kernels().single[D - 2];
    else return nearest_kernels().twice[D - 2];
  }
  [[nodiscard]] T grown(T square) const { return square < most_ / growth ? square * growth : most_; }

  static_assert(NearestTree<T, D>::arity % tile_lanes == 0);

  // The images in which a point can be within reach, the box itself first.
  [[nodiscard]] std::vector<Image> images_of(double reach) const {
    const Box<T, D>& box = bodies_.box;
    Reach<D> around;
    for (std::size_t k = 0; k < D; ++k)
      around.axis[k] = box.tilted ? reach + lattice_slack(box, reach, bound_, k) : reach;
    std::vector<Image> images;
    for (const Shift& shift : images_within(around, box)) {
      images.push_back({shift, box.image(shift), shift == Shift{}});
      if (images.back().unmoved) std::swap(images.front(), images.back());
    }
    return images;
  }

  [[nodiscard]] std::array<T, D> position(Slot query) const {
    std::array<T, D> x{};
    for (std::size_t a = 0; a < D; ++a) x[a] = queries_.exact[a][query];
    return x;
  }

  [[nodiscard]] QueryBounds<T> bounds_of(std::span<const Slot> queue) const {
    QueryBounds<T> bounds{};
    for (std::size_t a = 0; a < D; ++a) {
      const T* const x = queries_.exact[a].data();
      bounds.low[a] = bounds.high[a] = x[queue[0]];
      for (const Slot query : queue) {
        bounds.low[a] = std::min(bounds.low[a], x[query]);
        bounds.high[a] = std::max(bounds.high[a], x[query]);
      }
    }
    return bounds;
  }
  // The edge of a cube as large as the bounds of some queries, per query; 0 if they tell nothing about density.
  static double width_of(const QueryBounds<T>& bounds, std::size_t queries) {
    double volume = 1 / static_cast<double>(queries);
    for (std::size_t a = 0; a < D; ++a)
      volume *= static_cast<double>(bounds.high[a]) - static_cast<double>(bounds.low[a]);
    if (queries < few || !(volume > 0) || !std::isfinite(volume)) return 0;
    return D == 2 ? std::sqrt(volume) : std::cbrt(volume);
  }

  // Answers queries that are neighbours. `probed`: the radius is not a mere guess.
  void answer(std::span<Slot> queue, T radius2, bool probed) {
    if (queue.size() < several) {
      for (const Slot query : queue) answer_alone(query);
      return;
    }
    if (!fill_tile(queue, radius2)) {
      const std::size_t half = queue.size() / 2;
      if (!probed) {
        probe(queue[half]);
        answer(queue, std::min(radius2, grown(guess_)), true);
        return;
      }
      answer(queue.first(half), radius2, true);
      answer(queue.subspan(half), radius2, true);
      return;
    }
    std::size_t left = 0;
    T wider = 0;
    for (const Slot query : queue) {
      const T needed = pick(query, radius2);
      if (needed <= radius2) continue;
      queue[left++] = query;
      wider = std::max(wider, needed);
    }
    if (left > 0) answer(queue.first(left), wider, true);
  }

  void probe(Slot query) {
    alone(query);
    guess_ = best_.limit();
  }
  void answer_alone(Slot query) {
    alone(query);
    sum_ += best_.limit();
    write(query, best_.squares(), best_.ids(), best_.count());
  }
  void write(Slot query, const T* squares, const std::int32_t* ids, std::size_t count) const {
    const std::size_t row = static_cast<std::size_t>(queries_.ids[query]) * rows_.k;
    for (std::size_t c = 0; c < count; ++c) {
      rows_.distances[row + c] = std::sqrt(squares[c]);
      rows_.ids[row + c] = ids[c];
    }
    fill_rest(row, count);
  }
  void fill_rest(std::size_t row, std::size_t count) const {
    for (std::size_t c = count; c < rows_.k; ++c) {
      rows_.distances[row + c] = std::numeric_limits<T>::infinity();
      rows_.ids[row + c] = -1;
    }
  }

  // Descends the tree for one query.
  void alone(Slot query) {
    best_.reset(rows_.k, most_);
    const auto x = position(query);
    for (const Image& image : near_images_) descend(query, x, image);
    // All images within `reach` were searched: the answer is final if it is not farther away. The number of images
    // grows with the reach, so it is doubled.
    double reach = near_reach_;
    while (bodies_.size > 0 && bodies_.box.periodic() && !covers(reach, best_.limit())) {
      const std::vector<Image> done = images_of(reach);
      reach *= 2;
      for (const Image& image : images_of(reach))
        if (std::none_of(done.begin(), done.end(), [&](const Image& old) { return old.shift == image.shift; }))
          descend(query, x, image);
    }
  }
  // Whether all points with such a square are within the images of a reach.
  static bool covers(double reach, T square) {
    return std::sqrt(static_cast<double>(square)) * (1 + 16 * std::numeric_limits<T>::epsilon()) <= reach;
  }

  void descend(Slot query, const std::array<T, D>& x, const Image& image) {
    if (tree_.depth() == 0) return;
    const Slot self = own_ && image.unmoved ? query : none;
    stack_.clear();
    open(static_cast<std::uint32_t>(tree_.depth()), 0, x, image);
    while (!stack_.empty()) {
      const Entry entry = stack_.back();
      stack_.pop_back();
      if (!wanted(entry)) continue;
      if (entry.level > 0) open(entry.level, entry.node, x, image);
      else scan(entry.node, x, image, self);
    }
  }
  [[nodiscard]] bool wanted(const Entry& entry) const {
    return best_.wants(entry.bound, tree_.least_id(tree_.level(entry.level).first + entry.node));
  }
  // Puts the children of a node on the stack, the nearest last. (The node above the last level is the root.)
  void open(std::uint32_t level, std::uint32_t node, const std::array<T, D>& x, const Image& image) {
    constexpr std::size_t arity = NearestTree<T, D>::arity;
    const auto& children = tree_.level(level - 1);
    const std::size_t first = static_cast<std::size_t>(node) * arity;
    const std::size_t count = std::min(arity, children.count - first);
    alignas(cache_line) std::array<T, arity> bounds;
    kernel_.bounds(tree_.low(children.first + first).data(), tree_.high(children.first + first).data(), arity, x.data(),
                   x.data(), image.data(), bounds.data());
    const std::size_t bottom = stack_.size();
    for (std::size_t c = 0; c < count; ++c) {
      const Entry entry{bounds[c], level - 1, static_cast<std::uint32_t>(first + c)};
      if (!wanted(entry)) continue;
      // Insertion: farther ones deeper, and of equal ones those with larger numbers.
      stack_.push_back(entry);
      std::size_t to = stack_.size() - 1;
      const auto id = [&](const Entry& e) { return tree_.least_id(children.first + e.node); };
      for (; to > bottom && (stack_[to - 1].bound < entry.bound ||
                             (stack_[to - 1].bound == entry.bound && id(stack_[to - 1]) < id(entry)));
           --to)
        stack_[to] = stack_[to - 1];
      stack_[to] = entry;
    }
  }
  void scan(std::uint32_t leaf, const std::array<T, D>& x, const Image& image, Slot self) {
    const Slot begin = bodies_.group_begin[leaf];
    const Slot end = bodies_.group_begin[leaf + 1];
    for (Slot from = begin; from < end; from += scanned) {
      const std::size_t count = std::min<std::size_t>(scanned, end - from);
      std::array<const T*, D> columns{};
      for (std::size_t a = 0; a < D; ++a) columns[a] = bodies_.exact[a].data() + from;
      alignas(cache_line) std::array<T, scanned> squares;
      kernel_.squares(columns.data(), count, x.data(), image.data(), squares.data());
      if (self >= from && self < from + count) squares[self - from] = std::numeric_limits<T>::infinity();
      for (std::size_t c = 0; c < count; ++c)
        if (squares[c] <= best_.limit()) best_.add(squares[c], bodies_.ids[from + c]);
    }
  }
  static constexpr std::size_t scanned = 64;

  // Copies all points within the radius of some query into the tile. False if there are too many of them.
  bool fill_tile(std::span<const Slot> queue, T radius2) {
    Batch<T> batch{};
    const QueryBounds<T> bounds = bounds_of(queue);
    batch.inside = radius2;
    segments_.clear();
    std::size_t at = 0;
    const bool near = !bodies_.box.periodic() || covers(near_reach_, radius2);
    // A query that reaches many images of a small box has far more candidates than its neighbours share.
    if (!near && !covers(8 * near_reach_, radius2)) return false;
    if (!near)
      far_images_ = images_of(std::sqrt(static_cast<double>(radius2)) * (1 + 16 * std::numeric_limits<T>::epsilon()));
    for (const Image& image : near ? near_images_ : far_images_) {
      if (!find_spans(bounds, image, radius2, at)) return false;
      if (spans_.empty()) continue;
      batch.shifted = !image.unmoved;
      for (std::size_t a = 0; a < D; ++a) batch.shift[a] = image.step[a];
      std::array<const T*, D> from{};
      std::array<T*, D> to{};
      for (std::size_t a = 0; a < D; ++a) {
        from[a] = bodies_.exact[a].data();
        to[a] = tile_[a].data() + at;
      }
      ends_.resize(spans_.size());
      const std::size_t size = gather_.gather(from.data(), bodies_.ids.data(), spans_.data(), spans_.size(), batch,
                                              &bounds, to.data(), tile_ids_.data() + at, ends_.data());
      if (size == 0) continue;
      const std::size_t end = at + (size + tile_lanes - 1) / tile_lanes * tile_lanes;
      segments_.push_back({at, end, image});
      at = end;
    }
    return true;
  }

  // The runs of points that may lie within the radius; `already` candidates are in the tile.
  bool find_spans(const QueryBounds<T>& bounds, const Image& image, T radius2, std::size_t already) {
    constexpr std::size_t arity = NearestTree<T, D>::arity;
    spans_.clear();
    if (tree_.depth() == 0) return true;
    std::size_t total = already;
    stack_.clear();
    stack_.push_back({T{0}, static_cast<std::uint32_t>(tree_.depth()), 0});
    while (!stack_.empty()) {
      const Entry entry = stack_.back();
      stack_.pop_back();
      const auto& children = tree_.level(entry.level - 1);
      const std::size_t from = static_cast<std::size_t>(entry.node) * arity;
      const std::size_t count = std::min(arity, children.count - from);
      alignas(cache_line) std::array<T, arity> least;
      kernel_.bounds(tree_.low(children.first + from).data(), tree_.high(children.first + from).data(), arity,
                     bounds.low, bounds.high, image.data(), least.data());
      for (std::size_t c = 0; c < count; ++c) {
        if (!(least[c] <= radius2)) continue;
        if (entry.level > 1) {
          stack_.push_back({least[c], entry.level - 1, static_cast<std::uint32_t>(from + c)});
          continue;
        }
        const Slot begin = bodies_.group_begin[from + c];
        const Slot end = bodies_.group_begin[from + c + 1];
        total += end - begin;
        if (!spans_.empty() && spans_.back().end == begin) spans_.back().end = end;
        else spans_.push_back({begin, end});
        if (total > most_candidates_) return false;
      }
    }
    return true;
  }

  // Collects the candidates of a query that may be its nearest points. Returns the square of a radius within which they
  // are: if it is larger than that of the tile, there may be nearer points outside the tile. Candidates are sorted
  // later: reading vectors that have just been written in pieces would wait for the writes.
  T pick(Slot query, T radius2) {
    const auto x = position(query);
    std::size_t size = 0;
    for (const Segment& segment : segments_) {
      std::array<const T*, D> columns{};
      for (std::size_t a = 0; a < D; ++a) columns[a] = tile_[a].data() + segment.begin;
      kernel_.squares(columns.data(), segment.end - segment.begin, x.data(), segment.image.data(),
                      squares_.data() + segment.begin);
      size = segment.end;
    }
    // The query itself is the nearest of its candidates. It is removed from the few that remain.
    const std::size_t k = rows_.k + (own_ ? 1 : 0);
    if (picked_count_ + size + overshoot > picked_.size()) {
      finish_picked();
      picked_.resize(size + 4096);
      picked_ids_.resize(size + 4096);
    }
    const std::size_t n = kernel_.select(squares_.data(), tile_ids_.data(), size, k, radius2,
                                         picked_.data() + picked_count_, picked_ids_.data() + picked_count_);
    if (n < k && radius2 < most_) return widened(size, k, radius2);
    const std::size_t row = static_cast<std::size_t>(queries_.ids[query]) * rows_.k;
    prefetch_to_write(rows_.distances + row);
    prefetch_to_write(rows_.ids + row);
    of_queries_.push_back({query, picked_count_, n});
    picked_count_ += n + tile_lanes;  // sorting writes some behind them
    return radius2;
  }
  // The square of a larger radius for the query whose squares were computed last: one that contains k candidates of the
  // tile or, if there are fewer, twice the radius.
  T widened(std::size_t size, std::size_t k, T radius2) {
    T* const squares = picked_.data() + picked_count_;
    const std::size_t n =
        kernel_.select(squares_.data(), tile_ids_.data(), size, k, most_, squares, picked_ids_.data() + picked_count_);
    if (n < k) return radius2 < most_ / 4 && radius2 > 0 ? 4 * radius2 : most_;
    std::nth_element(squares, squares + k - 1, squares + n);
    return squares[k - 1];
  }

  // Sorts and writes what was picked.
  void finish_picked() {
    for (const auto& [query, begin, n] : of_queries_) {
      const std::int32_t id = queries_.ids[query];
      const std::size_t row = static_cast<std::size_t>(id) * rows_.k;
      T* const squares = picked_.data() + begin;
      std::int32_t* const ids = picked_ids_.data() + begin;
      const std::size_t count = std::min(rows_.k, n - (own_ ? 1 : 0));
      if (n <= ordered_most) {
        kernel_.order(squares, ids, n, own_ ? id : -1, rows_.k, rows_.distances + row, rows_.ids + row);
        fill_rest(row, count);
      } else {
        sort_many(squares, ids, n, own_ ? id : -1);
        write(query, squares, ids, count);
      }
      sum_ += count < rows_.k ? most_ : rows_.distances[row + count - 1] * rows_.distances[row + count - 1];
    }
    of_queries_.clear();
    picked_count_ = 0;
  }
  void sort_many(T* squares, std::int32_t* ids, std::size_t n, std::int32_t self) {
    pairs_.clear();
    for (std::size_t c = 0; c < n; ++c) pairs_.emplace_back(squares[c], ids[c]);
    // Only the query itself has its number in the first place; images of it are farther away.
    if (self >= 0)
      pairs_.erase(std::min_element(pairs_.begin(), pairs_.end(), [self](const auto& a, const auto& b) {
        return std::pair(a.second != self, a.first) < std::pair(b.second != self, b.first);
      }));
    const auto end = pairs_.begin() + static_cast<std::ptrdiff_t>(std::min(pairs_.size(), rows_.k));
    if (end != pairs_.end()) std::nth_element(pairs_.begin(), end, pairs_.end());
    std::sort(pairs_.begin(), end);
    for (auto at = pairs_.begin(); at != end; ++at, ++squares, ++ids) std::tie(*squares, *ids) = *at;
  }

  const NearestTree<T, D>& tree_;
  const Bodies<T, D>& bodies_;
  const Bodies<T, D>& queries_;
  const bool own_;
  const NearestRows<T> rows_;
  const T most_;  // square of the cutoff, or the largest number: infinite squares are no distances
  const std::size_t most_candidates_;
  const Kernel<T>& gather_;
  const NearestKernel<T>& kernel_;
  T guess_ = -1;      // mean square of the k-th distance in the run before; negative: not known
  T sum_ = 0;         // of these squares in the present run
  double width_ = 0;  // of the run before; 0: not known
  double near_reach_ = 0;
  std::vector<Image> near_images_, far_images_;
  Best<T> best_;
  std::vector<Slot> queue_;
  std::array<double, D> bound_{};  // largest coordinate along each axis of the box, for the rounding in tilted ones
  std::vector<Entry> stack_;
  std::vector<Span> spans_;
  std::vector<std::uint32_t> ends_;
  std::vector<Segment> segments_;
  std::array<Buffer<T>, D> tile_;
  Buffer<std::int32_t> tile_ids_, picked_ids_;
  Buffer<T> squares_, picked_;
  std::size_t picked_count_ = 0;
  std::vector<Picked> of_queries_;
  std::vector<std::pair<T, std::int32_t>> pairs_;
};

template <class T, int D>
NearestResult find_nearest(const NearestTree<T, D>& tree, const BodyView<T, D>* queries, std::size_t k, T cutoff) {
  Bodies<T, D> arranged;
  if (queries != nullptr) NearestTree<T, D>::arrange(*queries, tree.bodies().box, arranged);
  const Bodies<T, D>& of = queries != nullptr ? arranged : tree.bodies();
  NearestResult result;
  result.rows = of.size;
  result.distances = Region(of.size * k * sizeof(T) + overrun);
  result.ids = Region(of.size * k * sizeof(std::int32_t) + overrun);
  const NearestRows<T> rows{k, static_cast<T*>(result.distances.data()), static_cast<std::int32_t*>(result.ids.data())};
  detail::PerThread<NearestSearch<T, D>> searches;
  parallel_for(part_count(of), [&](std::size_t part, int thread) {
    auto& search = searches.get(static_cast<std::size_t>(thread),
                                [&](auto& made) { made.emplace(tree, of, queries == nullptr, cutoff, rows); });
    const auto [first, last] = groups_of_part(of, part);
    for (std::size_t group = first; group < last; ++group) search.run(of.group_begin[group], of.group_begin[group + 1]);
  });
  return result;
}

}  // namespace vicinal
