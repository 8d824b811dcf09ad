// The bins of the hierarchical hash grid: the slots of their bodies, and the moves of bodies between bins.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "index/cell_order.hpp"
#include "index/hash_levels.hpp"
#include "index/near_frame.hpp"
#include "index/stay.hpp"
#include "index/structure.hpp"

namespace vicinal {

template <class T, int D>
class HashBins {
 public:
  using Levels = HashLevels<T, D>;
  static constexpr std::uint32_t nowhere = Levels::nowhere;
  static constexpr std::size_t piece_bins = 1024;

  // The bodies of slots begin … begin + count - 1.
  struct Bin {
    Slot begin;
    std::uint32_t count;
  };
  // A body that enters a bin.
  struct Mover {
    std::uint32_t id, bin;
  };

  explicit HashBins(std::unique_ptr<const HashPlan<T, D>> plan) : levels_(std::move(plan)) {}

  // Lays levels over the bodies and sorts them into bins.
  void lay_out(const BodyView<T, D>& bodies) {
    levels_.lay(bodies);
    moved_ = 0;
    // Room in the frame for bodies that drift a little.
    BodyView<T, D> roomy = bodies;
    for (std::size_t a = 0; a < D; ++a) {
      const double margin = (static_cast<double>(bodies.high[a]) - static_cast<double>(bodies.low[a])) / 16;
      if (!std::isfinite(margin)) continue;
      roomy.low[a] -= static_cast<T>(margin);
      roomy.high[a] += static_cast<T>(margin);
    }
    const Box<T, D>& box = levels_.settings().box;
    bodies_.reset(bodies, box, near_frame(roomy, box, levels_.reach().largest()));
    order_by_key(levels_.bins(), *this, bodies_);
    list_bins();
  }
  // Lays out again with finer cells if a body shares a wide cell with far more bodies than intended.
  bool refine() {
    double worst = 0;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      if (!levels_[l].wide) continue;
      double bodies = 0;
      double squares = 0;
      for (const std::uint32_t index : occupied_) {
        if (index < levels_[l].first || index >= levels_.end_of(l)) continue;
        const double count = bins_[index].count;
        bodies += count;
        squares += count * count;
      }
      if (bodies > 0) worst = std::max(worst, squares / bodies);
    }
    return levels_.refine(worst);
  }
  // The keys for order_by_key: the bin of each body.
  template <class F>
  void for_each(std::size_t begin, std::size_t end, F&& f) const {
    for (std::size_t p = begin; p < end; ++p) f(p, std::uint64_t{bin_of(p)});
  }

  [[nodiscard]] const Levels& levels() const { return levels_; }
  [[nodiscard]] const Bodies<T, D>& bodies() const { return bodies_; }
  [[nodiscard]] const Bin& operator[](std::uint32_t bin) const { return bins_[bin]; }
  // Bins that hold bodies, and some that held bodies before.
  [[nodiscard]] std::span<const std::uint32_t> occupied() const { return occupied_; }
  [[nodiscard]] std::size_t pieces() const { return (occupied_.size() + piece_bins - 1) / piece_bins; }
  // The occupied bins of one piece of work.
  [[nodiscard]] std::span<const std::uint32_t> piece(std::size_t piece) const {
    const std::size_t first = piece * piece_bins;
    return occupied().subspan(first, std::min(piece_bins, occupied_.size() - first));
  }
  // Bodies are in the order of bins, without holes.
  [[nodiscard]] bool compact() const { return compact_; }
  // Bodies that changed bin since the last layout.
  [[nodiscard]] std::size_t moved() const { return moved_; }
  [[nodiscard]] std::uint32_t bin_of(std::size_t body) const { return levels_.bin_of(bodies_, body); }
  [[nodiscard]] std::size_t bytes() const {
    return bins_.bytes() + slot_bins_.bytes() + occupied_.capacity() * sizeof(std::uint32_t) + listed_.size() / 8;
  }

  // Called before positions, sizes or the number of bodies change; bodies stay in their slots.
  void view(const BodyView<T, D>& bodies) {
    bodies_.size = bodies.size;
    bodies_.raw = bodies;
  }

