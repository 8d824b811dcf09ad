// A linear bounding volume hierarchy (Kureck 2016, section 3.1): insensitive to the sizes of bodies and to empty space.
//
// Bodies are sorted along a Morton curve. The leaves of the tree are runs of bodies, and each leaf of queries traverses
// the tree once. The result is a list of twigs, which are smaller runs; their bodies are contiguous in memory and
// become candidates. Boxes are computed from the numbers that the exact test reads first: float32 in the near frame if
// float64 bodies have one, otherwise the exact numbers.
//
// No pair is lost to rounding: boxes are larger than their bodies by `margin_`. A pair that passes the exact test is,
// along each axis, not farther apart than reach_of(ri + rj) <= (ri + rj)(1 + 18 eps) + sqrt(3 denorm_min) (box.hpp);
// half of that is added to either side. On a periodic axis coordinates and shifts round relative to the longest of
// them, `images` edges; in the near frame, where no number exceeds `largest`, each of the five roundings on the way to
// a comparison (stored coordinate, its box, shift, shifted query, the query's own coordinate) is below largest * 2^-24.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/threads.hpp"
#include "index/curve_order.hpp"
#include "index/fetch_bodies.hpp"
#include "index/hierarchy.hpp"
#include "index/parts.hpp"
#include "index/structure.hpp"

namespace vicinal {

namespace detail {

// The boxes of bodies, from the columns in which they are stored. V is float for the near frame, otherwise T.
template <class V, class T, int D>
class BodyBoxes {
 public:
  using Box = TurnedBox<V, D>;

  // `reach` of a pair of points, or of the largest bodies.
  BodyBoxes(const Bodies<T, D>& bodies, const Reach<D>& reach)
      : columns_(columns(bodies)), shape_(bodies.raw.shape), scale_(bodies.banded ? bodies.frame.scale : 1) {
    constexpr double eps = std::numeric_limits<V>::epsilon();
    grow_ = static_cast<V>(1 + 32 * eps);
    for (std::size_t a = 0; a < D; ++a) {
      double margin = 0;
      if (shape_ == Shape::point) margin = reach.axis[a] / 2 * (1 + 32 * eps);
      else if (shape_ == Shape::sphere) margin = std::sqrt(3.0 * std::numeric_limits<T>::denorm_min());
      const auto edge = static_cast<double>(bodies.box.edge[a]);
      if (bodies.banded) margin = margin * scale_ + 8 * bodies.frame.largest * 0x1p-24;
      else if (edge > 0) margin += (std::floor(reach.axis[a] / edge) + 4) * edge * 8 * eps;
      margin_[a] = static_cast<V>(margin);
    }
  }

  [[nodiscard]] Box operator()(std::size_t slot) const {
    Box box;
    for (std::size_t a = 0; a < D; ++a) {
      const V size = shape_ == Shape::sphere ? columns_[D][slot] * grow_ + margin_[a] : margin_[a];
      box.set(a, down(columns_[a][slot] - size), up(columns_[shape_ == Shape::box ? D + a : a][slot] + size));
    }
    return box;
  }
  [[nodiscard]] Box around(std::size_t begin, std::size_t end) const {
    Box box = Box::nothing();
    for (std::size_t slot = begin; slot < end; ++slot) box.join((*this)(slot));
    return box;
  }
  // Converts the user's lengths to those of boxes.
  [[nodiscard]] double scale() const { return scale_; }

 private:
  static std::array<const V*, Bodies<T, D>::most> columns(const Bodies<T, D>& bodies) {
    std::array<const V*, Bodies<T, D>::most> x{};
    for (std::size_t c = 0; c < bodies.columns(); ++c) {
      if constexpr (std::is_same_v<V, T>) x[c] = bodies.exact[c].data();
      else x[c] = bodies.near[c].data();
    }
    return x;
  }
  // A number at least as far away as the next representable one; cheaper than std::nextafter.
  static V step(V x) { return std::abs(x) * std::numeric_limits<V>::epsilon() + std::numeric_limits<V>::denorm_min(); }
  static V down(V x) { return x - step(x); }
  static V up(V x) { return x + step(x); }

