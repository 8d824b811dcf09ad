// The bins of the hierarchical hash grid: where the bodies of each are, and how they move from one to another.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/memory.hpp"
#include "exec/prefetch.hpp"
#include "exec/threads.hpp"
#include "index/hash_levels.hpp"
#include "index/index.hpp"

namespace vicinal {

template <class T, int D>
class HashBins : protected HashLevels<T, D> {
 protected:
  using Levels = HashLevels<T, D>;
  using Levels::bin_count_;
  using Levels::edge_of;
  using Levels::level_at;
  using Levels::level_of;
  using Levels::Levels;
  using Levels::levels_;
  using Levels::settings_;
  using Levels::size_of;

  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  static constexpr std::size_t piece_bins = 1024;

  // The bodies of slots begin … begin + count - 1.
  struct Bin {
    Slot begin;
    std::uint32_t count;
  };
  struct Mover {
    std::uint32_t id, bin;
  };
  struct Leaver {
    Slot slot;
    Mover mover;
  };
  [[nodiscard]] std::uint32_t bin_of(std::size_t point) const {
    const Points<T, D>& points = bodies_.raw;
    std::size_t l = 0;
    if (points.shape != Shape::point) {
      l = level_of(size_of(points, point));
      if (l == levels_.size()) return nowhere;
      if (points.shape == Shape::box)
        for (int a = 0; a < D; ++a)
          if (edge_of(points, point, a) > levels_[l].edge_limit[static_cast<std::size_t>(a)]) return nowhere;
    }
    return levels_[l].bin([&](int a) { return static_cast<double>(bodies_.value(point, a)); });
  }

  void list_bins() {
    bins_.reset(bin_count_);
    listed_.assign(bin_count_, false);
    occupied_.clear();
    occupied_.reserve(bodies_.groups);
    std::size_t index = 0;
    for (std::size_t g = 0; g < bodies_.groups; ++g) {
      const auto key = static_cast<std::size_t>(bodies_.group_key[g]);
      const Slot begin = bodies_.group_begin[g];
      for (; index < key; ++index) bins_[index] = {begin, 0};
      bins_[index++] = {begin, bodies_.group_begin[g + 1] - begin};
      occupied_.push_back(static_cast<std::uint32_t>(key));
      listed_[key] = true;
    }
    for (; index < bin_count_; ++index) bins_[index] = {static_cast<Slot>(bodies_.size), 0};
    bodies_.group_key.release();
    bodies_.group_begin.release();
    bodies_.groups = 0;
    slot_bins_.release();
    compact_ = true;
  }

  [[nodiscard]] std::size_t pieces() const { return (occupied_.size() + piece_bins - 1) / piece_bins; }
  template <class F>
  void for_each_bin(std::size_t piece, F&& f) {
    const std::size_t last = std::min(occupied_.size(), (piece + 1) * piece_bins);
    for (std::size_t k = piece * piece_bins; k < last; ++k) f(occupied_[k], bins_[occupied_[k]]);
  }

  // What moving a body along one axis needs of level, box and frame, side by side: members behind pointers would be
  // read again after every store.
  struct Track {
    HashAxis line;
    T edge;
    double centre, low, high;
    float* near;
    T* exact;
  };
  std::array<Track, D> tracks_of(const HashLevel<D>& level) {
    std::array<Track, D> tracks;
    for (std::size_t a = 0; a < D; ++a)
      tracks[a] = {level.axis[a],         settings_.box.edge[a],  bodies_.frame.centre[a], bodies_.frame.low[a],
                   bodies_.frame.high[a], bodies_.near[a].data(), bodies_.exact[a].data()};
    return tracks;
  }

  // Which sizes a level takes.
  struct Sizes {
    double above, most;
    std::array<double, D> edges;
  };
  [[nodiscard]] Sizes sizes_of(std::size_t l) const {
    return {l > 0 ? levels_[l - 1].limit : -1, levels_[l].limit, levels_[l].edge_limit};
  }

