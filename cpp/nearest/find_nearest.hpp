// The k nearest points of every query.
//
// Queries are answered by runs of neighbours on the curve. One of them, the probe, descends the tree alone. Its k-th
// distance, a little enlarged, is the radius within which the candidates of the whole run are copied into one tile.
// A query of the run that has k candidates within the radius is done: none outside the tile can be nearer. The others
// descend the tree alone, and so do all queries of a run whose tile would be too large (a void next to a cluster, for
// example): the run is halved until the tile fits. So the time per query is bounded for any distribution of points.
//
// The candidates of a query are selected in float32, with a limit that contains all that may be among the nearest
// (run_frame.hpp). Every other decision compares squared distances of the exact test (docs/definition.md), or bounds of
// them that are rounded in the same way: the result is that of sorting all candidates by squared distance, then by
// number.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/available_memory.hpp"
#include "exec/prefetch.hpp"
#include "exec/threads.hpp"
#include "geometry/box.hpp"
#include "index/images.hpp"
#include "index/parts.hpp"
#include "nearest/best.hpp"
#include "nearest/few_search.hpp"
#include "nearest/near_leaves.hpp"
#include "nearest/nearest.hpp"
#include "nearest/run_frame.hpp"
#include "nearest/tree.hpp"
#include "pairs/nearest_kernels.hpp"
#include "pairs/search.hpp"

namespace vicinal {

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
        most_candidates_(2048 + 8 * rows.k), kernel_(nearest_kernel()), leaves_(tree, kernel_, most_candidates_),
        few_(kernel_, bodies_, rows.k, own, most_candidates_ + 2 * tile_lanes) {
    T shortest = 0;
    for (std::size_t a = 0; a < D; ++a)
      if (const T edge = bodies_.box.edge[a]; edge > 0) shortest = shortest > 0 ? std::min(shortest, edge) : edge;
    for (const auto* const raw : {&bodies_.raw, &queries_.raw})
      for (std::size_t a = 0; a < D; ++a)
        for (const T x : {raw->low[a], raw->high[a]}) bound_[a] = std::max(bound_[a], std::abs(static_cast<double>(x)));
    near_reach_ = static_cast<double>(shortest) / 2;
    near_images_ = images_of(near_reach_);
    near_step_ = longest_step(near_images_);
    // All candidates, those up to a whole register behind the last image, and what `gather` writes too much.
    const std::size_t room = most_candidates_ + 2 * tile_lanes + gather_overshoot;
    for (auto& column : tile_) column.reset(room);
    tile_slots_.reset(room);
    places_.reset(room);
    if (bodies_.box.periodic())
      for (auto& column : shifts_) column.reset(room);
  }

  // Answers queries first … last-1, which are neighbours.
  void run(Slot first, Slot last) {
    queue_.resize(last - first);
    std::iota(queue_.begin(), queue_.end(), first);
    sum_ = 0;
    // The first guess is the mean of the run before, which is close in space. Where density changes, part of the change
    // is foreseen by the space per query: the square grows with the power 1.5 of its width. (In the clouds of
    // benchmarks/nearest.py this leaves 6 % of clustered queries without k candidates, the power 1 leaves 7 %, and an
    // unchanged square 11 %.)
    const bool known = guess_ >= 0;
    if (!known && last - first < few) {
      for (Slot query = first; query < last; ++query) answer_alone(query);
      guess_ = sum_ / static_cast<T>(last - first);
      return;
    }
    if (!known) probe(first + (last - first) / 2);
    const double width = width_of(bounds_of(queue_), last - first);
    if (known && width > 0 && width_ > 0)
      guess_ = static_cast<T>(
          std::min(static_cast<double>(guess_) * std::pow(width / width_, 1.5), static_cast<double>(most_)));
    width_ = width;
    answer(queue_, grown(guess_), !known);
    guess_ = sum_ / static_cast<T>(last - first);
  }