  std::array<const V*, Bodies<T, D>::most> columns_;
  Shape shape_;
  double scale_;
  V grow_;
  std::array<V, D> margin_{};
};

// Collects ranges of candidates; contiguous ranges are joined.
class RangeList {
 public:
  void clear() { count_ = 0; }
  // Prevents joining the next range to the previous ones.
  void begin(const Shift& shift) {
    shift_ = shift;
    end_ = nowhere;
    joined_from_ = count_;
  }
  // No branch on `wanted`, since it is unpredictable.
  void add(Slot first, Slot last, bool wanted) {
    if (count_ + 2 > ranges_.size()) ranges_.resize(2 * ranges_.size() + 16);
    const bool apart = first != end_;
    Range* const range = ranges_.data() + count_;
    range[0] = {first, last, shift_};
    // Either counts the range just written, or extends the one before it, or does neither.
    count_ += static_cast<std::size_t>(wanted) & static_cast<std::size_t>(apart);
    end_ = wanted ? last : end_;
    if (count_ > joined_from_) ranges_[count_ - 1].end = end_;
  }
  // The only range so far: the queries and the bodies after them.
  void own_after(Slot first, Slot last) {
    begin({});
    add(first, last, true);
    ranges_[0].own = Own::after;
  }
  // Moves the range with the queries to the front.
  void own_except(Slot first) {
    for (std::size_t k = 0; k < count_; ++k)
      if (ranges_[k].begin <= first && first < ranges_[k].end) {
        ranges_[k].own = Own::except;
        std::swap(ranges_[k], ranges_[0]);
        return;
      }
  }
  [[nodiscard]] std::span<const Range> ranges() const { return {ranges_.data(), count_}; }

 private:
  static constexpr Slot nowhere = ~Slot{0};
  std::vector<Range> ranges_;
  std::size_t count_ = 0;
  std::size_t joined_from_ = 0;  // the first range of this image
  Slot end_ = nowhere;
  Shift shift_{};
};

}  // namespace detail

template <class T, int D>
class BVH final : public Structure<T, D> {
 public:
  explicit BVH(const StructureSettings<T, D>& settings)
      : settings_(settings), leaf_(std::max<std::size_t>(1, static_cast<std::size_t>(settings.option("leaf")))),
        growth_(settings.option("growth")) {}

  void build(const BodyView<T, D>& points) override {
    reset_bodies(points);
    Prefixes prefixes;
    classes_ = order_by_curve(bodies_, leaf_, prefixes);
    prefixes.cut(std::max<std::size_t>(1, leaf_ / twigs_per_leaf), twigs_);
    near_.release();
    exact_.release();
    on_tree([&]<class V>(Hierarchy<V, D>& tree) {
      tree.build(prefixes, leaf_starts(), twigs_.span(), boxes_of<V>(bodies_));
    });
    set_typical();
    built_cost_ = cost();
  }

  void update(const BodyView<T, D>& points) override {
    if (points.size != bodies_.size || !refit(points)) {
      build(points);
      ++rebuilds_;
    } else {
      ++refits_;
    }
  }

  void arrange(const BodyView<T, D>& points, Bodies<T, D>& queries) const override {
    queries.reset(points, settings_.box, bodies_.frame);
    Prefixes prefixes;
    // Few queries are far apart: one box around several of them would meet most of the tree.
    const double share = static_cast<double>(points.size) / static_cast<double>(std::max<std::size_t>(bodies_.size, 1));
    const auto together = static_cast<std::size_t>(static_cast<double>(leaf_) * std::min(share, 1.0));
    order_by_curve(queries, std::max<std::size_t>(together, 1), prefixes);
  }
  [[nodiscard]] const Bodies<T, D>& bodies() const override { return bodies_; }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const override { return part_count(queries); }

  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    on_tree([&]<class V>(const Hierarchy<V, D>& tree) { blocks_in(tree, queries, mode, part, sink); });
  }

  [[nodiscard]] Details details() const override {
    const auto depth = on_tree([](const auto& tree) { return tree.height(); });
    return {{"leaves", static_cast<double>(bodies_.groups)},
            {"depth", static_cast<double>(depth)},
            {"classes", static_cast<double>(classes_)},
            {"refits", static_cast<double>(refits_)},
            {"rebuilds", static_cast<double>(rebuilds_)}};
  }
  [[nodiscard]] std::size_t bytes() const override { return twigs_.bytes() + near_.bytes() + exact_.bytes(); }

 private:
  // Measured with leaf = 40 (benchmarks/bvh.py): smaller twigs propose fewer candidates but need more tests of boxes.
  static constexpr std::size_t twigs_per_leaf = 8;
  static constexpr std::size_t grain = std::size_t{1} << 12;

  // Calls f(the tree in use).
  template <class F>
  decltype(auto) on_tree(F&& f) {
    if constexpr (std::is_same_v<T, double>)
      if (bodies_.banded) return f(near_);
    return f(exact_);
  }
  template <class F>
  decltype(auto) on_tree(F&& f) const {
    if constexpr (std::is_same_v<T, double>)
      if (bodies_.banded) return f(near_);
    return f(exact_);
  }