  // Puts bodies at their new places; `resized`: they may have changed size too. Returns false, and leaves things
  // undone, if there is no level for somebody. Slot by slot, not bin by bin: a loop over the few bodies of a bin costs
  // more than the bodies do.
  bool move_bodies(bool resized) {
    note_bins();
    const std::size_t pieces = (bodies_.slots + piece_slots - 1) / piece_slots;
    std::vector<std::vector<Leaver>> leavers(pieces);
    std::atomic<bool> fit{true};
    parallel_for(pieces, [&](std::size_t piece, int) {
      const std::size_t first = piece * piece_slots;
      const std::size_t last = std::min(bodies_.slots, first + piece_slots);
      const auto move = [&]<bool Banded, Shape Resized>() {
        if (!move_piece<Banded, Resized>(first, last, leavers[piece])) fit = false;
      };
      const Shape shape = resized ? bodies_.raw.shape : Shape::point;
      if (shape == Shape::box) move.template operator()<false, Shape::box>();
      else if (shape == Shape::sphere && bodies_.banded) move.template operator()<true, Shape::sphere>();
      else if (shape == Shape::sphere) move.template operator()<false, Shape::sphere>();
      else if (bodies_.banded) move.template operator()<true, Shape::point>();
      else move.template operator()<false, Shape::point>();
    });
    if (!fit) return false;
    // The last body of a bin takes the place of one that leaves; from the back, so that it does not leave itself.
    for (auto piece = leavers.rbegin(); piece != leavers.rend(); ++piece)
      for (auto leaver = piece->rbegin(); leaver != piece->rend(); ++leaver) {
        Bin& bin = bins_[slot_bins_[leaver->slot]];
        const Slot end = bin.begin + --bin.count;
        if (end != leaver->slot) bodies_.move(end, leaver->slot);
        else bodies_.ids[end] = -1;
      }
    std::vector<Mover> movers;
    for (const auto& piece : leavers)
      for (const Leaver& leaver : piece) movers.push_back(leaver.mover);
    enter(movers);
    return true;
  }
  // `Resized`: of this shape, and perhaps of another size than before.
  template <bool Banded, Shape Resized>
  bool move_piece(std::size_t begin, std::size_t end, std::vector<Leaver>& leavers) {
    const T* const positions = bodies_.raw.data;
    const std::int32_t* const ids = bodies_.ids.data();
    const std::uint32_t* const slot_bins = slot_bins_.data();
    const double scale = bodies_.frame.scale;
    const T* const extra = bodies_.raw.extra;
    constexpr auto extras = static_cast<std::size_t>(columns_of(Resized, D) - D);
    std::array<T*, extras> grown;
    for (std::size_t c = 0; c < extras; ++c) grown[c] = bodies_.exact[D + c].data();
    std::size_t l = 0;
    std::uint32_t first = levels_[l].first;
    std::uint32_t bins = levels_[l].bins();
    std::array<Track, D> tracks = tracks_of(levels_[l]);
    Sizes sizes = sizes_of(l);
    for (std::size_t k = begin; k < end; ++k) {
      if (k + ahead < end) {
        // The bodies of a bin are anywhere in the user's array, and a row of it may be in two lines of the cache.
        const T* const later = positions + static_cast<std::size_t>(std::max(ids[k + ahead], 0)) * D;
        prefetch_to_read(later);
        prefetch_to_read(later + D - 1);
        if constexpr (extras > 0) {
          const T* const size = extra + static_cast<std::size_t>(std::max(ids[k + ahead], 0)) * extras;
          prefetch_to_read(size);
          prefetch_to_read(size + extras - 1);
        }
      }
      const std::int32_t id = ids[k];
      if (id < 0) continue;
      const std::uint32_t here = slot_bins[k];
      if (here - first >= bins) {
        l = level_at(here);
        first = levels_[l].first;
        bins = levels_[l].bins();
        tracks = tracks_of(levels_[l]);
        sizes = sizes_of(l);
      }
      const T* const position = positions + static_cast<std::size_t>(id) * D;
      const T* const size = extra + static_cast<std::size_t>(id) * extras;
      if (!takes<Resized>(sizes, position, size)) {
        const std::uint32_t there = bin_of(static_cast<std::size_t>(id));
        if (there == nowhere) return false;
        leavers.push_back({static_cast<Slot>(k), {static_cast<std::uint32_t>(id), there}});
        continue;
      }
      std::array<T, D> x;
      std::uint32_t there = 0;
      for (std::size_t a = D; a-- > 0;) {
        const Track& track = tracks[a];
        x[a] = position[a];
        if (track.edge > 0 && !(x[a] >= 0 && x[a] < track.edge)) x[a] = settings_.box.wrap(x[a], static_cast<int>(a));
        there = there * (track.line.mask + 1) + track.line.bin(track.line.cell(static_cast<double>(x[a])));
      }
      there += first;
      if (there != here) {
        leavers.push_back({static_cast<Slot>(k), {static_cast<std::uint32_t>(id), there}});
        continue;
      }
      for (std::size_t a = 0; a < D; ++a) {
        const Track& track = tracks[a];
        if constexpr (Banded) {
          const double near = (static_cast<double>(x[a]) - track.centre) * scale;
          track.near[k] = static_cast<float>(std::min(std::max(near, track.low), track.high));
        } else {
          track.exact[k] = x[a];
        }
      }
      if constexpr (Banded && extras > 0) {
        bodies_.near[D][k] = static_cast<float>(static_cast<double>(size[0]) * scale);
      } else {
        for (std::size_t c = 0; c < extras; ++c) {
          // The upper corner of a box moves with the lower one.
          const bool wrapped = Resized == Shape::box && x[c] != position[c];
          grown[c][k] = wrapped ? bodies_.value(static_cast<std::size_t>(id), static_cast<int>(D + c)) : size[c];
        }
      }
    }
    return true;
  }
  // Whether a body belongs to a level by its size.
  template <Shape S>
  static bool takes(const Sizes& sizes, const T* position, const T* size) {
    if constexpr (S == Shape::point) return true;
    if constexpr (S == Shape::sphere) return size[0] > sizes.above && size[0] <= sizes.most;
    double longest = 0;
    bool fit = true;
    for (std::size_t a = 0; a < D; ++a) {
      const double edge = static_cast<double>(size[a]) - static_cast<double>(position[a]);
      longest = std::max(longest, edge);
      fit = fit && edge <= sizes.edges[a];
    }
    return fit && longest > sizes.above && longest <= sizes.most;
  }
  // The bin of every slot, which `enter` keeps up to date from then on.
  void note_bins() {
    if (slot_bins_.size() > 0) return;
    slot_bins_.reset(bodies_.slots);
    for (const std::uint32_t index : occupied_)
      std::fill_n(slot_bins_.data() + bins_[index].begin, bins_[index].count, index);
  }

