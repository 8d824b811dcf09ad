// The requested columns of a result: i, j, distance, vector, shift.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "exec/memory.hpp"
#include "index/structure.hpp"
#include "pairs/measure_hits.hpp"

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

struct ColumnRegions {
  Region i, j, distance, vector, shift;
};

// Memory for columns of up to `capacity` entries. Untouched pages cost nothing, so capacity can be generous.
template <class T, int D>
struct ColumnStore : ColumnRegions {
  ColumnStore() = default;
  ColumnStore(const Want& want, std::size_t capacity, Pool* pool, PageSize pages = PageSize::huge) {
    const auto take = [&](bool wanted, std::size_t bytes) {
      if (!wanted) return Region();
      const std::size_t room = capacity * bytes + overrun;
      return pool != nullptr ? pool->take(room, pages) : Region(room, pages);
    };
    // The largest first: each takes the largest kept pages that fit, and gives up those that it does not need.
    vector = take(want.vector, D * sizeof(T));
    shift = take(want.shift, D * sizeof(std::int32_t));
    distance = take(want.distance, sizeof(T));
    i = take(want.i, sizeof(std::int32_t));
    j = take(want.j, sizeof(std::int32_t));
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
  // Bytes per entry in all columns together.
  static std::size_t entry_bytes(const Want& want) {
    const std::size_t numbers = (want.i ? 1 : 0) + (want.j ? 1 : 0) + (want.shift ? D : 0);
    const std::size_t measures = (want.distance ? 1 : 0) + (want.vector ? D : 0);
    return numbers * sizeof(std::int32_t) + measures * sizeof(T);
  }
};

namespace detail {

// Shifts of hits between the bodies as given, in units of the user: wrapping moved each of the two by some edges.
template <class T, int D>
void describe_shifts(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, const std::int32_t* query_slots,
                     std::span<const std::int32_t> slots, const Shift& shift, std::int32_t* to) {
  using Row = typename Bodies<T, D>::WrapRow;
  if (slots.empty()) return;
  typename Box<T, D>::Integers image{};
  for (std::size_t a = 0; a < D; ++a) image[a] = shift[a];
  image = bodies.box.given(image);
  Row moved{};
  std::copy(image.begin(), image.end(), moved.begin());
  // Rows are written whole: their ends are overwritten by the next one.
  const auto write = [&](const auto& shift_of) {
    const std::size_t last = slots.size() - 1;
    for (std::size_t k = 0; k < last; ++k) {
      const Row one = shift_of(k);
      std::memcpy(to + k * D, one.data(), sizeof(one));
    }
    const Row one = shift_of(last);
    std::copy_n(one.data(), D, to + last * D);
  };
  if (queries.wraps.size() == 0 && bodies.wraps.size() == 0) return write([&](std::size_t) { return moved; });
  // One of the two sets may have no wraps: then all its bodies share a row of zeros.
  static constexpr Row none{};
  struct Wraps {
    const Row* rows;
    std::uint32_t mask;
    const Row& operator[](std::int32_t slot) const { return rows[static_cast<std::uint32_t>(slot) & mask]; }
  };
  const auto wraps_of = [](const Bodies<T, D>& of) {
    return of.wraps.size() == 0 ? Wraps{&none, 0} : Wraps{of.wraps.data(), ~0U};
  };
  const Wraps of_queries = wraps_of(queries), of_bodies = wraps_of(bodies);
  write([&](std::size_t k) {
    const Row &of_query = of_queries[query_slots[k]], &of_body = of_bodies[slots[k]];
    Row one;
    for (std::size_t a = 0; a < one.size(); ++a) one[a] = (of_query[a] - of_body[a]) + moved[a];
    return one;
  });
}

}  // namespace detail

// Fills the columns of hits that are given by the slots of queries and bodies, all in one image, from entry `at` on.
// The bodies are `complete`.
template <class T, int D>
void describe_hits(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, const std::int32_t* query_slots,
                   std::span<const std::int32_t> slots, const Shift& shift, const Columns<T>& to, std::size_t at) {
  const auto from = [at](auto* column, std::size_t width) { return column != nullptr ? column + at * width : nullptr; };
  HitMeasure<T, D>(queries, bodies, shift)
      .pairs(query_slots, slots, {from(to.distance, 1), nullptr, from(to.vector, D), from(to.i, 1), from(to.j, 1)});
  if (to.shift != nullptr) detail::describe_shifts(queries, bodies, query_slots, slots, shift, to.shift + at * D);
}

}  // namespace vicinal
