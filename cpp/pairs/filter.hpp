// Which hits are pairs: removes those of types, groups or distances that the user leaves out.
//
// The vector code finds the hits within the largest reach; a filter looks at each of them once, before it is written.
// So it costs time per hit, not per candidate, and serves every structure and every kind of result.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/bodies.hpp"
#include "index/structure.hpp"
#include "pairs/measure.hpp"

namespace vicinal {

// Arrays are by the user's number, and empty if unused. Numbers are exact in the dtype of the bodies.
struct PairFilter {
  std::vector<double> squared;  // the squared cutoff of two types, row by row; negative: they form no pairs
  std::size_t kinds = 0;        // the number of types
  std::span<const std::int32_t> types, query_types;
  std::span<const std::int32_t> groups, query_groups;  // bodies of one group form no pairs; negative: no group
  std::span<const std::int64_t> excluded_offsets;      // rows of excluded neighbours, each in ascending order
  std::span<const std::int32_t> excluded;
  double least = 0;        // the squared smallest distance
  bool narrowest = false;  // spheres: a pair within twice the smaller radius
  // The bodies, or the queries if `round_queries`, are boxes around spheres, which are tested against boxes: the
  // centres, row by row, and the radii, both of the dtype of the bodies.
  const void* centres = nullptr;
  const void* radii = nullptr;
  bool round_queries = false;

  // Whether distances are needed.
  [[nodiscard]] bool measures() const { return kinds > 0 || least > 0 || narrowest; }
};

// A filter at work on the hits of queries, given by slot.
template <class T, int D>
class HitFilter {
 public:
  HitFilter(const PairFilter& filter, const Bodies<T, D>& queries, const Bodies<T, D>& bodies)
      : filter_(filter), queries_(queries), bodies_(bodies), squared_(filter.squared.begin(), filter.squared.end()),
        least_(static_cast<T>(filter.least)) {}

  // Copies the hits of a query that are pairs to `to`, which may be `hits` or before it; returns their number.
  std::uint32_t keep(Slot query, const Shift& shift, const std::int32_t* hits, std::uint32_t n, std::int32_t* to) {
    const auto id = static_cast<std::size_t>(queries_.ids[query]);
    std::uint32_t kept = n;
    if (!filter_.groups.empty()) {
      const std::int32_t group = filter_.query_groups[id];
      if (group >= 0)
        kept = keep_if(hits, kept, to, [&](std::size_t slot) { return filter_.groups[body(slot)] != group; });
      else if (hits != to) std::copy_n(hits, kept, to);
      hits = to;
    }
    if (!filter_.excluded_offsets.empty()) {
      const auto row = filter_.excluded.subspan(
          static_cast<std::size_t>(filter_.excluded_offsets[id]),
          static_cast<std::size_t>(filter_.excluded_offsets[id + 1] - filter_.excluded_offsets[id]));
      if (!row.empty())
        kept = keep_if(hits, kept, to, [&](std::size_t slot) {
          return !std::binary_search(row.begin(), row.end(), static_cast<std::int32_t>(body(slot)));
        });
      else if (hits != to) std::copy_n(hits, kept, to);
      hits = to;
    }
    if (filter_.centres != nullptr) return keep_round(query, id, shift, hits, kept, to);
    if (filter_.measures()) return keep_measured(query, id, shift, hits, kept, to);
    if (hits != to) std::copy_n(hits, kept, to);
    return kept;
  }

 private:
  [[nodiscard]] std::size_t body(std::size_t slot) const { return static_cast<std::size_t>(bodies_.ids[slot]); }

  // Without branches: which hits are kept is unpredictable.
  template <class Good>
  static std::uint32_t keep_if(const std::int32_t* hits, std::uint32_t n, std::int32_t* to, Good&& good) {
    std::uint32_t kept = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      const std::int32_t slot = hits[k];
      to[kept] = slot;
      kept += good(static_cast<std::size_t>(slot)) ? 1 : 0;
    }
    return kept;
  }

  std::uint32_t keep_measured(Slot query, std::size_t id, const Shift& shift, const std::int32_t* hits, std::uint32_t n,
                              std::int32_t* to) const {
    const Measure<T, D> measure(queries_, bodies_, query, shift);
    const T least = least_;
    if (filter_.kinds > 0) {
      const T* const squared = squared_.data() + static_cast<std::size_t>(filter_.query_types[id]) * filter_.kinds;
      const std::int32_t* const types = filter_.types.data();
      return keep_if(hits, n, to, [&](std::size_t slot) {
        const T d2 = measure.squared(slot);
        return static_cast<int>(d2 <= squared[types[body(slot)]]) & static_cast<int>(d2 >= least);
      });
    }
    if (filter_.narrowest) {
      const T mine = queries_.raw.radius(id);
      return keep_if(hits, n, to, [&](std::size_t slot) {
        const T d2 = measure.squared(slot);
        const T smaller = std::min(mine, bodies_.raw.radius(body(slot)));
        const T reach = smaller + smaller;
        return static_cast<int>(d2 <= reach * reach) & static_cast<int>(d2 >= least);
      });
    }
    return keep_if(hits, n, to, [&](std::size_t slot) { return measure.squared(slot) >= least; });
  }

  // A sphere and a box: the distance of the centre, as seen from the box, to the nearest point of the box. The boxes
  // around spheres were wrapped by their lower corners, so the shift of a centre differs from that of its box.
  std::uint32_t keep_round(Slot query, std::size_t id, const Shift& shift, const std::int32_t* hits, std::uint32_t n,
                           std::int32_t* to) const {
    const auto* const centres = static_cast<const T*>(filter_.centres);
    const auto* const radii = static_cast<const T*>(filter_.radii);
    const Box<T, D>& box = bodies_.box;
    const bool mine = filter_.round_queries;
    return keep_if(hits, n, to, [&](std::size_t slot) {
      const std::size_t sphere = mine ? id : body(slot);
      const BodyView<T, D>& around = mine ? queries_.raw : bodies_.raw;
      const Bodies<T, D>& boxes = mine ? bodies_ : queries_;
      const std::size_t at = mine ? slot : query;
      const T* const centre = centres + sphere * D;
      auto moved = box.wraps(centre);
      const auto corner = box.wraps(around.data + sphere * D);
      for (std::size_t a = 0; a < D; ++a) moved[a] += (mine ? -shift[a] : shift[a]) - corner[a];
      const auto wrapped = box.wrap(centre);
      const auto image = box.image(moved);
      T sum = 0;
      for (std::size_t a = 0; a < D; ++a) {
        const T x = wrapped[a] + image[a];
        const T beyond = std::max(boxes.exact[a][at] - x, x - boxes.exact[D + a][at]);
        const T d = std::max(beyond, T{0});
        sum = a == 0 ? d * d : sum + d * d;
      }
      return sum <= radii[sphere] * radii[sphere];
    });
  }

  const PairFilter& filter_;
  const Bodies<T, D>& queries_;
  const Bodies<T, D>& bodies_;
  std::vector<T> squared_;
  T least_;
};

}  // namespace vicinal
