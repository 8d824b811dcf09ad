// The kinetic Delaunay triangulation as a search structure: candidates by walking its edges (Porro 2021, chapter 4).
//
// Bodies are kept in the slots of the triangulation, which follow a Hilbert curve; consecutive queries are near each
// other, and one walk around the box of the group (delaunay/walk.hpp) finds the candidates of the group as a few runs
// of slots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "delaunay/curve.hpp"
#include "delaunay/graph.hpp"
#include "delaunay/moving_triangulation.hpp"
#include "delaunay/walk.hpp"
#include "exec/threads.hpp"
#include "index/parts.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class Delaunay final : public Structure<T, D> {
  static_assert(D == 2, "the triangulation is one of the plane");

 public:
  explicit Delaunay(const StructureSettings<T, D>& settings) : settings_(settings), skin_(settings.option("skin")) {}

  // The same number of bodies as before has moved; a different number is a new set.
  void build(const BodyView<T, D>& points) override {
    const bool moved = sound_ && points.size > 0 && points.size == tri_.size();
    change(points, [&] {
      const std::span<const T> xy(points.data, points.size * D);
      if (moved) {
        motion_ = tri_.update(xy, skin_);
        tri_.settled() ? ++repairs_ : ++skips_;
      } else {
        motion_ = {};
        motion_.rebuild = true;
        tri_.build(xy);
      }
    });
  }
  // `all`: the points after the change. New points come last; remaining points move up.
  void insert(const BodyView<T, D>& all) override {
    const std::size_t old = tri_.size();
    change(all, [&] { tri_.insert({all.data + old * D, (all.size - old) * D}); });
  }
  void remove(std::span<const std::uint32_t> ids, const BodyView<T, D>& all) override {
    change(all, [&] { tri_.remove(ids); });
  }
  // The triangulation of the current positions, for any skin.
  const delaunay::MovingTriangulation<T>& settled();

  void arrange(const BodyView<T, D>& points, Bodies<T, D>& queries) const override {
    std::vector<Point2> places(points.size);
    for (std::size_t k = 0; k < places.size(); ++k)
      places[k] = {static_cast<double>(points.at(k, 0)), static_cast<double>(points.at(k, 1))};
    std::vector<std::uint32_t> order(points.size);
    std::iota(order.begin(), order.end(), 0U);
    delaunay::sort_along_curve(places, order);
    fill(points, bodies_.frame, order, [&](std::size_t slot) { return places[order[slot]]; }, queries);
  }
  [[nodiscard]] const Bodies<T, D>& bodies() const override { return bodies_; }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const override { return part_count(queries); }

  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    const auto first = static_cast<Slot>(part * part_bodies);
    const auto last = static_cast<Slot>(std::min(queries.size, (part + 1) * part_bodies));
    if (bodies_.size == 0) return;
    if (mode == Mode::cross) cross_blocks(queries, first, last, sink);
    else own_blocks(mode, first, last, sink);
  }

  [[nodiscard]] Details details() const override {
    const delaunay::Triangulation& tri = tri_.triangulation();
    const auto real = std::count_if(tri.triangles.begin(), tri.triangles.end(), [](const auto& t) { return t.real(); });
    return {{"vertices", static_cast<double>(tri.vertices)},
            {"triangles", static_cast<double>(real)},
            {"rebuilt", motion_.rebuild ? 1 : 0},
            {"inverted", static_cast<double>(motion_.inverted)},
            {"suspect_edges", static_cast<double>(motion_.suspect)},
            {"flips", static_cast<double>(motion_.flips)},
            {"reinserted", static_cast<double>(motion_.reinserted)},
            {"slack", tri_.slack()},
            {"repairs", static_cast<double>(repairs_)},
            {"skips", static_cast<double>(skips_)}};
  }
  [[nodiscard]] std::size_t bytes() const override { return tri_.bytes() + own_walks_.bytes() + cross_walks_.bytes(); }

 private:
  // Walkers and the edges that they follow, created by the first search. Each working thread has its own walker; idle
  // walkers are stored here.
  class Walks {
   public:
    void forget(bool graph) {
      idle_.clear();
      ready_ = ready_ && !graph;
    }
    // Lends a walker to f.
    template <class F>
    void lend(const delaunay::Triangulation& tri, double longest, double reach, F&& f) {
      std::unique_ptr<delaunay::Walker> walker;
      {
        const std::lock_guard lock(mutex_);
        if (!ready_) graph_.build(tri, delaunay::walk_limit(longest));
        ready_ = true;
        if (!idle_.empty()) {
          walker = std::move(idle_.back());
          idle_.pop_back();
        }
      }
      if (!walker) walker = std::make_unique<delaunay::Walker>(tri, graph_, reach);
      f(*walker);
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(walker));
    }
    [[nodiscard]] std::size_t bytes() const {
      const std::lock_guard lock(mutex_);
      return std::accumulate(idle_.begin(), idle_.end(), graph_.bytes(),
                             [](std::size_t sum, const auto& walker) { return sum + walker->bytes(); });
    }

   private:
    mutable std::mutex mutex_;
    bool ready_ = false;
    delaunay::Graph graph_;
    std::vector<std::unique_ptr<delaunay::Walker>> idle_;
  };

  // Until the change is complete the index is invalid: after any exception, the next build starts from scratch.
  template <class F>
  void change(const BodyView<T, D>& points, F&& f) {
    sound_ = false;
    const std::uint64_t before = tri_.version();
    f();
    const bool other = tri_.version() != before;
    own_walks_.forget(other);
    cross_walks_.forget(other);
    const std::span<const Point2> places = tri_.places();  // in the order of slots
    fill(
        points, near_frame(points, settings_.box, settings_.reach()), tri_.ids(),
        [places](std::size_t slot) { return places[slot]; }, bodies_);
    sound_ = true;
  }

  // `place(slot)`: the point `order[slot]`. Coordinates were converted to double; converting them back is exact.
  template <class Place>
  static void fill(const BodyView<T, D>& points, const NearFrame<D>& frame, std::span<const std::uint32_t> order,
                   Place&& place, Bodies<T, D>& bodies) {
    bodies.reset(points, {}, frame);
    parallel_ranges(points.size, 1 << 16, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t slot = begin; slot < end; ++slot) {
        bodies.ids[slot] = static_cast<std::int32_t>(order[slot]);
        const Point2 p = place(slot);
        if (bodies.banded) {
          bodies.near[0][slot] = bodies.frame(p.x, 0);
          bodies.near[1][slot] = bodies.frame(p.y, 1);
        } else {
          bodies.exact[0][slot] = static_cast<T>(p.x);
          bodies.exact[1][slot] = static_cast<T>(p.y);
        }
      }
    });
  }

  // Bodies may be farther apart in the triangulation than at their current positions: see
  // delaunay::MovingTriangulation::slack.
  [[nodiscard]] double reach() const { return settings_.reach() + tri_.slack(); }
  // Constant while the triangulation is unchanged, so that its edges are listed once.
  [[nodiscard]] double longest_reach() const { return settings_.reach() + skin_; }

  void own_blocks(Mode mode, Slot first, Slot last, BlockSink sink) const {
    std::vector<Range> ranges;
    own_walks_.lend(tri_.triangulation(), longest_reach(), reach(), [&](delaunay::Walker& walker) {
      while (first < last) {
        const Slot end = walker.group_end(first, last);
        const auto runs = walker.around(first, end);
        // The group itself is among the candidates, within one run. In half mode the groups before it report pairs with
        // it.
        const auto own = std::find_if(runs.begin(), runs.end(), [&](delaunay::Run run) { return first < run.end; });
        ranges.clear();
        if (mode == Mode::half) ranges.push_back({first, own->end, {}, Own::after});
        else ranges.push_back({own->begin, own->end, {}, Own::except});
        for (auto run = mode == Mode::half ? own : runs.begin(); run != runs.end(); ++run)
          if (run != own) ranges.push_back({run->begin, run->end});
        sink({first, end, ranges});
        first = end;
      }
    });
  }

  void cross_blocks(const Bodies<T, D>& queries, Slot first, Slot last, BlockSink sink) const {
    std::vector<Point2> places(last - first);
    for (Slot k = first; k < last; ++k)
      places[k - first] = {static_cast<double>(queries.position(k, 0)), static_cast<double>(queries.position(k, 1))};
    std::vector<Range> ranges;
    // From a position that is not a vertex the walk may need edges of twice the reach.
    cross_walks_.lend(tri_.triangulation(), 2 * longest_reach(), reach(), [&](delaunay::Walker& walker) {
      std::span<const Point2> rest(places);
      while (!rest.empty()) {
        const std::size_t count = walker.group_size(rest);
        ranges.clear();
        for (const delaunay::Run run : walker.around(rest.first(count))) ranges.push_back({run.begin, run.end});
        if (!ranges.empty()) sink({first, first + static_cast<Slot>(count), ranges});
        first += static_cast<Slot>(count);
        rest = rest.subspan(count);
      }
    });
  }

  StructureSettings<T, D> settings_;
  double skin_;
  delaunay::MovingTriangulation<T> tri_;
  Bodies<T, D> bodies_;
  bool sound_ = false;
  delaunay::MotionResult motion_;
  std::size_t repairs_ = 0, skips_ = 0;  // of all updates so far
  mutable Walks own_walks_, cross_walks_;
};

template <class T, int D>
const delaunay::MovingTriangulation<T>& Delaunay<T, D>::settled() {
  if (!tri_.settled())
    change(bodies_.raw, [&] {
      motion_ = tri_.settle();
      ++repairs_;
    });
  return tri_;
}

}  // namespace vicinal