 private:
  // The bounds of fewer queries than this say little about density.
  static constexpr std::size_t few = 3;
  static constexpr Slot none = ~Slot{0};
  // The square of the radius within which the queries of a run are searched, relative to their k-th distance. Measured
  // by benchmarks/nearest.py: more candidates against more queries that have to descend the tree alone.
  static constexpr T growth = static_cast<T>(2.1);

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
  // Candidates begin … begin+count-1 of `picked_` are those of a query.
  struct Picked {
    Slot query;
    std::size_t begin, count;
  };

  static const NearestKernel<T>& nearest_kernel() {
    if constexpr (std::is_same_v<T, float>) return nearest_kernels().single[D - 2];
    else return nearest_kernels().twice[D - 2];
  }
  [[nodiscard]] T grown(T square) const { return square < most_ / growth ? square * growth : most_; }

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

  // The same in the frame of the tile.
  [[nodiscard]] std::array<float, D> place_of(Slot query) const {
    std::array<float, D> at{};
    for (std::size_t a = 0; a < D; ++a) at[a] = frame_.place(queries_.exact[a][query], a);
    return at;
  }

  [[nodiscard]] QueryBounds<T> bounds_of(std::span<const Slot> queue) const {
    QueryBounds<T> bounds{};
    for (std::size_t a = 0; a < D; ++a) {
      const T* const x = queries_.exact[a].data();
      // Values, not references as std::min returns: no branches that are hard to predict.
      T low = x[queue[0]];
      T high = low;
      for (const Slot query : queue) {
        const T at = x[query];
        low = at < low ? at : low;
        high = at > high ? at : high;
      }
      bounds.low[a] = low;
      bounds.high[a] = high;
    }
    return bounds;
  }
  // The edge of a cube as large as the bounds of some queries, per query; 0 if they tell nothing about density.
  static double width_of(const QueryBounds<T>& bounds, std::size_t queries) {
    const auto n = static_cast<double>(queries);
    // The space of n points is on average (n + 1) / (n - 1) times as wide as their bounds.
    double volume = 1 / n;
    for (std::size_t a = 0; a < D; ++a)
      volume *= (static_cast<double>(bounds.high[a]) - static_cast<double>(bounds.low[a])) * ((n + 1) / (n - 1));
    if (queries < few || !(volume > 0) || !std::isfinite(volume)) return 0;
    return D == 2 ? std::sqrt(volume) : std::cbrt(volume);
  }

