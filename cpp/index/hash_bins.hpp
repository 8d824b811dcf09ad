// The bins of the hierarchical hash grid: where the bodies of each are, and how they move from one to another.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/isa.hpp"
#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "index/hash_levels.hpp"
#include "index/stay.hpp"
#include "index/structure.hpp"

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
    const BodyView<T, D>& points = bodies_.raw;
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

  // What moving bodies needs of a level.
  StayJob<T> job_of(std::size_t l, Slot end) {
    StayJob<T> job{};
    const HashLevel<D>& level = levels_[l];
    for (std::size_t a = 0; a < D; ++a) {
      const HashAxis& line = level.axis[a];
      job.axis[a] = {line.origin,
                     line.inverse,
                     line.lowest,
                     line.highest,
                     line.lift,
                     line.mask,
                     settings_.box.edge[a],
                     bodies_.frame.centre[a],
                     bodies_.frame.low[a],
                     bodies_.frame.high[a],
                     level.edge_limit[a],
                     bodies_.near[a].data(),
                     bodies_.exact[a].data()};
      if (D + a < bodies_.columns()) job.grown[a] = bodies_.exact[D + a].data();
    }
    job.scale = bodies_.frame.scale;
    job.above = l > 0 ? levels_[l - 1].limit : -1;
    job.most = level.limit;
    job.first = level.first;
    job.positions = bodies_.raw.data;
    job.extra = bodies_.raw.extra;
    job.near_radius = bodies_.near[D].data();
    job.ids = bodies_.ids.data();
    job.bins = slot_bins_.data();
    job.finish = end;
    return job;
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
    std::size_t level = 0;
    std::uint32_t bins = levels_[level].bins();
    StayJob<T> job = job_of(level, static_cast<Slot>(end));
    const auto enter_level = [&](std::uint32_t bin) {
      if (bin - job.first < bins) return;
      level = level_at(bin);
      bins = levels_[level].bins();
      job = job_of(level, static_cast<Slot>(end));
    };
    const auto one = [&](std::size_t k) {
      if (job.ids[k] < 0) return true;
      enter_level(job.bins[k]);
      return move_body<Banded, Resized>(job, levels_[level], k, leavers);
    };
#ifdef VICINAL_X86
    if (isa_setting().load(std::memory_order_relaxed) != Isa::baseline) {
      const Stay<T> stay = stay_avx2(D, Resized, Banded, T{});
      std::array<std::uint32_t, stay_slots> others;
      for (std::size_t first = begin; first < end; first += stay_slots) {
        enter_level(job.bins[first]);
        job.begin = static_cast<Slot>(first);
        job.end = static_cast<Slot>(std::min(first + stay_slots, end));
        const std::uint32_t count = stay(job, others.data());
        for (std::uint32_t k = 0; k < count; ++k)
          if (!one(others[k])) return false;
      }
      return true;
    }
#endif
    for (std::size_t k = begin; k < end; ++k) {
      prefetch_ahead<D, columns_of(Resized, D) - D>(job, static_cast<Slot>(k));
      if (!one(k)) return false;
    }
    return true;
  }
  // Puts one body to its new place, or notes that it leaves. Returns false if there is no level for it.
  template <bool Banded, Shape Resized>
  bool move_body(const StayJob<T>& job, const HashLevel<D>& level, std::size_t k, std::vector<Leaver>& leavers) {
    constexpr auto extras = static_cast<std::size_t>(columns_of(Resized, D) - D);
    const auto id = static_cast<std::size_t>(job.ids[k]);
    const T* const position = job.positions + id * D;
    const T* const size = job.extra + id * extras;
    std::array<T, D> x;
    for (std::size_t a = 0; a < D; ++a) x[a] = settings_.box.wrap(position[a], static_cast<int>(a));
    const std::uint32_t there =
        takes<Resized>(job, position, size)
            ? level.bin([&](int a) { return static_cast<double>(x[static_cast<std::size_t>(a)]); })
            : bin_of(id);
    if (there == nowhere) return false;
    if (there != job.bins[k]) {
      leavers.push_back({static_cast<Slot>(k), {static_cast<std::uint32_t>(id), there}});
      return true;
    }
    for (std::size_t a = 0; a < D; ++a) {
      if constexpr (Banded) job.axis[a].near[k] = bodies_.frame(static_cast<double>(x[a]), static_cast<int>(a));
      else job.axis[a].exact[k] = x[a];
    }
    if constexpr (Banded && extras > 0) {
      job.near_radius[k] = static_cast<float>(static_cast<double>(size[0]) * job.scale);
    } else {
      for (std::size_t c = 0; c < extras; ++c) {
        // The upper corner of a box moves with the lower one.
        const bool wrapped = Resized == Shape::box && x[c] != position[c];
        job.grown[c][k] = wrapped ? bodies_.value(id, static_cast<int>(D + c)) : size[c];
      }
    }
    return true;
  }
  // Whether a body belongs to a level by its size.
  template <Shape S>
  static bool takes(const StayJob<T>& job, const T* position, const T* size) {
    if constexpr (S == Shape::point) return true;
    if constexpr (S == Shape::sphere) return size[0] > job.above && size[0] <= job.most;
    double longest = 0;
    bool fit = true;
    for (std::size_t a = 0; a < D; ++a) {
      const double edge = static_cast<double>(size[a]) - static_cast<double>(position[a]);
      longest = std::max(longest, edge);
      fit = fit && edge <= job.axis[a].longest;
    }
    return fit && longest > job.above && longest <= job.most;
  }
  // The bin of every slot (any, of a hole), which `enter` keeps up to date from then on.
  void note_bins() {
    if (slot_bins_.size() > 0) return;
    slot_bins_.reset(bodies_.slots);
    std::fill_n(slot_bins_.data(), bodies_.slots, 0U);
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
      bodies_.resize(bodies_.slots + bin.count + 1 + bin.count / 2);
      if (slot_bins_.size() > 0) {
        slot_bins_.resize(bodies_.slots);
        std::fill(slot_bins_.data() + begin, slot_bins_.data() + bodies_.slots, index);
      }
      for (Slot k = 0; k < bin.count; ++k) bodies_.move(bin.begin + k, begin + k);
      bin.begin = begin;
    }
    return bin.begin + bin.count++;
  }

  static constexpr std::size_t piece_slots = 1 << 14;
  static constexpr std::size_t stay_slots = 256;  // of one level, as a rule; a multiple of the lanes

  Bodies<T, D> bodies_;
  Buffer<Bin> bins_;
  Buffer<std::uint32_t> slot_bins_;      // of every slot, once bodies have moved
  std::vector<std::uint32_t> occupied_;  // bins that hold bodies, and some that held some
  std::vector<bool> listed_;             // bins in `occupied_`
  bool compact_ = false;                 // bodies are in the order of bins, without holes
  std::size_t moved_ = 0;
};

}  // namespace vicinal
