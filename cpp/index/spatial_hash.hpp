// Spatial hashing (Teschner et al. 2003), the baseline of Onderik & Ďurikovič 2008: cells of one reach, hashed into a
// table of buckets. Unlike in the papers, runs of cells are hashed, whose cells have consecutive buckets.
//
// The bodies of a bucket are a run of slots. Cells may share a bucket by chance; as in the paper, all bodies of a
// bucket are candidates, regardless of their cell, and the exact test rejects the others. Two rules ensure that each
// pair is still proposed only once:
//   - Queries are the bodies of one *cell*, and two neighbours of a cell that share a bucket count as one.
//   - Not every candidate is mutual: a bucket may contain a body of a distant cell, which does not look up the bucket
//     of the query. But bodies within reach of each other always look up each other's buckets, so every pair is found
//     once if each body keeps the candidates in later slots, and one of two opposite images.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "exec/prefetch.hpp"
#include "exec/threads.hpp"
#include "geometry/grid.hpp"
#include "index/cell_order.hpp"
#include "index/fetch_bodies.hpp"
#include "index/lay_grid.hpp"
#include "index/parts.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class SpatialHash final : public Structure<T, D> {
 public:
  static constexpr bool takes_tilted_cells = true;
  explicit SpatialHash(const StructureSettings<T, D>& settings) : settings_(settings) {}

  void build(const BodyView<T, D>& points) override {
    const Reach<D> reach = points.reach(settings_.cutoff);
    grid_ = Grid();  // a single cell for an empty set
    if (points.size > 0) grid_ = lay_bulk_grid(points, settings_.box, reach, 1, 0);
    grid_.finish(reach);
    stencil_cells_ = 0;
    for (const StencilRow& row : grid_.rows) stencil_cells_ += 2 * static_cast<std::size_t>(row.reach_x) + 1;
    table_ = static_cast<std::uint32_t>(settings_.option("table"));
    if (table_ == 0) table_ = prime_from(2 * points.size);
    reciprocal_ = ~std::uint64_t{0} / table_ + 1;
    bodies_.reset(points, settings_.box, near_frame(points, settings_.box, reach.largest()));
    order_by_key(table_, Hashes{*this, bodies_}, bodies_);
    list_buckets();
    split_buckets(bodies_);
  }
  void arrange(const BodyView<T, D>& points, Bodies<T, D>& queries) const override {
    queries.reset(points, settings_.box, bodies_.frame);
    order_by_key(table_, Hashes{*this, queries}, queries);
    split_buckets(queries);
  }
  [[nodiscard]] const Bodies<T, D>& bodies() const override { return bodies_; }
  [[nodiscard]] std::size_t parts(const Bodies<T, D>& queries) const override { return part_count(queries); }

  // Buckets are anywhere in memory. So they are looked up while the groups before are tested: first their entries of
  // the table are fetched, one group later their bodies.
  void blocks(const Bodies<T, D>& queries, Mode mode, std::size_t part, BlockSink sink) const override {
    std::array<std::vector<Range>, 3> lists;
    const auto [first, last] = groups_of_part(queries, part);
    for (std::size_t step = 0; step < last - first + 2; ++step) {
      const std::size_t g = first + step;
      if (g < last) list_buckets_around(queries, g, mode, lists[step % 3]);
      if (step >= 1 && g - 1 < last) find_bodies(mode, lists[(step - 1) % 3]);
      if (step < 2) continue;
      const std::vector<Range>& ranges = lists[(step - 2) % 3];
      if (!ranges.empty()) sink({queries.group_begin[g - 2], queries.group_begin[g - 1], ranges});
    }
  }

  // A collision is a cell that shares its bucket; the first cell of a bucket is not counted.
  [[nodiscard]] Details details() const override {
    return {{"cell", grid_.axis[0].size()},
            {"table", static_cast<double>(table_)},
            {"occupied", static_cast<double>(occupied_)},
            {"collisions", static_cast<double>(bodies_.groups - occupied_)}};
  }
  [[nodiscard]] std::size_t bytes() const override { return starts_.bytes(); }

 private:
  using Cell = std::array<std::int64_t, 3>;
  // Of 2^5 cells; with 2^3, 1000 queries of 10^6 points took 1.3 times as long (benchmarks/small.py).
  static constexpr int run_bits = 5;

  // The bucket of each body, for sorting.
  struct Hashes {
    const SpatialHash& hash;
    const Bodies<T, D>& bodies;

    template <class F>
    void for_each(std::size_t begin, std::size_t end, F&& f) const {
      for (std::size_t p = begin; p < end; ++p) f(p, hash.bucket_of(hash.cell_at(bodies.place_of(p))));
    }
  };

  static std::uint32_t prime_from(std::size_t least) {
    constexpr std::size_t largest = 0x7fffffff;  // a prime itself
    if (least >= largest) return largest;
    const auto prime = [](std::uint32_t n) {
      for (std::uint32_t d = 3; d <= n / d; d += 2)
        if (n % d == 0) return false;
      return true;
    };
    auto n = static_cast<std::uint32_t>(least | 1);
    while (!prime(n)) n += 2;
    return n;
  }

  // The function of the paper for runs of cells along the first axis, whose buckets follow each other: the cells around
  // a query are in a third of the places, and most of those along a row become one range.
  [[nodiscard]] std::uint32_t bucket_of(const Cell& cell) const {
    const auto times = [](std::int64_t c, std::uint32_t prime) { return static_cast<std::uint32_t>(c) * prime; };
    const std::uint32_t run =
        times(cell[0] >> run_bits, 73856093) ^ times(cell[1], 19349663) ^ times(cell[2], 83492791);
    return remainder(run << run_bits | (static_cast<std::uint32_t>(cell[0]) & ((1U << run_bits) - 1)));
  }
  // n % table_ by multiplications: a division takes several times as long (Lemire, Kaser & Kurz 2019, whose theorem 1
  // says that 64 bits of the reciprocal suffice for 32-bit numbers).
  [[nodiscard]] std::uint32_t remainder(std::uint32_t n) const {
    const std::uint64_t fraction = reciprocal_ * n;  // of n / table_, in units of 2^-64
    const std::uint64_t low = (fraction & 0xffffffff) * table_ >> 32;
    return static_cast<std::uint32_t>(((fraction >> 32) * table_ + low) >> 32);
  }
  [[nodiscard]] Cell cell_at(const std::array<double, D>& place) const {
    Cell cell{};
    for (std::size_t a = 0; a < D; ++a) cell[a] = grid_.axis[a].cell(place[a]);
    return cell;
  }
  [[nodiscard]] Cell cell_of(const Bodies<T, D>& bodies, std::size_t slot) const {
    return cell_at(bodies.place_at(slot));
  }

  void list_buckets() {
    occupied_ = bodies_.groups;
    starts_.reset(std::size_t{table_} + 1);
    Slot* const start = starts_.data();
    std::size_t bucket = 0;
    for (std::size_t g = 0; g < bodies_.groups; ++g) {
      const std::size_t next = bodies_.group_key[g] + 1;
      std::fill(start + bucket, start + next, bodies_.group_begin[g]);
      bucket = next;
    }
    std::fill(start + bucket, start + table_ + 1, static_cast<Slot>(bodies_.size));
  }

  // Sorts the bodies of every bucket by cell, and divides the groups of buckets into groups of cells: the key of a
  // group is still the bucket.
  void split_buckets(Bodies<T, D>& bodies) const {
    struct Group {
      std::uint64_t bucket;
      Slot begin;
    };
    constexpr std::size_t grain = 1 << 14;
    std::vector<std::vector<Group>> pieces((bodies.groups + grain - 1) / grain);
    parallel_ranges(bodies.groups, grain, [&](std::size_t first, std::size_t last, std::size_t piece) {
      std::vector<std::pair<Cell, std::int32_t>> members;
      std::vector<Group>& groups = pieces[piece];
      for (std::size_t g = first; g < last; ++g) {
        const Slot begin = bodies.group_begin[g];
        const Slot end = bodies.group_begin[g + 1];
        members.clear();
        for (Slot slot = begin; slot < end; ++slot) members.emplace_back(cell_of(bodies, slot), bodies.ids[slot]);
        if (!std::is_sorted(members.begin(), members.end())) {
          std::sort(members.begin(), members.end());
          for (Slot slot = begin; slot < end; ++slot)
            bodies.place(static_cast<std::size_t>(members[slot - begin].second), slot);
        }
        for (std::size_t k = 0; k < members.size(); ++k)
          if (k == 0 || members[k].first != members[k - 1].first)
            groups.push_back({bodies.group_key[g], begin + static_cast<Slot>(k)});
      }
    });
    std::size_t count = 0;
    for (const auto& groups : pieces) count += groups.size();
    bodies.groups = count;
    bodies.group_key.reset(count);
    bodies.group_begin.reset(count + 1);
    bodies.group_begin[count] = static_cast<Slot>(bodies.size);
    std::size_t k = 0;
    for (const auto& groups : pieces)
      for (const Group& group : groups) {
        bodies.group_key[k] = group.bucket;
        bodies.group_begin[k++] = group.begin;
      }
  }

  // Lists the bucket of every cell of the stencil: for now, the number of a bucket is in place of its slots. In the
  // modes in which the group has a bucket of its own, the range of this bucket comes first.
  void list_buckets_around(const Bodies<T, D>& queries, std::size_t group, Mode mode,
                           std::vector<Range>& ranges) const {
    const Slot begin = queries.group_begin[group];
    const auto own = static_cast<std::uint32_t>(queries.group_key[group]);
    const Cell cell = cell_of(queries, begin);
    ranges.resize(stencil_cells_ + 1);
    Range* to = ranges.data();
    if (mode == Mode::half) *to++ = {begin, starts_[own + 1], {}, Own::after};
    if (mode == Mode::full) *to++ = {starts_[own], starts_[own + 1], {}, Own::except};
    for (const StencilRow& row : grid_.rows) {
      Cell at{0, cell[1] + row.dy, cell[2] + row.dz};
      Shift shift{0, grid_.axis[1].enter(at[1]), grid_.axis[2].enter(at[2])};
      for (int dx = -row.reach_x; dx <= row.reach_x; ++dx) {
        at[0] = cell[0] + dx;
        shift.x = grid_.axis[0].enter(at[0]);
        const std::uint32_t bucket = bucket_of(at);
        prefetch_to_read(starts_.data() + bucket);
        *to = {bucket, bucket, shift};
        to += wanted(bucket, shift, own, mode) ? 1 : 0;
      }
    }
    ranges.resize(static_cast<std::size_t>(to - ranges.data()));
  }

  // Replaces buckets by their slots, each once, and fetches the bodies.
  void find_bodies(Mode mode, std::vector<Range>& ranges) const {
    const auto added = ranges.begin() + (mode == Mode::cross ? 0 : 1);
    for (auto range = added; range != ranges.end(); ++range)
      *range = {starts_[range->begin], starts_[range->begin + std::size_t{1}], range->shift};
    ranges.erase(joined(added, ranges.end()), ranges.end());
    if (grid_.periodic() || !all_differ({added, ranges.end()})) {
      // Buckets are grouped by image, the box itself first: the exact test works image by image.
      const auto rank = [](const Range& r) {
        return std::tuple(r.shift != Shift{}, r.shift.z, r.shift.y, r.shift.x, r.begin);
      };
      std::sort(added, ranges.end(), [&](const Range& a, const Range& b) { return rank(a) < rank(b); });
      ranges.erase(joined(added, ranges.end()), ranges.end());
    }
    for (auto range = added; range != ranges.end(); ++range) fetch_bodies(bodies_, range->begin, range->end);
  }
  // Leaves out empty ranges, and joins each one to that before if they are in one image and touch or, in ascending
  // order, overlap. Returns the new end.
  using RangeIterator = std::vector<Range>::iterator;
  static RangeIterator joined(RangeIterator first, RangeIterator last) {
    RangeIterator to = first;
    for (RangeIterator range = first; range != last; ++range) {
      if (range->begin == range->end) continue;
      if (to != first && range->shift == to[-1].shift && range->begin >= to[-1].begin && range->begin <= to[-1].end)
        to[-1].end = std::max(to[-1].end, range->end);
      else *to++ = *range;
    }
    return to;
  }
  // Whether few ranges are known not to overlap: comparing all with each other takes less time than sorting them.
  static bool all_differ(std::span<const Range> ranges) {
    if (ranges.size() > 32) return false;
    unsigned overlap = 0;
    for (std::size_t k = 0; k < ranges.size(); ++k)
      for (std::size_t j = 0; j < k; ++j)
        overlap |= static_cast<unsigned>(ranges[j].begin < ranges[k].end) &
                   static_cast<unsigned>(ranges[k].begin < ranges[j].end);
    return overlap == 0;
  }
  static bool wanted(std::uint32_t bucket, const Shift& shift, std::uint32_t own, Mode mode) {
    if (mode == Mode::cross) return true;
    if (shift == Shift{}) return mode == Mode::half ? bucket > own : bucket != own;
    return mode == Mode::full || std::tuple(shift.z, shift.y, shift.x) > std::tuple(0, 0, 0);
  }

  StructureSettings<T, D> settings_;
  Grid grid_;
  std::size_t stencil_cells_ = 0;
  std::uint32_t table_ = 1;
  std::uint64_t reciprocal_ = 0;  // 2^64 / table_, rounded up
  std::size_t occupied_ = 0;      // buckets
  Bodies<T, D> bodies_;
  Buffer<Slot> starts_;  // the bodies of a bucket are starts_[bucket] … starts_[bucket + 1] - 1
};

}  // namespace vicinal
