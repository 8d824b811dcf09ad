// Ranks that share a fluid: particles that change ranks, and ghosts, which are particles of other ranks near the part
// of space of this one. In the middle of a step, values of particles are forwarded to their ghosts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "sph/particles.hpp"
#include "sph/wall_map.hpp"
#include "sph/walls.hpp"

namespace vicinal::sph {

// A part of space, without its upper ends; ends may be infinite.
template <int D>
struct SpacePart {
  Vector<D> low, high;
  [[nodiscard]] bool contains(const Vector<D>& x) const {
    for (std::size_t a = 0; a < D; ++a)
      if (!(x[a] >= low[a] && x[a] < high[a])) return false;
    return true;
  }
};

// Rows for all ranks, in their order, and the number of bytes for each.
struct Parcels {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> counts;
};

template <int D>
class Share {
 public:
  // What comes from a rank.
  using Take = std::function<void(std::size_t rank, std::span<const std::uint8_t>)>;
  // Sends parcels, and passes on what comes from each other rank, in their order. All ranks call it together.
  std::function<void(const Parcels&, const Take&)> swap;
  // Replaces whole numbers by their sums over all ranks, which call it together.
  std::function<void(std::span<std::int64_t>)> add;

  // The parts of all ranks, and the reach of particles. A rank needs to know particles within the reach of its part,
  // and within twice that those that wall particles see: their pressures depend on these.
  Share(std::vector<SpacePart<D>> parts, std::size_t rank, double reach, const FluidSpace<D>& space)
      : parts_(std::move(parts)), rank_(rank), reach_(reach), space_(space), moved_(parts_.size()),
        copied_(parts_.size()) {
    for (SpacePart<D>& part : parts_)
      for (std::size_t a = 0; a < D; ++a) {
        if (!space_.periodic(a)) continue;
        part.low[a] = std::max(part.low[a], space_.low[a]);
        part.high[a] = std::min(part.high[a], space_.low[a] + space_.period[a]);
      }
    const SpacePart<D>& own = parts_[rank_];
    for (std::size_t r = 0; r < parts_.size(); ++r) {
      const auto apart = [&](std::size_t a, double by) {
        return std::max(own.low[a] + by - parts_[r].high[a], parts_[r].low[a] - own.high[a] - by);
      };
      if (within(4 * reach_, apart)) close_.push_back(r);
    }
    parcels_.bytes.reserve(1);  // an array needs an address even if it is empty
  }

  // Takes note of the places of all wall particles.
  void see_walls(std::span<const WallParticle<D>> walls) {
    walls_.emplace(walls, space_, reach_);
    has_walls_ = !walls.empty();
  }
  [[nodiscard]] bool has_seen_walls() const { return walls_.has_value(); }

  // Sends particles that have left the part of this rank to their ranks, and copies to all ranks near them.
  void exchange(Buffer<Particle<D>>& particles, Buffer<Particle<D>>& ghosts) {
    swap(depart(particles, ghosts),
         [&](std::size_t, std::span<const std::uint8_t> parcel) { arrive(parcel, particles, ghosts); });
  }

  // Notes which own particles are ghosts on which ranks, and where ghosts come from. `seen(slot)` is the particle in a
  // slot, and `is_own(slot)` whether it is one of this rank. All ranks find the same ghosts by the places of particles,
  // and have them in the order of ids.
  template <class Seen, class IsOwn>
  void link(std::size_t slots, Seen&& seen, IsOwn&& is_own) {
    leaving_.assign(parts_.size(), {});
    arriving_.assign(parts_.size(), {});
    const SpacePart<D> inner = widened(parts_[rank_], -farthest());
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const Particle<D>& p = seen(slot);
      const bool own = is_own(slot);
      if (own && inner.contains(p.x)) continue;
      for (const std::size_t r : close_)
        if (r != rank_ && (own ? needs(r, p.x) : parts_[r].contains(p.x)))
          (own ? leaving_ : arriving_)[r].push_back({p.id, static_cast<std::uint32_t>(slot)});
    }
    for (auto* const all : {&leaving_, &arriving_})
      for (std::vector<Linked>& some : *all)
        std::sort(some.begin(), some.end(), [](const Linked& one, const Linked& other) { return one.id < other.id; });
  }
  // Replaces the first numbers of ghosts, which have four in each slot, by those of the particles.
  template <class T>
  void forward(T* values, std::size_t numbers) {
    const std::size_t bytes = numbers * sizeof(T);
    parcels_.bytes.clear();
    for (std::size_t r = 0; r < parts_.size(); ++r) {
      for (const Linked& one : leaving_[r]) append(values + std::size_t{4} * one.slot, bytes);
      parcels_.counts[r] = static_cast<std::int64_t>(leaving_[r].size() * bytes);
    }
    swap(parcels_, [&](std::size_t r, std::span<const std::uint8_t> parcel) {
      if (parcel.size() != arriving_[r].size() * bytes) throw std::logic_error("ranks disagree about ghosts");
      const std::uint8_t* from = parcel.data();
      for (const Linked& one : arriving_[r]) {
        std::memcpy(values + std::size_t{4} * one.slot, from, bytes);
        from += bytes;
      }
    });
  }

  // Whether a place is in the part of this rank.
  [[nodiscard]] bool owns(const Vector<D>& x) const { return parts_[rank_].contains(x); }

  // Whether a box may hold wall particles that act on particles of this rank, or lie in its part.
  [[nodiscard]] bool reaches(const Vector<D>& middle, const Vector<D>& half, double reach) const {
    const SpacePart<D>& own = parts_[rank_];
    return within(reach, [&](std::size_t a, double by) {
      return std::max(own.low[a] + by - middle[a], middle[a] - own.high[a] - by) - half[a];
    });
  }

