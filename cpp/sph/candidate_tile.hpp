// The candidates of one cell, copied to one place, and the neighbours that a query finds among them.
//
// All queries of a cell share its candidates: those of the 3 or 9 rows of adjacent cells. Records are copied whole,
// their positions moved to the corner of the cell; neighbours are found among columns of positions and their records
// are then transposed in registers, which is faster than gathering fields one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sph/lanes.hpp"
#include "sph/record.hpp"

namespace vicinal::sph {

// Particles of one kind in the order of their cells. Plain pointers: vector code must not use inline functions of the
// library, which the linker could take from a unit compiled for another processor.
template <class T, int D>
struct CellRecords {
  const Record<T, D>* records;
  const std::uint32_t* offsets;  // of each cell, and the end
  const std::uint8_t* idle;      // one per cell: its particles look for no neighbours; null if all of them do
};

// So many records are copied at once: most cells in two dimensions have no more. Those in three dimensions differ too
// much. Records after the last one are read, so there must be room for as many.
template <int D>
inline constexpr std::uint32_t at_once = D == 2 ? 8 : 1;

// Memory of one thread.
template <class T, int D>
struct Scratch {
  Record<T, D>* records;
  T* positions[D];       // columns of the records, with room for one more set of lanes
  std::uint32_t* found;  // the same room: where the records of neighbours begin, in numbers
  std::size_t size;      // candidates now in the tile
};

// The shape of a grid without its place.
template <class T, int D>
struct CellShape {
  std::int32_t count[D];
  bool periodic[D];
  T size[D];
};

namespace {

template <class T, int D>
struct CandidateTile {
  static constexpr std::uint32_t stride = Record<T, D>::size;
  typedef T Four [[gnu::vector_size(4 * sizeof(T))]];

  // Collects the candidates of a cell.
  template <class L>
  static void collect(const CellShape<T, D>& shape, const CellRecords<T, D>& cells, const std::int32_t (&cell)[D],
                      Scratch<T, D>& to) {
    to.size = 0;
    std::int32_t from[3] = {}, end[3] = {};
    for (std::size_t a = 1; a < D; ++a) from[a] = -1, end[a] = 1;
    for (std::int32_t k = from[2]; k <= end[2]; ++k)
      for (std::int32_t j = from[1]; j <= end[1]; ++j) {
        const std::int32_t step[3] = {0, j, k};
        std::size_t row = 0;
        T offset[D];
        bool outside = false;
        for (std::size_t a = D - 1; a > 0; --a) {
          std::int32_t c = cell[a] + step[a];
          if (c < 0 || c >= shape.count[a]) {
            outside |= !shape.periodic[a];
            c += c < 0 ? shape.count[a] : -shape.count[a];
          }
          row = (row + static_cast<std::size_t>(c)) * static_cast<std::size_t>(shape.count[a - 1]);
          offset[a] = static_cast<T>(step[a]) * shape.size[a];
        }
        if (outside) continue;
        // Adjacent cells of a row are one range of records.
        const std::uint32_t* const offsets = cells.offsets + row;
        const std::int32_t c = cell[0], last = shape.count[0] - 1;
        Four moved{};
        for (std::size_t a = 1; a < D; ++a) moved[a] = offset[a];
        const auto copy_cells = [&](std::int32_t first, std::int32_t end, std::int32_t steps) {
          copy(cells.records, offsets + first, end - first, moved, static_cast<T>(steps) * shape.size[0], shape.size[0],
               to);
        };
        if (c == 0 && shape.periodic[0]) copy_cells(last, last + 1, -1);
        copy_cells(c == 0 ? 0 : c - 1, c == last ? c + 1 : c + 2, c == 0 ? 0 : -1);
        if (c == last && shape.periodic[0]) copy_cells(0, 1, 1);
      }
    if (to.size == 0) return;
    for (std::size_t k = 0; k < to.size; k += L::width) {
      typename L::Real x[4];
      L::columns(to.records[k].c, in_order.which, x);
      for (std::size_t a = 0; a < D; ++a) L::store(x[a], to.positions[a] + k);
    }
    // Candidates beyond the last one are out of reach.
    for (std::size_t a = 0; a < D; ++a)
      for (std::size_t k = 0; k < lane_count<T>; ++k) to.positions[a][to.size + k] = T(1e18);
  }

  // Finds the candidates within reach of a query; returns how many.
  template <class L>
  static std::size_t find(const Scratch<T, D>& in, const T* query, T square) {
    using Real = typename L::Real;
    // In variables: for all the compiler knows, what is written could change what `in` points to.
    std::uint32_t* const found = in.found;
    const std::size_t size = in.size;
    const T* positions[D];
    Real x[D];
    for (std::size_t a = 0; a < D; ++a) {
      positions[a] = in.positions[a];
      x[a] = L::all(query[a]);
    }
    const Real limit = L::all(square);
    std::size_t n = 0;
    for (std::size_t k = 0; k < size; k += L::width) {
      Real d = x[0] - L::load(positions[0] + k);
      Real sum = d * d;
      for (std::size_t a = 1; a < D; ++a) {
        d = x[a] - L::load(positions[a] + k);
        sum = sum + d * d;
      }
      n += L::template pack<stride>(L::less(sum, limit), static_cast<std::uint32_t>(k), found + n);
    }
    // Lanes beyond the last neighbour load a record that exists; they are masked.
    std::memset(found + n, 0, L::width * sizeof(*found));
    return n;
  }

  // The records of the neighbours from `k` on, as columns.
  template <class L>
  static void columns(const Scratch<T, D>& in, std::size_t k, typename L::Real (&out)[Record<T, D>::size]) {
    for (std::size_t c = 0; c < stride; c += 4) L::columns(in.records[0].c + c, in.found + k, out + c);
  }

 private:
  struct InOrder {
    std::uint32_t which[lane_count<T>] = {};
    constexpr InOrder() {
      for (std::uint32_t k = 0; k < lane_count<T>; ++k) which[k] = k * stride;
    }
  };
  static constexpr InOrder in_order{};

  // Copies the records of up to three cells of a row. All positions are moved alike; besides, those of a cell are moved
  // along the row by `size` more than those of the cell before, whose first are moved by `x`. Loops over few records
  // would end where processors do not expect it, so some records more are copied: those after them replace these.
  static void copy(const Record<T, D>* from, const std::uint32_t* offsets, std::int32_t cells, const Four& moved, T x,
                   T size, Scratch<T, D>& to) {
    Record<T, D>* const out = to.records + to.size;
    const std::uint32_t begin = offsets[0];
    to.size += offsets[cells] - begin;
    for (std::int32_t cell = 0; cell < cells; ++cell) {
      Four all = moved;
      all[0] = x;
      x += size;
      Record<T, D>* place = out + (offsets[cell] - begin);
      const Record<T, D>* const end = from + offsets[cell + 1];
      for (const Record<T, D>* record = from + offsets[cell]; record < end; record += at_once<D>, place += at_once<D>)
        for (std::size_t k = 0; k < at_once<D>; ++k)
          // Four by four: a copy of the whole on the stack would have to wait for the parts written to it.
          for (std::size_t c = 0; c < stride; c += 4) {
            Four part;
            std::memcpy(&part, record[k].c + c, sizeof(part));
            // Positions are in the first four numbers; what else is there gets 0 added.
            if (c == 0) part += all;
            std::memcpy(place[k].c + c, &part, sizeof(part));
          }
    }
  }
};

}  // namespace
}  // namespace vicinal::sph
