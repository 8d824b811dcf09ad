// Bodies in the order of a structure, in which neighbours in space are close in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "geometry/box.hpp"
#include "geometry/shape.hpp"
#include "index/body_view.hpp"
#include "index/near_frame.hpp"

namespace vicinal {

template <class T, int D>
struct LatticeBodies;

// What a hit tells about a body besides its slot, in one cache line: its wrapped position and the user's number.
template <class T, int D>
struct BodyDetail {
  std::array<T, D> x;
  std::int32_t id;
};

template <class T, int D>
struct Bodies {
  static constexpr std::size_t most = static_cast<std::size_t>(columns_of(Shape::box, D));
  std::size_t size = 0;
  std::size_t slots = 0;  // the number of bodies, or more if a structure leaves holes (slots whose id is -1)
  BodyView<T, D> raw;
  Box<T, D> box;
  NearFrame<D> frame;
  bool banded = false;                   // `near` is filled; otherwise `exact` is
  Buffer<std::int32_t> ids;              // the user's number of the body in each slot
  std::array<Buffer<float>, most> near;  // in the frame, for the test in float32
  std::array<Buffer<T>, most> exact;     // wrapped
  // The vectors that wrapping subtracted from a body, in units of those that the user gave; as long as a register.
  using WrapRow = std::array<std::int32_t, D == 3 ? 4 : 2>;
  // Filled by `complete` until bodies change. No wraps: every body was inside the cell.
  mutable Buffer<BodyDetail<T, D>> details;
  mutable Buffer<WrapRow> wraps;
  // Of banded bodies: what `exact` is of others. Filled by `exact_columns` until bodies change.
  mutable std::array<Buffer<T>, most> late;
  // The slots of bodies at the border of a cut frame, in ascending order; their `near` coordinates may be clamped. Set
  // by `note_outside`.
  mutable std::vector<std::uint32_t> outside;
  // Runs of slots that share a cell, in ascending order of its key: run g is group_begin[g] … group_begin[g+1]-1. The
  // last key is followed by one greater than all.
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};
  std::size_t groups = 0;
  Buffer<std::uint64_t> group_key;
  Buffer<std::uint32_t> group_begin;
  std::shared_ptr<LatticeBodies<T, D>> lattice;  // of queries in a tilted cell: see InLattice

  void reset(const BodyView<T, D>& points, const Box<T, D>& space, const NearFrame<D>& near_space);

  // The number of columns per body: see columns_of.
  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(columns_of(raw.shape, D)); }

  // A column that the exact test uses, for a body in the numbering of the user.
  [[nodiscard]] T value(std::size_t point, int column) const {
    if (box.tilted) [[unlikely]]
      return tilted_value(point, column);
    if (column < D) return box.wrap(raw.at(point, column), column);
    if (raw.shape == Shape::sphere) return raw.radius(point);
    // The upper corner moves with the lower one and, with rounding, must not fall below it.
    const int axis = column - D;
    const std::int32_t edges = box.wraps(raw.at(point, axis), axis);
    const T upper = raw.upper(point, axis);
    if (!box.periodic(axis)) return upper;
    return std::max(upper - static_cast<T>(edges) * box.edge[static_cast<std::size_t>(axis)],
                    box.wrap(raw.at(point, axis), axis));
  }
  // The place of a body for structures: its position, in a tilted cell in lattice coordinates.
  [[nodiscard]] std::array<double, D> place_of(std::size_t point) const {
    if (box.tilted) [[unlikely]]
      return tilted_place(point);
    std::array<double, D> place{};
    for (int a = 0; a < D; ++a) place[static_cast<std::size_t>(a)] = static_cast<double>(value(point, a));
    return place;
  }
  [[nodiscard]] std::array<double, D> place_at(std::size_t slot) const {
    if (box.tilted) return place_of(static_cast<std::size_t>(ids[slot]));
    std::array<double, D> place{};
    for (int a = 0; a < D; ++a) place[static_cast<std::size_t>(a)] = static_cast<double>(position(slot, a));
    return place;
  }
  // The first numbers that the exact test uses, exactly or in the frame: the same as `value` or `near_value` of each.
  template <class V>
  void values(std::size_t point, V* to, std::size_t count) const {
    if (box.tilted) [[unlikely]]
      return tilted_values(point, to, count);
    for (std::size_t c = 0; c < count; ++c) {
      if constexpr (std::is_same_v<V, T>) to[c] = value(point, static_cast<int>(c));
      else to[c] = near_value(point, static_cast<int>(c));
    }
  }
  [[nodiscard]] T position(std::size_t slot, int column) const {
    const auto c = static_cast<std::size_t>(column);
    if (exact[c].size() == slots) return exact[c][slot];
    return value(static_cast<std::size_t>(ids[slot]), column);
  }
  // The same in the frame.
  [[nodiscard]] float near_value(std::size_t point, int column) const {
    const T x = value(point, column);
    return column < D ? frame(x, column) : static_cast<float>(static_cast<double>(x) * frame.scale);
  }

  // Puts body `point` into a slot. (Whole sets are sorted column by column: cell_order.hpp.)
  void place(std::size_t point, std::size_t slot) {
    ids[slot] = static_cast<std::int32_t>(point);
    const auto put = [&]<class V>(std::array<Buffer<V>, most>& to) {
      std::array<V, most> x;
      values(point, x.data(), columns());
      for (std::size_t c = 0; c < columns(); ++c) to[c][slot] = x[c];
    };
    if (banded) put(near);
    else put(exact);
  }

  // Changes the number of slots; existing slots keep their bodies, new ones are holes.
  void resize(std::size_t count);
  void move(std::size_t from, std::size_t to) {
    ids[to] = std::exchange(ids[from], -1);
    for (std::size_t c = 0; c < columns(); ++c) {
      if (banded) near[c][to] = near[c][from];
      else exact[c][to] = exact[c][from];
    }
  }
  // Must be called after bodies have changed: what `complete` and `exact_columns` added is no longer true.
  void forget_details() const {
    if (details.size() > 0) details.reset(0);  // the memory is kept
    if (wraps.size() > 0) wraps.reset(0);
    for (Buffer<T>& column : late) column.release();
  }

  // The columns of the exact test, wrapped. Several threads may call this.
  [[nodiscard]] const std::array<Buffer<T>, most>& exact_columns() const;

  // Adds what results with distances, vectors or shifts need.
  void complete() const;
  [[nodiscard]] bool is_complete() const { return details.size() == slots; }

  [[nodiscard]] bool is_outside(std::size_t slot) const {
    for (std::size_t a = 0; a < D; ++a)
      if (frame.at_border(near[a][slot], a)) return true;
    return false;
  }
  // Must be called after bodies were put into slots and before a search.
  void note_outside() const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  // The same in tilted cells. Not inlined: loops over bodies in other cells stay short enough to be unrolled.
  [[nodiscard]] [[gnu::noinline]] std::array<double, D> tilted_place(std::size_t point) const;
  template <class V>
  [[gnu::noinline]] void tilted_values(std::size_t point, V* to, std::size_t count) const;
  [[nodiscard]] [[gnu::noinline]] T tilted_value(std::size_t point, int column) const;
};

// Bodies in lattice coordinates (geometry/box.hpp), and the memory of these.
template <class T, int D>
struct LatticeBodies {
  Buffer<T> positions, radii;
  Bodies<T, D> bodies;
};

}  // namespace vicinal