  [[nodiscard]] std::span<const std::uint32_t> leaf_starts() const {
    return bodies_.group_begin.span().first(bodies_.groups + 1);
  }
  template <class V>
  [[nodiscard]] detail::BodyBoxes<V, T, D> boxes_of(const Bodies<T, D>& bodies) const {
    return {bodies, reach_};
  }

  template <class V>
  void blocks_in(const Hierarchy<V, D>& tree, const Bodies<T, D>& queries, Mode mode, std::size_t part,
                 BlockSink sink) const {
    if (mode == Mode::cross && queries.groups == queries.size && queries.size < bodies_.size / leaf_) {
      blocks_of_single(tree, queries, part, sink);
      return;
    }
    const auto boxes = boxes_of<V>(queries);
    detail::RangeList list;
    const auto traverse = [&](const TurnedBox<V, D>& query, std::size_t from) {
      tree.traverse(query, from, [&](std::size_t t, bool meets) { list.add(twigs_[t], twigs_[t + 1], meets); });
    };
    const auto [first, last] = groups_of_part(queries, part);
    for (std::size_t leaf = first; leaf < last; ++leaf) {
      const Slot begin = queries.group_begin[leaf];
      const Slot end = queries.group_begin[leaf + 1];
      const auto query = mode == Mode::cross ? boxes.around(begin, end) : tree.leaf_box(leaf);
      list.clear();
      if (mode == Mode::half) list.own_after(begin, end);
      else list.begin({});
      traverse(query, mode == Mode::half ? leaf + 1 : 0);
      if (mode == Mode::full) list.own_except(begin);
      if (settings_.box.periodic())
        for_each_image(tree, query, boxes.scale(), mode == Mode::half, [&](const auto& image, const Shift& shift) {
          list.begin(shift);
          traverse(image, 0);
        });
      if (!list.ranges().empty()) sink({begin, end, list.ranges()});
    }
  }

  // Queries that are few and far from each other descend several at a time. They meet so few bodies that testing all of
  // a leaf takes less time than looking at its twigs.
  template <class V>
  void blocks_of_single(const Hierarchy<V, D>& tree, const Bodies<T, D>& queries, std::size_t part,
                        BlockSink sink) const {
    constexpr std::size_t together = Hierarchy<V, D>::together;
    const auto boxes = boxes_of<V>(queries);
    std::array<TurnedBox<V, D>, together> found;
    std::array<detail::RangeList, together> lists;
    const auto find = [&](std::span<const TurnedBox<V, D>> around, std::size_t to) {
      tree.find_leaves(around, [&](std::size_t q, std::uint32_t leaf) {
        const Slot begin = bodies_.group_begin[leaf];
        const Slot end = bodies_.group_begin[leaf + 1];
        lists[to + q].add(begin, end, true);
        fetch_bodies(bodies_, begin, end);
      });
    };
    const auto [first, last] = groups_of_part(queries, part);
    for (std::size_t from = first; from < last; from += together) {
      const std::size_t count = std::min(together, last - from);
      for (std::size_t q = 0; q < count; ++q) {
        found[q] = boxes(from + q);
        lists[q].clear();
        lists[q].begin({});
      }
      find({found.data(), count}, 0);
      for (std::size_t q = 0; q < count && settings_.box.periodic(); ++q)
        for_each_image(tree, found[q], boxes.scale(), false, [&](const auto& image, const Shift& shift) {
          lists[q].begin(shift);
          find({&image, 1}, q);
        });
      for (std::size_t q = 0; q < count; ++q) {
        const auto slot = static_cast<Slot>(from + q);
        if (!lists[q].ranges().empty()) sink({slot, slot + 1, lists[q].ranges()});
      }
    }
  }

