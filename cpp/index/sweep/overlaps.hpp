// Overlapping pairs: for every slot the slots of its neighbours in ascending order, each pair in both rows.
//
// Rows have room to grow, so that a new or removed pair changes only two rows, and a search reads the rows in place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "index/structure.hpp"

namespace vicinal::sweep {

class OverlapRows {
 public:
  using Pair = std::pair<Slot, Slot>;

  // Each pair once, in any order.
  void fill(std::size_t slots, std::span<const std::vector<Pair>> lists) {
    rows_.assign(slots, Row{});
    pairs_ = 0;
    for (const auto& list : lists) {
      pairs_ += list.size();
      for (const auto& [a, b] : list) {
        ++rows_[a].room;
        ++rows_[b].room;
      }
    }
    allot();
    const auto append = [&](Slot a, Slot b) { neighbors_[rows_[a].begin + rows_[a].size++] = b; };
    for (const auto& list : lists)
      for (const auto& [a, b] : list) {
        append(a, b);
        append(b, a);
      }
    for (const Row& row : rows_) std::sort(begin_of(row), begin_of(row) + row.size);
  }
  void grow(std::size_t slots) { rows_.resize(slots); }

  [[nodiscard]] std::span<const Slot> of(Slot slot) const {
    return {neighbors_.data() + rows_[slot].begin, rows_[slot].size};
  }
  [[nodiscard]] std::size_t pairs() const { return pairs_; }
  [[nodiscard]] std::size_t bytes() const { return rows_.size() * sizeof(Row) + neighbors_.bytes(); }

  void insert(Slot a, Slot b) {
    if (!put(a, b)) return;
    put(b, a);
    ++pairs_;
  }
  void erase(Slot a, Slot b) {
    if (!take(a, b)) return;
    take(b, a);
    --pairs_;
  }

  // Keeps the slots that have a number in `renumbered`, in the same order; the others have `gone`.
  void remove(const std::vector<Slot>& renumbered, Slot gone) {
    std::size_t kept = 0;
    std::size_t entries = 0;
    for (std::size_t slot = 0; slot < rows_.size(); ++slot) {
      if (renumbered[slot] == gone) continue;
      Row row = rows_[slot];
      Slot* const first = begin_of(row);
      Slot* to = first;
      for (Slot* p = first; p < first + row.size; ++p)
        if (renumbered[*p] != gone) *to++ = renumbered[*p];
      row.size = static_cast<std::uint32_t>(to - first);
      entries += row.size;
      rows_[kept++] = row;
    }
    rows_.resize(kept);
    pairs_ = entries / 2;
  }

 private:
  struct Row {
    std::uint64_t begin = 0;
    std::uint32_t size = 0, room = 0;
  };

  [[nodiscard]] Slot* begin_of(const Row& row) { return neighbors_.data() + row.begin; }

  static std::uint32_t room_for(std::uint32_t size) { return (size + size / 4 + 3) / 4 * 4; }
  // Places the rows one after another, each with its `room` and some spare entries.
  void allot() {
    std::uint64_t sum = 0;
    for (Row& row : rows_) {
      row.begin = sum;
      row.room = room_for(row.room);
      sum += row.room;
    }
    neighbors_.reset(sum);
    abandoned_ = 0;
  }

  // Returns whether the entry is new.
  bool put(Slot a, Slot b) {
    Slot* const first = begin_of(rows_[a]);
    Slot* const at = std::lower_bound(first, first + rows_[a].size, b);
    const std::ptrdiff_t place = at - first;
    if (place < rows_[a].size && *at == b) return false;
    if (rows_[a].size == rows_[a].room) enlarge(a);
    Slot* const row = begin_of(rows_[a]);
    std::copy_backward(row + place, row + rows_[a].size, row + rows_[a].size + 1);
    row[place] = b;
    ++rows_[a].size;
    return true;
  }
  bool take(Slot a, Slot b) {
    Slot* const first = begin_of(rows_[a]);
    Slot* const last = first + rows_[a].size;
    Slot* const at = std::lower_bound(first, last, b);
    if (at == last || *at != b) return false;
    std::copy(at + 1, last, at);
    --rows_[a].size;
    return true;
  }

  // Moves a full row to the end, or compacts all rows if too much memory is unused.
  void enlarge(Slot a) {
    abandoned_ += rows_[a].room;
    if (abandoned_ > neighbors_.size() / 2 + 1024) {
      const Buffer<Slot> old = std::move(neighbors_);
      neighbors_ = Buffer<Slot>();
      const std::vector<Row> before = rows_;
      for (Row& row : rows_) row.room = row.size;
      ++rows_[a].room;
      allot();
      for (std::size_t k = 0; k < rows_.size(); ++k)
        std::copy_n(old.data() + before[k].begin, before[k].size, begin_of(rows_[k]));
      return;
    }
    const Row old = rows_[a];
    Row& row = rows_[a];
    row.begin = neighbors_.size();
    row.room = room_for(2 * old.size + 1);
    neighbors_.resize(neighbors_.size() + row.room);
    std::copy_n(neighbors_.data() + old.begin, old.size, begin_of(row));
  }

  std::vector<Row> rows_;
  Buffer<Slot> neighbors_;
  std::uint64_t abandoned_ = 0;
  std::size_t pairs_ = 0;
};

}  // namespace vicinal::sweep