 private:
  // A particle that is a ghost on another rank, or the ghost.
  struct Linked {
    std::uint32_t id, slot;
  };
  static SpacePart<D> widened(SpacePart<D> part, double by) {
    for (std::size_t a = 0; a < D; ++a) part.low[a] -= by, part.high[a] += by;
    return part;
  }
  // How far from its part a rank may need particles.
  [[nodiscard]] double farthest() const { return has_walls_ ? 2 * reach_ : reach_; }

  // Divides particles into those that stay, those that go to other ranks, and ghosts. Returns what each rank gets: how
  // many particles it owns from now on, these particles, and ghosts.
  const Parcels& depart(Buffer<Particle<D>>& particles, Buffer<Particle<D>>& ghosts) {
    const SpacePart<D>& own = parts_[rank_];
    const double margin = farthest();
    const SpacePart<D> inner = widened(own, -margin), outer = widened(own, margin);
    std::vector<std::size_t> all(parts_.size());
    for (std::size_t r = 0; r < all.size(); ++r) {
      all[r] = r;
      moved_[r].clear(), copied_[r].clear();
    }
    std::size_t kept = 0;
    const auto keep = [&](std::size_t k) {
      if (kept != k) particles[kept] = particles[k];
      ++kept;
    };
    for (std::size_t k = 0; k < particles.size(); ++k) {
      if (inner.contains(particles[k].x)) {
        keep(k);
        continue;
      }
      const Particle<D> p = particles[k];
      const std::vector<std::size_t>& others = outer.contains(p.x) ? close_ : all;
      std::size_t owner = rank_;  // also of what is nowhere, such as a position that is not a number
      if (!own.contains(p.x))
        for (const std::size_t r : others)
          if (parts_[r].contains(p.x)) owner = r;
      if (owner == rank_) keep(k);
      else moved_[owner].push_back(p);
      for (const std::size_t r : others)
        if (r != owner && needs(r, p.x)) copied_[r].push_back(p);
    }
    particles.resize(kept);
    ghosts.reset(copied_[rank_].size());
    std::copy(copied_[rank_].begin(), copied_[rank_].end(), ghosts.data());
    parcels_.bytes.clear();
    parcels_.counts.assign(parts_.size(), 0);
    for (std::size_t r = 0; r < parts_.size(); ++r) {
      if (r == rank_ || (moved_[r].empty() && copied_[r].empty())) continue;
      const std::size_t before = parcels_.bytes.size();
      const std::uint64_t count = moved_[r].size();
      append(&count, sizeof count);
      append(moved_[r].data(), moved_[r].size() * sizeof(Particle<D>));
      append(copied_[r].data(), copied_[r].size() * sizeof(Particle<D>));
      parcels_.counts[r] = static_cast<std::int64_t>(parcels_.bytes.size() - before);
    }
    return parcels_;
  }

  // Adds what came from another rank.
  static void arrive(std::span<const std::uint8_t> parcel, Buffer<Particle<D>>& particles,
                     Buffer<Particle<D>>& ghosts) {
    if (parcel.empty()) return;
    std::uint64_t count = 0;
    if (parcel.size() < sizeof count || (parcel.size() - sizeof count) % sizeof(Particle<D>) != 0)
      throw std::invalid_argument("a parcel of particles has a wrong size");
    std::memcpy(&count, parcel.data(), sizeof count);
    const std::size_t total = (parcel.size() - sizeof count) / sizeof(Particle<D>);
    if (count > total) throw std::invalid_argument("a parcel of particles has a wrong size");
    const std::uint8_t* from = parcel.data() + sizeof count;
    const auto add = [&](Buffer<Particle<D>>& to, std::size_t n) {
      const std::size_t old = to.size();
      to.resize(old + n);
      if (n > 0) std::memcpy(static_cast<void*>(to.data() + old), from, n * sizeof(Particle<D>));
      from += n * sizeof(Particle<D>);
    };
    add(particles, count);
    add(ghosts, total - count);
  }

  // Whether distances along the axes are at most `limit`, for one of the images that is shifted `by` a period.
  template <class F>
  [[nodiscard]] bool within(double limit, F&& apart) const {
    for (std::size_t a = 0; a < D; ++a) {
      double least = apart(a, 0.0);
      if (space_.periodic(a)) least = std::min({least, apart(a, space_.period[a]), apart(a, -space_.period[a])});
      if (!(least <= limit)) return false;
    }
    return true;
  }
  [[nodiscard]] bool needs(std::size_t rank, const Vector<D>& x) const {
    const SpacePart<D>& part = parts_[rank];
    const auto apart = [&](std::size_t a, double by) {
      return std::max(part.low[a] + by - x[a], x[a] - part.high[a] - by);
    };
    return within(reach_, apart) || (has_walls_ && within(2 * reach_, apart) && walls_->near(x));
  }
  void append(const void* from, std::size_t bytes) {
    const auto* const begin = static_cast<const std::uint8_t*>(from);
    parcels_.bytes.insert(parcels_.bytes.end(), begin, begin + bytes);
  }

  std::vector<SpacePart<D>> parts_;
  std::size_t rank_;
  double reach_;
  FluidSpace<D> space_;
  std::optional<WallMap<D>> walls_;
  bool has_walls_ = false;
  std::vector<std::size_t> close_;  // ranks whose parts a particle next to this one can be near
  std::vector<std::vector<Particle<D>>> moved_, copied_;
  std::vector<std::vector<Linked>> leaving_, arriving_;  // by rank
  Parcels parcels_;
};

}  // namespace vicinal::sph
