// The requested columns of a result: i, j, distance, vector, shift.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "exec/memory.hpp"
#include "index/structure.hpp"

namespace vicinal {

struct Want {
  bool i = false, j = false, distance = false, vector = false, shift = false;
  bool filtered = false;  // hits pass a filter (pairs/filter.hpp) before they are described

  // Distances and vectors need positions, shifts need wraps, filters both: hits are then given by slot, not only by
  // number.
  [[nodiscard]] bool slots() const { return distance || vector || shift || filtered; }
};

// Pointers to the columns; null for columns that were not requested.
template <class T>
struct Columns {
  std::int32_t* i = nullptr;
  std::int32_t* j = nullptr;
  T* distance = nullptr;
  T* vector = nullptr;            // rows of D
  std::int32_t* shift = nullptr;  // rows of D

  // f(pointer of this, pointer of other, bytes per entry) for every column.
  template <int D, class F>
  static void for_each(const Columns& a, const Columns& b, F&& f) {
    f(a.i, b.i, sizeof(std::int32_t));
    f(a.j, b.j, sizeof(std::int32_t));
    f(a.distance, b.distance, sizeof(T));
    f(a.vector, b.vector, D * sizeof(T));
    f(a.shift, b.shift, D * sizeof(std::int32_t));
  }
};

// Memory for columns of up to `capacity` entries. Untouched pages cost nothing, so capacity can be generous.
template <class T, int D>
struct ColumnStore {
  Region i, j, distance, vector, shift;

  ColumnStore() = default;
  ColumnStore(const Want& want, std::size_t capacity, Pool* pool, PageSize pages = PageSize::huge) {
    const auto take = [&](bool wanted, std::size_t bytes) {
      if (!wanted) return Region();
      const std::size_t room = capacity * bytes + overrun;
      return pool != nullptr ? pool->take(room, pages) : Region(room, pages);
    };
    i = take(want.i, sizeof(std::int32_t));
    j = take(want.j, sizeof(std::int32_t));
    distance = take(want.distance, sizeof(T));
    vector = take(want.vector, D * sizeof(T));
    shift = take(want.shift, D * sizeof(std::int32_t));
  }
  [[nodiscard]] Columns<T> columns() const {
    return {static_cast<std::int32_t*>(i.data()), static_cast<std::int32_t*>(j.data()),
            static_cast<T*>(distance.data()), static_cast<T*>(vector.data()), static_cast<std::int32_t*>(shift.data())};
  }
  void give_to(Pool& pool) {
    for (Region* const region : {&i, &j, &distance, &vector, &shift})
      if (region->data() != nullptr) pool.give(std::move(*region));
  }
  void trim(std::size_t entries) {
    i.trim(entries * sizeof(std::int32_t));
    j.trim(entries * sizeof(std::int32_t));
    distance.trim(entries * sizeof(T));
    vector.trim(entries * D * sizeof(T));
    shift.trim(entries * D * sizeof(std::int32_t));
  }
};

// Fills the columns d, D, S and j of hits given by slot.
template <class T, int D>
void describe_hits(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, Slot query, const Shift& shift,
                   const std::int32_t* slots, std::size_t n, const Columns<T>& to, std::size_t at) {
  const Box<T, D>& box = bodies.box;
  const std::array<T, D> image = box.image(shift);
  std::array<T, D> x{};
  std::array<std::int32_t, D> wraps{};
  if (to.distance != nullptr || to.vector != nullptr)
    for (std::size_t a = 0; a < D; ++a) x[a] = queries.exact[a][query];
  if (to.shift != nullptr) wraps = box.wraps(queries.raw.data + static_cast<std::size_t>(queries.ids[query]) * D);
  for (std::size_t k = 0; k < n; ++k) {
    const auto slot = static_cast<std::size_t>(slots[k]);
    const std::size_t entry = at + k;
    if (to.distance != nullptr || to.vector != nullptr) {
      T sum = 0;
      for (std::size_t a = 0; a < D; ++a) {
        T d = bodies.exact[a][slot] - x[a];
        // Also for 0, which turns -0 into 0, as the definition does.
        if (box.tilted || box.edge[a] > 0) d = d + image[a];
        sum = a == 0 ? d * d : sum + d * d;
        if (to.vector != nullptr) to.vector[entry * D + a] = d;
      }
      if (to.distance != nullptr) to.distance[entry] = std::sqrt(sum);
    }
    if (to.shift != nullptr) {
      // In the frame of the points as given: wrapping moved each of the two by some edges.
      auto moved = box.wraps(bodies.raw.data + static_cast<std::size_t>(bodies.ids[slot]) * D);
      for (std::size_t a = 0; a < D; ++a) moved[a] = shift[a] + wraps[a] - moved[a];
      moved = box.given(moved);
      std::copy(moved.begin(), moved.end(), to.shift + entry * D);
    }
    if (to.j != nullptr) to.j[entry] = bodies.ids[slot];
  }
}

}  // namespace vicinal
