// The search in one small system: the neighbours of every body, in its own periodic cell.
//
// A structure does not pay off for a few hundred bodies. So all pairs of a system are tested by the vector code of the
// exact test, in the dtype of the bodies, one image after the other. A filter, if any, removes hits before they are
// noted.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "exec/memory.hpp"
#include "geometry/box.hpp"
#include "geometry/shape.hpp"
#include "index/bodies.hpp"
#include "index/body_view.hpp"
#include "pairs/filter.hpp"
#include "pairs/kernels.hpp"
#include "pairs/search.hpp"
#include "pairs/test.hpp"

namespace vicinal {

// Bodies of system k are offsets[k] … offsets[k + 1] - 1, its box is boxes[k], or boxes[0] if there is only one.
template <class T, int D>
struct Systems {
  BodyView<T, D> bodies;  // points or spheres
  std::span<const std::int64_t> offsets;
  std::span<const Box<T, D>> boxes;
  T cutoff;                            // of points
  const PairFilter* filter = nullptr;  // by the numbers of all bodies

  [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
  // The largest distance of a pair of which one body has this radius, and that of all pairs.
  [[nodiscard]] T reach(T radius) const {
    if (bodies.shape == Shape::point) return cutoff;
    return bodies.widest ? std::max(radius, bodies.largest[0]) : radius + bodies.largest[0];
  }
  [[nodiscard]] T reach() const { return reach(bodies.largest[0]); }
  [[nodiscard]] const Box<T, D>& box(std::size_t system) const { return boxes[boxes.size() == 1 ? 0 : system]; }
};

struct SystemOptions {
  bool half = false;
  bool sort = false;        // rows by number, then by shift; otherwise in any order
  bool self_pairs = false;  // each body is in its own row, too
  std::size_t most = 0;     // only this many neighbours of each body, the nearest ones; 0: all
};

namespace detail {

// The rows of one system, in memory that the next one uses again.
template <class T, int D>
class SystemSearch {
 public:
  struct Entry {
    std::int32_t j;
    std::int32_t image;
  };
  // More bodies than this are searched with a structure.
  static constexpr std::size_t most_bodies = tile_candidates;

  SystemSearch(const Systems<T, D>& systems, const SystemOptions& options)
      : systems_(systems), options_(options), kernel_(exact_kernel(systems.bodies.shape)) {
    if (systems.filter != nullptr) {
      placed_.raw = systems.bodies;
      placed_.ids.reset(most_bodies);
      placed_.details.reset(most_bodies);
      filter_.emplace(*systems.filter, placed_, placed_);
    }
    for (auto& column : x_) column.reset(most_bodies + tile_lanes);
    for (auto& column : near_x_) column.reset(most_bodies);
    for (auto& column : wraps_) column.reset(most_bodies);
    near_ids_.reset(most_bodies);
    squares_.reset(most_bodies);
    reaching_.reset(most_bodies);
    local_.reset(most_bodies + tile_lanes);
    std::iota(local_.data(), local_.data() + local_.size(), 0);
    hits_.reset(batch_hits + overshoot);
  }

  // Finds the rows of a system.
  void run(std::size_t system) {
    take(system);
    row_begin_.assign(size_ + 1, 0);
    entries_.clear();
    if (box_.periodic()) find_images();
    else find_open();
    if (options_.most > 0) keep_nearest();
  }

  // Whether the vector code writes the rows of a system as they are: in open space, if all neighbours are wanted.
  [[nodiscard]] bool plain(std::size_t system) const {
    return !options_.self_pairs && options_.most == 0 && !filter_ && !systems_.box(system).periodic();
  }
  // The same as `run`, without an intermediate copy: room(most) returns where the numbers of `most` neighbours go;
  // done(body, count) is called for every row. `numbers` are 0, 1, …
  template <class Room, class Done>
  void run_plain(std::size_t system, const std::int32_t* numbers, Room&& room, Done&& done) {
    take(system);
    Tile<T> tile{};
    Batch<T> batch{};
    prepare(Shift{}, tile, batch);
    tile.payload = batch.ids = numbers + first_;
    batch.own = options_.half ? Own::after : Own::except;
    const auto size = static_cast<std::uint32_t>(size_);
    for (std::uint32_t from = 0; from < size;) {
      const std::uint32_t to = std::min(from + together(tile), size);
      test(tile, batch, from, to, room(std::size_t{to - from} * tile.size + overshoot));
      for (std::uint32_t k = from; k < to; ++k) done(first_ + k, counts_[k - from]);
      from = to;
    }
  }

