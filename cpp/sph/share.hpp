// Ranks that share a fluid: particles that change ranks, and ghosts, which are particles of other ranks near the part
// of space of this one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "sph/particles.hpp"

namespace vicinal::sph {

// A part of space, without its upper ends; ends may be infinite.
template <int D>
struct Part {
  Vector<D> low, high;
  [[nodiscard]] bool contains(const Vector<D>& x) const {
    for (std::size_t a = 0; a < D; ++a)
      if (!(x[a] >= low[a] && x[a] < high[a])) return false;
    return true;
  }
};

template <int D>
class Share {
 public:
  // The parts of all ranks, and how far from its part a rank needs to know particles.
  Share(std::vector<Part<D>> parts, std::size_t rank, double margin, const Space<D>& space)
      : parts_(std::move(parts)), rank_(rank), margin_(margin), space_(space) {
    for (Part<D>& part : parts_)
      for (std::size_t a = 0; a < D; ++a) {
        if (!space_.periodic(a)) continue;
        part.low[a] = std::max(part.low[a], space_.low[a]);
        part.high[a] = std::min(part.high[a], space_.low[a] + space_.period[a]);
      }
    const Part<D>& own = parts_[rank_];
    for (std::size_t r = 0; r < parts_.size(); ++r) {
      const auto apart = [&](std::size_t a, double by) {
        return std::max(own.low[a] + by - parts_[r].high[a], parts_[r].low[a] - own.high[a] - by);
      };
      if (within(2 * margin_, apart)) close_.push_back(r);
    }
  }

  // Divides particles into those that stay, those that go to other ranks, and ghosts. Returns what each rank gets: how
  // many particles it owns from now on, these particles, and ghosts.
  std::vector<std::vector<std::uint8_t>> depart(Buffer<Particle<D>>& particles, Buffer<Particle<D>>& ghosts) const {
    const Part<D>& own = parts_[rank_];
    Part<D> inner = own, outer = own;
    for (std::size_t a = 0; a < D; ++a) {
      inner.low[a] += margin_, inner.high[a] -= margin_;
      outer.low[a] -= margin_, outer.high[a] += margin_;
    }
    std::vector<std::size_t> all(parts_.size());
    for (std::size_t r = 0; r < all.size(); ++r) all[r] = r;
    std::vector<std::vector<Particle<D>>> moved(parts_.size()), copied(parts_.size());
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
      else moved[owner].push_back(p);
      for (const std::size_t r : others)
        if (r != owner && needs(r, p.x)) copied[r].push_back(p);
    }
    particles.resize(kept);
    ghosts.reset(copied[rank_].size());
    std::copy(copied[rank_].begin(), copied[rank_].end(), ghosts.data());
    std::vector<std::vector<std::uint8_t>> parcels(parts_.size());
    for (std::size_t r = 0; r < parts_.size(); ++r) {
      if (r == rank_ || (moved[r].empty() && copied[r].empty())) continue;
      const std::uint64_t count = moved[r].size();
      append(parcels[r], &count, sizeof count);
      append(parcels[r], moved[r].data(), moved[r].size() * sizeof(Particle<D>));
      append(parcels[r], copied[r].data(), copied[r].size() * sizeof(Particle<D>));
    }
    return parcels;
  }

  // Adds what came from another rank.
  static void arrive(const std::uint8_t* parcel, std::size_t bytes, Buffer<Particle<D>>& particles,
                     Buffer<Particle<D>>& ghosts) {
    if (bytes == 0) return;
    std::uint64_t count = 0;
    if (bytes < sizeof count || (bytes - sizeof count) % sizeof(Particle<D>) != 0)
      throw std::invalid_argument("a parcel of particles has a wrong size");
    std::memcpy(&count, parcel, sizeof count);
    const std::size_t total = (bytes - sizeof count) / sizeof(Particle<D>);
    if (count > total) throw std::invalid_argument("a parcel of particles has a wrong size");
    parcel += sizeof count;
    const auto add = [&](Buffer<Particle<D>>& to, std::size_t n) {
      const std::size_t old = to.size();
      to.resize(old + n);
      if (n > 0) std::memcpy(static_cast<void*>(to.data() + old), parcel, n * sizeof(Particle<D>));
      parcel += n * sizeof(Particle<D>);
    };
    add(particles, count);
    add(ghosts, total - count);
  }

  // Whether a place is in the part of this rank.
  [[nodiscard]] bool owns(const Vector<D>& x) const { return parts_[rank_].contains(x); }

  // Whether a box may hold wall particles that act on particles of this rank, or lie in its part.
  [[nodiscard]] bool reaches(const Vector<D>& middle, const Vector<D>& half, double reach) const {
    const Part<D>& own = parts_[rank_];
    return within(reach, [&](std::size_t a, double by) {
      return std::max(own.low[a] + by - middle[a], middle[a] - own.high[a] - by) - half[a];
    });
  }

 private:
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
    const Part<D>& part = parts_[rank];
    return within(
        margin_, [&](std::size_t a, double by) { return std::max(part.low[a] + by - x[a], x[a] - part.high[a] - by); });
  }
  static void append(std::vector<std::uint8_t>& to, const void* from, std::size_t bytes) {
    const std::size_t old = to.size();
    to.resize(old + bytes);
    if (bytes > 0) std::memcpy(to.data() + old, from, bytes);
  }

  std::vector<Part<D>> parts_;
  std::size_t rank_;
  double margin_;
  Space<D> space_;
  std::vector<std::size_t> close_;  // ranks whose parts a particle next to this one can be near
};

}  // namespace vicinal::sph