  // Bodies that stay where they are get another number, or -1 if they leave.
  template <class Number>
  void renumber(Bin& bin, Number&& number) {
    const Slot end = bin.begin + bin.count;
    Slot to = bin.begin;
    for (Slot k = bin.begin; k < end; ++k) {
      const std::int32_t id = number(bodies_.ids[k]);
      if (id < 0) continue;
      if (to != k) bodies_.move(k, to);
      bodies_.ids[to++] = id;
    }
    close(bin, to, end);
  }
  void close(Bin& bin, Slot to, Slot end) {
    bin.count = to - bin.begin;
    for (; to < end; ++to) bodies_.ids[to] = -1;
  }

  void enter(std::span<const Mover> movers) {
    moved_ += movers.size();
    if (!movers.empty()) compact_ = false;
    for (const Mover& mover : movers) {
      const Slot slot = room_in(mover.bin);
      bodies_.place(mover.id, slot);
      if (slot_bins_.size() > 0) slot_bins_[slot] = mover.bin;
      ++levels_[level_at(mover.bin)].bodies;  // those who left are not counted off: only 0 matters
    }
  }
  // A free slot at the end of a bin.
  Slot room_in(std::uint32_t index) {
    Bin& bin = bins_[index];
    if (!listed_[index]) {
      listed_[index] = true;
      occupied_.push_back(index);
    }
    const Slot next = bin.begin + bin.count;
    if (next >= bodies_.slots || bodies_.ids[next] >= 0) {
      const auto begin = static_cast<Slot>(bodies_.slots);
      bodies_.resize(bodies_.slots + std::max<std::size_t>(2 * bin.count, 4));
      if (slot_bins_.size() > 0) slot_bins_.resize(bodies_.slots);
      for (Slot k = 0; k < bin.count; ++k) {
        bodies_.move(bin.begin + k, begin + k);
        if (slot_bins_.size() > 0) slot_bins_[begin + k] = index;
      }
      bin.begin = begin;
    }
    return bin.begin + bin.count++;
  }

  static constexpr std::size_t piece_slots = 1 << 14;
  static constexpr Slot ahead = 32;  // bodies to prefetch

  Bodies<T, D> bodies_;
  Buffer<Bin> bins_;
  Buffer<std::uint32_t> slot_bins_;      // of every slot that is not a hole, once bodies have moved
  std::vector<std::uint32_t> occupied_;  // bins that hold bodies, and some that held some
  std::vector<bool> listed_;             // bins in `occupied_`
  bool compact_ = false;                 // bodies are in the order of bins, without holes
  std::size_t moved_ = 0;
};

}  // namespace vicinal