  // The images in which a query can have neighbours; if `half`, only one of two opposite images.
  template <class V, class F>
  void for_each_image(const Hierarchy<V, D>& tree, const TurnedBox<V, D>& query, double scale, bool half, F&& f) const {
    if (tree.leaves() == 0) return;
    std::array<int, 3> least{};
    std::array<int, 3> most{};
    std::array<double, 3> edge{};
    for (std::size_t a = 0; a < D; ++a) {
      edge[a] = static_cast<double>(settings_.box.edge[a]) * scale;
      if (!(edge[a] > 0)) continue;
      // Rounding may add an image, which the comparison of boxes then rejects, but never loses one.
      const auto gap = [&](V from, V to) { return (static_cast<double>(to) - static_cast<double>(from)) / edge[a]; };
      least[a] = static_cast<int>(std::ceil(gap(tree.root().high(a), query.low(a)) - 1e-3));
      most[a] = static_cast<int>(std::floor(gap(tree.root().low(a), query.high(a)) + 1e-3));
    }
    for (int z = least[2]; z <= most[2]; ++z)
      for (int y = least[1]; y <= most[1]; ++y)
        for (int x = least[0]; x <= most[0]; ++x) {
          const bool up = z != 0 ? z > 0 : y != 0 ? y > 0 : x > 0;
          if ((x == 0 && y == 0 && z == 0) || (half && !up)) continue;
          const std::array<int, 3> s{x, y, z};
          TurnedBox<V, D> image = query;
          for (std::size_t a = 0; a < D; ++a) {
            const auto step = static_cast<V>(s[a] * edge[a]);
            image.set(a, query.low(a) - step, query.high(a) - step);
          }
          f(image, Shift{static_cast<std::int16_t>(x), static_cast<std::int16_t>(y), static_cast<std::int16_t>(z)});
        }
  }

  void reset_bodies(const BodyView<T, D>& points) {
    reach_ = points.reach(settings_.cutoff);
    bodies_.reset(points, settings_.box, near_frame(points, settings_.box, reach_.largest()));
    // Unlike a grid, the tree needs no positive reach along an axis on which boxes have length 0; it would only widen
    // the margin.
    if (points.shape == Shape::box)
      for (std::size_t a = 0; a < D; ++a)
        reach_.axis[a] = static_cast<double>(std::max(points.largest[a], points.largest_query[a]));
  }

  // Updates the bodies and their boxes but keeps their order. Returns false if a new order would be better.
  bool refit(const BodyView<T, D>& points) {
    const bool banded = bodies_.banded;
    Buffer<std::int32_t> order = std::move(bodies_.ids);
    reset_bodies(points);
    if (bodies_.banded != banded) return false;
    bodies_.ids = std::move(order);
    parallel_ranges(bodies_.size, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t slot = begin; slot < end; ++slot)
        bodies_.place(static_cast<std::size_t>(bodies_.ids[slot]), slot);
    });
    on_tree([&]<class V>(Hierarchy<V, D>& tree) { tree.refit(twigs_.span(), boxes_of<V>(bodies_)); });
    return cost() <= growth_ * built_cost_;
  }

  // Sums f(extent of a leaf's box) over all leaves, the same for any number of threads.
  template <class F>
  [[nodiscard]] std::array<double, D> sum_over_leaves(F&& f) const {
    return on_tree([&]<class V>(const Hierarchy<V, D>& tree) {
      const double scale = boxes_of<V>(bodies_).scale();
      std::vector<std::array<double, D>> sums((tree.leaves() + grain - 1) / grain);
      parallel_ranges(tree.leaves(), grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
        for (std::size_t leaf = begin; leaf < end; ++leaf) {
          const auto box = tree.leaf_box(leaf);
          std::array<double, D> extent{};
          for (std::size_t a = 0; a < D; ++a)
            extent[a] = (static_cast<double>(box.high(a)) - static_cast<double>(box.low(a))) / scale;
          const std::array<double, D> terms = f(extent);
          for (std::size_t a = 0; a < D; ++a) sums[piece][a] += terms[a];
        }
      });
      std::array<double, D> total{};
      for (const auto& sum : sums)
        for (std::size_t a = 0; a < D; ++a) total[a] += sum[a];
      return total;
    });
  }
  void set_typical() {
    typical_ = sum_over_leaves([](const auto& extent) { return extent; });
    for (double& x : typical_)
      x = std::max(x / static_cast<double>(bodies_.groups), std::numeric_limits<double>::min());
  }
  // Proportional to the number of leaves that a typical leaf overlaps, which is the sum of the volumes in which its
  // centre can lie.
  [[nodiscard]] double cost() const {
    return sum_over_leaves([&](const auto& extent) {
      double volume = 1;
      for (std::size_t a = 0; a < D; ++a) volume *= extent[a] / typical_[a] + 1;
      return std::array<double, D>{volume};
    })[0];
  }

  StructureSettings<T, D> settings_;
  std::size_t leaf_;
  double growth_;
  Reach<D> reach_;
  Bodies<T, D> bodies_;          // the groups are the leaves
  Buffer<std::uint32_t> twigs_;  // first slots, and the number of slots last
  Hierarchy<float, D> near_;     // for doubles in the near frame; otherwise:
  Hierarchy<T, D> exact_;
  int classes_ = 1;
  std::array<double, D> typical_{};  // mean extent of a leaf when the tree was built
  double built_cost_ = 0;
  std::size_t refits_ = 0, rebuilds_ = 0;
};

}  // namespace vicinal