  [[nodiscard]] std::span<const Entry> row(std::size_t k) const {
    return {entries_.data() + row_begin_[k], row_begin_[k + 1] - row_begin_[k]};
  }
  [[nodiscard]] std::span<const Entry> entries() const { return {entries_.data(), row_begin_[size_]}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t first() const { return first_; }
  [[nodiscard]] const Shift& shift(const Entry& entry) const { return images_[static_cast<std::size_t>(entry.image)]; }
  // The vector from a body to an entry of its row, as the definition has it; returns its squared length.
  T vector(std::size_t body, const Entry& entry, std::array<T, D>& d) const {
    const auto moved = box_.image(shift(entry));
    T sum = 0;
    for (std::size_t a = 0; a < D; ++a) {
      d[a] = x_[a][static_cast<std::size_t>(entry.j)] - x_[a][body];
      if (box_.tilted || box_.edge[a] > 0) d[a] = d[a] + moved[a];
      sum = a == 0 ? d[a] * d[a] : sum + d[a] * d[a];
    }
    return sum;
  }
  // The shift of an entry in the row of a body, in units of the user and relative to the points as they were passed.
  [[nodiscard]] std::array<std::int32_t, D> given_shift(std::size_t body, const Entry& entry) const {
    std::array<std::int32_t, D> sum{};
    if (!box_.periodic()) return sum;
    const Shift& s = shift(entry);
    for (std::size_t a = 0; a < D; ++a) sum[a] = s[a] + wraps_[a][body] - wraps_[a][static_cast<std::size_t>(entry.j)];
    return box_.given(sum);
  }

 private:
  struct ImagePair {
    std::int32_t i, j, image;
  };

  static const Kernel<T>& exact_kernel(Shape shape) {
    const auto s = static_cast<std::size_t>(shape);
    if constexpr (std::is_same_v<T, float>) return kernels().single[s][D - 2];
    else return kernels().twice[s][D - 2];
  }

  void take(std::size_t system) {
    first_ = static_cast<std::size_t>(systems_.offsets[system]);
    size_ = static_cast<std::size_t>(systems_.offsets[system + 1]) - first_;
    box_ = systems_.box(system);
    place();
    if (systems_.bodies.shape == Shape::sphere) {
      std::copy_n(systems_.bodies.extra + first_, size_, x_[D].data());
      std::fill_n(x_[D].data() + size_, tile_lanes, T{0});
    }
    if (filter_) describe();
  }
  // What the filter reads: a body's slot is its number in the system.
  void describe() {
    placed_.box = box_;
    for (std::size_t k = 0; k < size_; ++k) {
      placed_.ids[k] = placed_.details[k].id = static_cast<std::int32_t>(first_ + k);
      for (std::size_t a = 0; a < D; ++a) placed_.details[k].x[a] = x_[a][k];
    }
  }
  // Removes hits of a body that are no pairs; returns how many remain.
  std::uint32_t keep(std::uint32_t body, const Shift& shift, std::int32_t* hits, std::uint32_t n) {
    return filter_ ? filter_->keep(body, shift, hits, n, hits) : n;
  }

  void place() {
    const T* const points = systems_.bodies.data + first_ * D;
    const bool periodic = box_.periodic();
    if (box_.tilted)
      for (std::size_t k = 0; k < size_; ++k) {
        const auto wrapped = box_.wrap(points + k * D);
        const auto wraps = box_.wraps(points + k * D);
        for (std::size_t a = 0; a < D; ++a) {
          x_[a][k] = wrapped[a];
          wraps_[a][k] = wraps[a];
        }
      }
    for (int axis = 0; axis < D; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      T* const to = x_[a].data();
      std::fill_n(to + size_, tile_lanes, std::numeric_limits<T>::infinity());
      if (!box_.tilted)
        for (std::size_t k = 0; k < size_; ++k) to[k] = points[k * D + a];
      if (!periodic) continue;
      if (!box_.tilted)
        for (std::size_t k = 0; k < size_; ++k) {
          wraps_[a][k] = box_.wraps(to[k], axis);
          to[k] = box_.wrap(to[k], axis);
        }
      const auto [low, high] = std::minmax_element(to, to + size_);
      low_[a] = size_ > 0 ? *low : T{0};
      high_[a] = size_ > 0 ? *high : T{0};
    }
  }

  // All bodies as candidates, moved by a shift.
  void prepare(const Shift& shift, Tile<T>& tile, Batch<T>& batch) const {
    const auto moved = box_.image(shift);
    for (std::size_t a = 0; a < D; ++a) {
      tile.x[a] = batch.x[a] = x_[a].data();
      batch.shift[a] = moved[a];
    }
    tile.x[D] = batch.x[D] = x_[D].data();
    batch.widest = systems_.bodies.widest;
    tile.payload = batch.ids = local_.data();
    tile.size = static_cast<std::uint32_t>((size_ + tile_lanes - 1) / tile_lanes * tile_lanes);
    batch.shifted = shift != Shift{};
    batch.inside = batch.outside = systems_.cutoff * systems_.cutoff;
  }
  // Tests queries first … last-1 against a tile; the numbers of their hits are in counts_.
  void test(const Tile<T>& tile, Batch<T>& batch, std::uint32_t first, std::uint32_t last, std::int32_t* hits) {
    batch.first = batch.position = first;
    batch.last = last;
    counts_.resize(last - first);
    kernel_.hits(tile, batch, hits, nullptr, counts_.data());
  }
  // The most queries for whose hits there is room.
  static std::uint32_t together(const Tile<T>& tile) {
    return static_cast<std::uint32_t>(std::max<std::size_t>(1, batch_hits / tile.size));
  }

  // Open space: hits are found in the order of the rows, each row in ascending order.
  void find_open() {
    Tile<T> tile{};
    Batch<T> batch{};
    images_.assign(1, Shift{});
    prepare(Shift{}, tile, batch);
    batch.own = options_.half ? Own::after : Own::except;
    const auto size = static_cast<std::uint32_t>(size_);
    std::size_t n = 0;
    for (std::uint32_t first = 0; first < size;) {
      const std::uint32_t last = std::min(first + together(tile), size);
      test(tile, batch, first, last, hits_.data());
      std::size_t found = last - first;  // and each body itself
      for (const std::uint32_t count : counts_) found += count;
      entries_.resize(n + found);
      Entry* to = entries_.data() + n;
      std::int32_t* hit = hits_.data();
      for (std::uint32_t i = first; i < last; ++i) {
        row_begin_[i] = static_cast<std::uint32_t>(to - entries_.data());
        const std::uint32_t count = keep(i, Shift{}, hit, counts_[i - first]);
        const auto self = static_cast<std::int32_t>(i);
        // A body comes after those before it.
        const auto before = options_.self_pairs ? std::lower_bound(hit, hit + count, self) - hit : std::ptrdiff_t{0};
        for (std::ptrdiff_t c = 0; c < before; ++c) *to++ = {hit[c], 0};
        if (options_.self_pairs) *to++ = {self, 0};
        for (std::ptrdiff_t c = before; c < count; ++c) *to++ = {hit[c], 0};
        hit += counts_[i - first];
      }
      n = static_cast<std::size_t>(to - entries_.data());
      first = last;
    }
    entries_.resize(n);
    row_begin_[size_] = static_cast<std::uint32_t>(n);
  }

  // Every image that may have a body within reach of the system, in the lexicographic order of shifts in units of the
  // user: image n - 1 - k is opposite to image k of n.
  void list_images() {
    std::array<double, D> far;
    if (box_.tilted) far = farthest_in_lattice();
    else
      for (std::size_t a = 0; a < D; ++a)
        far[a] = (static_cast<double>(high_[a]) - static_cast<double>(low_[a])) +
                 periodic_reach(reach_of(systems_.reach()), box_.edge[a]);
    std::array<std::int16_t, 3> most{};
    for (std::size_t a = 0; a < D; ++a)
      if (box_.edge[a] > 0) most[a] = static_cast<std::int16_t>(far[a] / static_cast<double>(box_.edge[a]));
    images_.clear();
    for (auto x = static_cast<std::int16_t>(-most[0]); x <= most[0]; ++x)
      for (auto y = static_cast<std::int16_t>(-most[1]); y <= most[1]; ++y)
        for (auto z = static_cast<std::int16_t>(-most[2]); z <= most[2]; ++z) images_.push_back({x, y, z});
    if (box_.tilted)
      std::sort(images_.begin(), images_.end(),
                [&](const Shift& one, const Shift& other) { return in_given_vectors(one) < in_given_vectors(other); });
  }
  [[nodiscard]] std::array<std::int32_t, D> in_given_vectors(const Shift& shift) const {
    std::array<std::int32_t, D> numbers{};
    for (std::size_t a = 0; a < D; ++a) numbers[a] = shift[a];
    return box_.given(numbers);
  }
  // By how much an image may be moved along each axis of a tilted cell, for a body to form a pair with it.
  [[nodiscard]] std::array<double, D> farthest_in_lattice() const {
    std::array<double, D> low{}, high{}, bound{};
    for (std::size_t k = 0; k < size_; ++k) {
      std::array<T, D> x;
      for (std::size_t a = 0; a < D; ++a) x[a] = x_[a][k];
      for (std::size_t a = 0; a < D; ++a) {
        const double at = box_.along(x, static_cast<int>(a));
        low[a] = k == 0 ? at : std::min(low[a], at);
        high[a] = k == 0 ? at : std::max(high[a], at);
        bound[a] = std::max(bound[a], std::abs(at));
      }
    }
    const double reach = reach_of(systems_.reach());
    for (std::size_t a = 0; a < D; ++a) high[a] += reach + lattice_slack(box_, reach, bound, a) - low[a];
    return high;
  }

  // Periodic space: every pair (i, j, s) is the pair (j, i, -s), so half of the images are tested. A counting sort puts
  // the pairs into rows.
  void find_images() {
    list_images();
    found_.clear();
    for (std::size_t k = images_.size() / 2; k < images_.size(); ++k) test_image(k);
    sort_by_row();
  }
  void test_image(std::size_t k) {
    Tile<T> tile{};
    Batch<T> batch{};
    prepare(images_[k], tile, batch);
    batch.own = batch.shifted ? Own::absent : Own::after;
    const std::uint32_t size = batch.shifted ? choose_queries(batch) : static_cast<std::uint32_t>(size_);
    for (std::uint32_t first = 0; first < size;) {
      const std::uint32_t last = std::min(first + together(tile), size);
      test(tile, batch, first, last, hits_.data());
      std::int32_t* hit = hits_.data();
      for (std::uint32_t q = first; q < last; ++q) {
        const std::int32_t i = batch.ids[q];
        if (!batch.shifted && options_.self_pairs) add({i, i, static_cast<std::int32_t>(k)});
        note(i, {hit, keep(static_cast<std::uint32_t>(i), images_[k], hit, counts_[q - first])}, k);
        hit += counts_[q - first];
      }
      first = last;
    }
  }
  // Makes the bodies that may reach an image of the system the queries of a batch; returns their number.
  std::uint32_t choose_queries(Batch<T>& batch) {
    find_reaching(batch);
    std::uint32_t n = 0;
    for (std::size_t k = 0; k < size_; ++k) {  // without a branch: others write behind the last
      near_ids_[n] = static_cast<std::int32_t>(k);
      n += reaching_[k];
    }
    for (std::size_t c = 0; c < D + 1; ++c) {
      if (c == D && systems_.bodies.shape == Shape::point) break;
      for (std::uint32_t q = 0; q < n; ++q) near_x_[c][q] = x_[c][static_cast<std::size_t>(near_ids_[q])];
      batch.x[c] = near_x_[c].data();
    }
    batch.ids = near_ids_.data();
    return n;
  }
  void note(std::int32_t i, std::span<const std::int32_t> hits, std::size_t k) {
    const auto there = static_cast<std::int32_t>(k);
    const auto back = static_cast<std::int32_t>(images_.size() - 1 - k);
    if (options_.half) {
      for (const std::int32_t j : hits) add(i <= j ? ImagePair{i, j, there} : ImagePair{j, i, back});
      return;
    }
    const std::size_t before = found_.size();
    found_.resize(before + 2 * hits.size());
    ImagePair* to = found_.data() + before;
    for (const std::int32_t j : hits) {
      *to++ = {i, j, there};
      *to++ = {j, i, back};
      ++row_begin_[static_cast<std::size_t>(j)];
    }
    row_begin_[static_cast<std::size_t>(i)] += static_cast<std::uint32_t>(hits.size());
  }

  // Sets reaching_ to whether bodies may reach the bounds of an image of the system. Rounding is monotone, so no pair
  // is lost: the values here are not larger than those that the exact test computes from any body inside the bounds.
  void find_reaching(const Batch<T>& batch) {
    T* const sum = squares_.data();
    for (std::size_t a = 0; a < D; ++a) {
      const T* const x = x_[a].data();
      const T low = low_[a], high = high_[a], shift = batch.shift[a];
      for (std::size_t k = 0; k < size_; ++k) {
        const T above = (low - x[k]) + shift;
        const T below = (x[k] - high) - shift;
        const T d = std::max(std::max(above, below), T{0});
        sum[k] = a == 0 ? d * d : sum[k] + d * d;
      }
    }
    if (systems_.bodies.shape == Shape::point) {
      const T squared = systems_.cutoff * systems_.cutoff;
      for (std::size_t k = 0; k < size_; ++k) reaching_[k] = sum[k] <= squared ? 1 : 0;
      return;
    }
    for (std::size_t k = 0; k < size_; ++k) {
      const T most = systems_.reach(x_[D][k]);
      reaching_[k] = sum[k] <= most * most ? 1 : 0;
    }
  }

  void add(const ImagePair& one) {
    found_.push_back(one);
    ++row_begin_[static_cast<std::size_t>(one.i)];
  }

  static bool before(const Entry& a, const Entry& b) { return a.j != b.j ? a.j < b.j : a.image < b.image; }
  void sort_by_row() {
    std::uint32_t sum = 0;
    for (std::uint32_t& begin : row_begin_) begin = std::exchange(sum, sum + begin);
    entries_.resize(found_.size());
    next_.assign(row_begin_.begin(), row_begin_.end());
    for (const ImagePair& one : found_) entries_[next_[static_cast<std::size_t>(one.i)]++] = {one.j, one.image};
    if (!options_.sort) return;
    for (std::size_t k = 0; k < size_; ++k)
      std::sort(entries_.begin() + row_begin_[k], entries_.begin() + row_begin_[k + 1], before);
  }

  // Leaves the nearest entries of each row; ties are decided by number, then by shift.
  void keep_nearest() {
    std::uint32_t to = 0;
    std::uint32_t begin = 0;
    for (std::size_t k = 0; k < size_; ++k) {
      const std::uint32_t end = row_begin_[k + 1];
      std::uint32_t n = end - begin;
      if (n > options_.most) {
        measured_.resize(n);
        std::array<T, D> d;
        for (std::uint32_t e = 0; e < n; ++e) measured_[e] = {vector(k, entries_[begin + e], d), entries_[begin + e]};
        const auto nearer = [&](const Measured& a, const Measured& b) {
          return a.squared != b.squared ? a.squared < b.squared : before(a.entry, b.entry);
        };
        n = static_cast<std::uint32_t>(options_.most);
        std::nth_element(measured_.begin(), measured_.begin() + n, measured_.end(), nearer);
        std::sort(measured_.begin(), measured_.begin() + n,
                  [&](const Measured& a, const Measured& b) { return before(a.entry, b.entry); });
        for (std::uint32_t e = 0; e < n; ++e) entries_[to + e] = measured_[e].entry;
      } else {
        std::copy_n(entries_.begin() + begin, n, entries_.begin() + to);
      }
      begin = end;
      row_begin_[k] = to;
      to += n;
    }
    row_begin_[size_] = to;
  }

  struct Measured {
    T squared;
    Entry entry;
  };

  const Systems<T, D>& systems_;
  const SystemOptions& options_;
  const Kernel<T>& kernel_;
  Box<T, D> box_;
  std::size_t first_ = 0, size_ = 0;
  std::array<Buffer<T>, D + 1> x_;  // wrapped positions, and the radii of spheres
  std::array<T, D> low_{}, high_{};
  std::array<Buffer<std::int32_t>, D> wraps_;
  Buffer<std::int32_t> local_, hits_;
  // Of the bodies that may reach an image.
  std::array<Buffer<T>, D + 1> near_x_;
  Buffer<std::int32_t> near_ids_;
  Buffer<T> squares_;
  Buffer<std::uint32_t> reaching_;
  std::vector<Shift> images_;
  std::vector<std::uint32_t> counts_, row_begin_, next_;
  std::vector<ImagePair> found_;
  std::vector<Entry> entries_;
  std::vector<Measured> measured_;
  Bodies<T, D> placed_;  // for the filter
  std::optional<HitFilter<T, D>> filter_;
};

}  // namespace detail

}  // namespace vicinal