  // Answers queries that are neighbours. `probed`: the radius is not a mere guess.
  void answer(std::span<Slot> queue, T radius2, bool probed) {
    if (queue.empty()) return;
    if (!fill_tile(queue, radius2)) {
      const std::size_t half = queue.size() / 2;
      if (half == 0) {
        answer_alone(queue[0]);
        return;
      }
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
    bool enough = true;
    if (few_.answers()) {
      few_.use(tile_, tile_size_, tile_slots_.data(), shifts(), frame_, radius2);
      for (const Slot query : queue) {
        prefetch_row(query);
        few_.add(place_of(query));
      }
      few_.sort();
    }
    for (std::size_t number = 0; number < queue.size(); ++number) {
      const Slot query = queue[number];
      const bool lacks = few_.answers() && few_.lacks(number);
      if (few_.answers() && !lacks) {
        const std::size_t row = row_of(query);
        const T square = few_.answer(number, position(query), static_cast<std::int32_t>(query), rows_.distances + row,
                                     rows_.ids + row);
        if (square >= 0) {
          sum_ += square;
          continue;
        }
      }
      if ((!lacks || radius2 == most_) && pick(query, radius2)) continue;
      queue[left++] = query;
      wider = std::max(wider, widened(query, radius2, enough));
    }
    finish_picked(radius2);
    // A wider tile is cheaper than descents of several queries, or than that of one if it is known to be wide enough.
    if (wider > radius2 && (left > 1 || enough)) answer(queue.first(left), wider, true);
    else
      for (const Slot query : queue.first(left)) answer_alone(query);
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
  [[nodiscard]] std::size_t row_of(Slot query) const { return static_cast<std::size_t>(queries_.ids[query]) * rows_.k; }
  void prefetch_row(Slot query) const {
    prefetch_to_write(rows_.distances + row_of(query));
    prefetch_to_write(rows_.ids + row_of(query));
  }
  void write(Slot query, const T* squares, const std::int32_t* ids, std::size_t count) const {
    const std::size_t row = row_of(query);
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
      const Shift done = images_of(reach).back().shift;
      reach *= 2;
      for (const Image& image : images_of(reach)) {
        bool old = true;
        for (std::size_t a = 0; a < D; ++a) old = old && std::abs(image.shift[a]) <= done[a];
        if (!old) descend(query, x, image);
      }
    }
  }
  // Whether all points with such a square are within the images of a reach.
  static bool covers(double reach, T square) { return reach_of_square(square) <= reach; }

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
    kernel_.bounds(tree_.low(children.first + first).data(), tree_.high(children.first + first).data(), x.data(),
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
    const QueryBounds<T> bounds = bounds_of(queue);
    segments_.clear();
    tile_size_ = 0;
    const bool near = !bodies_.box.periodic() || covers(near_reach_, radius2);
    // A query that reaches many images of a small box has far more candidates than its neighbours share.
    if (!near && !covers(8 * near_reach_, radius2)) return false;
    if (!near) far_images_ = images_of(reach_of_square(radius2));
    const std::vector<Image>& images = near ? near_images_ : far_images_;
    frame_.reset(bounds, radius2, near ? near_step_ : longest_step(far_images_));
    std::array<const T*, D> from{};
    for (std::size_t a = 0; a < D; ++a) from[a] = bodies_.exact[a].data();
    for (const Image& image : images) {
      if (!leaves_.find(bounds, image.step, radius2, tile_size_)) return false;
      const auto spans = leaves_.spans();
      if (spans.empty()) continue;
      for (const Span& span : spans)
        for (Slot slot = span.begin; slot < span.end; slot += 16) prefetch_to_read(bodies_.ids.data() + slot);
      std::array<float*, D> to{};
      for (std::size_t a = 0; a < D; ++a) to[a] = tile_[a].data() + tile_size_;
      const std::size_t size =
          kernel_.gather(from.data(), spans.data(), spans.size(), frame_.of_image(image.data()), frame_.bounds(),
                         frame_.reach2(), to.data(), tile_slots_.data() + tile_size_);
      if (size == 0) continue;
      const std::size_t end = tile_size_ + (size + tile_lanes - 1) / tile_lanes * tile_lanes;
      segments_.push_back({tile_size_, end, image});
      tile_size_ = end;
    }
    return true;
  }
  // By axis the shift of every candidate of the tile; null pointers if none is shifted.
  std::array<const T*, D> shifts() {
    if (std::all_of(segments_.begin(), segments_.end(), [](const Segment& part) { return part.image.unmoved; }))
      return {};
    std::array<const T*, D> columns{};
    for (std::size_t a = 0; a < D; ++a) {
      for (const Segment& part : segments_)
        std::fill(shifts_[a].data() + part.begin, shifts_[a].data() + part.end, part.image.step[a]);
      columns[a] = shifts_[a].data();
    }
    return columns;
  }
  static double longest_step(const std::vector<Image>& images) {
    double longest = 0;
    for (const Image& image : images)
      for (const T step : image.step) longest = std::max(longest, std::abs(static_cast<double>(step)));
    return longest;
  }

  // The number of candidates that a query needs. It is itself the nearest of them, and removed when they are sorted.
  [[nodiscard]] std::size_t needed() const { return rows_.k + (own_ ? 1 : 0); }

  // Selects the candidates of a query that may be its nearest points; false if they are too few for the radius of the
  // tile, so that there may be nearer points outside. Candidates are sorted later: reading vectors that have just been
  // written in pieces would wait for the writes.
  bool pick(Slot query, T radius2) {
    const float limit = std::min(limit_of(query), frame_.reach2());
    const std::size_t n = select(limit);
    if (n < needed() && radius2 < most_) return false;
    prefetch_row(query);
    of_queries_.push_back({query, picked_count_, n});
    picked_count_ += n + order_padding;
    return true;
  }
  // Computes the squares of all candidates, and a limit that contains the nearest ones.
  float limit_of(Slot query) {
    const auto at = place_of(query);
    std::array<const float*, D> columns{};
    for (std::size_t a = 0; a < D; ++a) columns[a] = tile_[a].data();
    const std::size_t k = needed() <= limited_most ? needed() : 0;
    return std::min(frame_.widened(kernel_.limit(columns.data(), tile_size_, at.data(), k, places_.data())), finite);
  }
  static constexpr float finite = std::numeric_limits<float>::max();
  void make_room() {
    if (picked_count_ + tile_size_ + overshoot <= picked_.size()) return;
    picked_.resize(picked_count_ + tile_size_ + 4096);
    squares_.resize(picked_.size() + overshoot);
  }
  // Copies the slots of candidates within a limit, segment by segment.
  std::size_t select(float limit) {
    make_room();
    std::size_t n = 0;
    ends_.resize((of_queries_.size() + 1) * segments_.size());
    std::size_t* end = ends_.data() + of_queries_.size() * segments_.size();
    for (const Segment& segment : segments_) {
      n += kernel_.select(places_.data() + segment.begin, tile_slots_.data() + segment.begin,
                          segment.end - segment.begin, limit, picked_.data() + picked_count_ + n);
      *end++ = picked_count_ + n;
    }
    return n;
  }
  // The squares of the candidates of a query, the `number`-th of those that were selected.
  void measure(std::size_t number, const Picked& picked) {
    const auto x = position(picked.query);
    std::array<const T*, D> columns{};
    for (std::size_t a = 0; a < D; ++a) columns[a] = bodies_.exact[a].data();
    const std::size_t* end = ends_.data() + number * segments_.size();
    std::size_t at = picked.begin;
    for (const Segment& segment : segments_) {
      kernel_.squares_at(columns.data(), picked_.data() + at, *end - at, x.data(), segment.image.data(),
                         squares_.data() + at);
      at = *end++;
    }
  }
  // The square of a larger radius for a query: one that contains as many
  // candidates of the tile as it needs or, if there are not enough, twice the radius.
  T widened(Slot query, T radius2, bool& enough) {
    const std::size_t k = needed();
    if (few_.answers()) {
      const float square = few_.wider(place_of(query));
      if (square <= finite) return std::min(most_, std::max(radius2, frame_.radius2(square)));
    }
    const std::size_t n = few_.answers() ? 0 : select(limit_of(query));
    if (n < k) {
      enough = false;
      return radius2 < most_ / 4 && radius2 > 0 ? 4 * radius2 : most_;
    }
    measure(of_queries_.size(), {query, picked_count_, n});
    T* const squares = squares_.data() + picked_count_;
    std::nth_element(squares, squares + k - 1, squares + n);
    return std::min(most_, std::max(radius2, squares[k - 1]));
  }

  // Sorts and writes what was picked: squares first, of which the roots are taken later, several at once.
  void finish_picked(T radius2) {
    for (std::size_t number = 0; number < of_queries_.size(); ++number) measure(number, of_queries_[number]);
    for (auto& [query, begin, n] : of_queries_) {
      const std::size_t row = row_of(query);
      const std::int32_t* const slots = picked_.data() + begin;
      const T* const squares = squares_.data() + begin;
      const std::int32_t self = own_ ? static_cast<std::int32_t>(query) : no_slot;
      const std::size_t count = n <= ordered_most ? kernel_.order(squares, slots, bodies_.ids.data(), n, self, rows_.k,
                                                                  radius2, rows_.distances + row, rows_.ids + row)
                                                  : sort_many(squares, slots, n, self, radius2, row);
      n = count;
      if (count == rows_.k) {
        sum_ += rows_.distances[row + count - 1];
      } else if (radius2 < most_) {
        // Hardly ever: as many were within the radius in float32, but not in the exact test.
        answer_alone(query);
        n = 0;
      } else {
        fill_rest(row, count);
        sum_ += most_;
      }
    }
    for (const auto& [query, begin, n] : of_queries_) kernel_.roots(rows_.distances + row_of(query), n);
    of_queries_.clear();
    picked_count_ = 0;
  }
  std::size_t sort_many(const T* squares, const std::int32_t* slots, std::size_t n, std::int32_t self, T most,
                        std::size_t row) {
    pairs_.clear();
    bool found = self == no_slot;
    for (std::size_t c = 0; c < n; ++c) {
      // The first of the segments is that of the box itself: images of the query come later.
      if (!found && slots[c] == self) found = true;
      else if (squares[c] <= most) pairs_.emplace_back(squares[c], bodies_.ids[static_cast<std::size_t>(slots[c])]);
    }
    const std::size_t count = std::min(pairs_.size(), rows_.k);
    const auto end = pairs_.begin() + static_cast<std::ptrdiff_t>(count);
    if (end != pairs_.end()) std::nth_element(pairs_.begin(), end, pairs_.end());
    std::sort(pairs_.begin(), end);
    for (std::size_t c = 0; c < count; ++c) {
      rows_.distances[row + c] = pairs_[c].first;
      rows_.ids[row + c] = pairs_[c].second;
    }
    return count;
  }

  const NearestTree<T, D>& tree_;
  const Bodies<T, D>& bodies_;
  const Bodies<T, D>& queries_;
  const bool own_;
  const NearestRows<T> rows_;
  const T most_;  // square of the cutoff, or the largest number: infinite squares are no distances
  const std::size_t most_candidates_;
  const NearestKernel<T>& kernel_;
  NearLeaves<T, D> leaves_;
  FewSearch<T, D> few_;
  T guess_ = -1;      // mean square of the k-th distance in the run before; negative: not known
  T sum_ = 0;         // of these squares in the present run
  double width_ = 0;  // of the run before; 0: not known
  double near_reach_ = 0;
  double near_step_ = 0;  // the longest shift of these images along an axis
  std::vector<Image> near_images_, far_images_;
  Best<T> best_;
  std::vector<Slot> queue_;
  std::array<double, D> bound_{};  // largest coordinate along each axis of the box, for the rounding in tilted ones
  std::vector<Entry> stack_;
  std::vector<Segment> segments_;
  RunFrame<T, D> frame_;
  std::size_t tile_size_ = 0;
  std::array<Buffer<float>, D> tile_;
  Buffer<std::int32_t> tile_slots_;
  std::array<Buffer<T>, D> shifts_;
  Buffer<float> places_;         // squared distances of the tile from a query
  Buffer<std::int32_t> picked_;  // slots of the candidates of queries
  Buffer<T> squares_;            // squared distances of these
  std::size_t picked_count_ = 0;
  std::vector<Picked> of_queries_;
  std::vector<std::size_t> ends_;  // of the picked candidates, by query and segment
  std::vector<std::pair<T, std::int32_t>> pairs_;
};

template <class T, int D>
NearestResult find_nearest(const NearestTree<T, D>& tree, const BodyView<T, D>* queries, std::size_t k, T cutoff) {
  Bodies<T, D> arranged;
  if (queries != nullptr) NearestTree<T, D>::arrange(*queries, tree.bodies().box, arranged);
  const Bodies<T, D>& of = queries != nullptr ? arranged : tree.bodies();
  NearestResult result;
  result.rows = of.size;
  ensure_memory(of.size * k * (sizeof(T) + sizeof(std::int32_t)));
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