  // Moves bodies to their new bins; `resized`: bodies may also have changed size. Returns false, with the move
  // incomplete, if no level takes the size of a body. Loops over slots instead of bins, since the overhead of a loop
  // over the few bodies of a bin exceeds the work per body.
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
    // The last body of a bin takes the slot of a body that leaves. Goes backwards, so that the last body is one that
    // stays.
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
  void enter(std::span<const Mover> movers) {
    moved_ += movers.size();
    if (!movers.empty()) compact_ = false;
    for (const Mover& mover : movers) {
      const Slot slot = room_in(mover.bin);
      bodies_.place(mover.id, slot);
      if (slot_bins_.size() > 0) slot_bins_[slot] = mover.bin;
      levels_.count_in(mover.bin);
    }
  }
  // Renumbers every body as number[id], or removes it if that is -1.
  void renumber(std::span<const std::int32_t> number) {
    parallel_for(pieces(), [&](std::size_t piece, int) {
      for (const std::uint32_t bin : this->piece(piece))
        renumber(bins_[bin], [&](std::int32_t id) { return number[static_cast<std::size_t>(id)]; });
    });
    compact_ = false;
  }

 private:
  struct Leaver {
    Slot slot;
    Mover mover;
  };

  void list_bins() {
    bins_.reset(levels_.bins());
    listed_.assign(levels_.bins(), false);
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
    for (; index < levels_.bins(); ++index) bins_[index] = {static_cast<Slot>(bodies_.size), 0};
    bodies_.group_key.release();
    bodies_.group_begin.release();
    bodies_.groups = 0;
    slot_bins_.release();
    compact_ = true;
  }

  // The values of a level that moving bodies needs.
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
                     levels_.settings().box.edge[a],
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

  // `Resized`: the shape of bodies that may have changed size.
  template <bool Banded, Shape Resized>
  bool move_piece(std::size_t begin, std::size_t end, std::vector<Leaver>& leavers) {
    std::size_t level = 0;
    std::uint32_t bins = levels_[level].bins();
    StayJob<T> job = job_of(level, static_cast<Slot>(end));
    const auto enter_level = [&](std::uint32_t bin) {
      if (bin - job.first < bins) return;
      level = levels_.level_at(bin);
      bins = levels_[level].bins();
      job = job_of(level, static_cast<Slot>(end));
    };
    const auto one = [&](std::size_t k) {
      if (job.ids[k] < 0) return true;
      enter_level(job.bins[k]);
      return move_body<Banded, Resized>(job, levels_[level], k, leavers);
    };
    if (const Stay<T> stay = stay_in_vectors(D, Resized, Banded, T{}); stay != nullptr) {
      std::array<std::uint32_t, stay_slots> rest;
      for (std::size_t first = begin; first < end; first += stay_slots) {
        enter_level(job.bins[first]);
        job.begin = static_cast<Slot>(first);
        job.end = static_cast<Slot>(std::min(first + stay_slots, end));
        const std::uint32_t count = stay(job, rest.data());
        for (std::uint32_t k = 0; k < count; ++k)
          if (!one(rest[k])) return false;
      }
      return true;
    }
    for (std::size_t k = begin; k < end; ++k) {
      prefetch_ahead<D, columns_of(Resized, D) - D>(job, static_cast<Slot>(k));
      if (!one(k)) return false;
    }
    return true;
  }
  // Updates one body in its slot, or records that it leaves its bin. Returns false if no level takes it.
  template <bool Banded, Shape Resized>
  bool move_body(const StayJob<T>& job, const HashLevel<D>& level, std::size_t k, std::vector<Leaver>& leavers) {
    constexpr auto extras = static_cast<std::size_t>(columns_of(Resized, D) - D);
    const auto id = static_cast<std::size_t>(job.ids[k]);
    const T* const position = job.positions + id * D;
    const T* const size = job.extra + id * extras;
    std::array<T, D> x;
    for (std::size_t a = 0; a < D; ++a) x[a] = levels_.settings().box.wrap(position[a], static_cast<int>(a));
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
  // The bin of every slot (arbitrary for holes), which `enter` keeps up to date from then on.
  void note_bins() {
    if (slot_bins_.size() > 0) return;
    slot_bins_.reset(bodies_.slots);
    std::fill_n(slot_bins_.data(), bodies_.slots, 0U);
    for (const std::uint32_t index : occupied_)
      std::fill_n(slot_bins_.data() + bins_[index].begin, bins_[index].count, index);
  }

  // Renumbers the bodies in their slots; -1 marks bodies that leave.
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
  static constexpr std::size_t stay_slots = 256;  // usually all in one level; a multiple of the lanes

  Levels levels_;
  Bodies<T, D> bodies_;
  Buffer<Bin> bins_;
  Buffer<std::uint32_t> slot_bins_;  // per slot; filled once bodies have moved
  std::vector<std::uint32_t> occupied_;
  std::vector<bool> listed_;  // per bin: whether it is in `occupied_`
  bool compact_ = false;      // bodies are in the order of bins, without holes
  std::size_t moved_ = 0;
};

}  // namespace vicinal
