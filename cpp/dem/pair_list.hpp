// Lists of elements that may touch, and what their contacts remember from one list to the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/parallel.hpp"
#include "exec/memory.hpp"
#include "rows/history.hpp"
#include "rows/rows.hpp"

namespace vicinal::dem {

inline constexpr Number no_number = ~Number{0};  // none

// Contacts that are put aside between two lists, by first, then by second. `normals` are used by contacts that cannot
// derive how their normal turned: those of walls and of shapes other than spheres.
struct ContactHistory {
  std::vector<Number> first, second;
  std::vector<Spring> springs, rollings;
  std::vector<Vec> normals;

  [[nodiscard]] std::size_t size() const { return first.size(); }
  void clear() { *this = {}; }
  void add(Number one, Number other, const Spring& spring, const Spring& rolling, Vec normal) {
    first.push_back(one);
    second.push_back(other);
    springs.push_back(spring);
    rollings.push_back(rolling);
    normals.push_back(normal);
  }
  // Keeps the contacts for which renumber(first, second, spring, rolling, normal) returns true, in order again.
  template <class Renumber>
  void renumber(Renumber&& renumber) {
    std::vector<std::size_t> kept;
    for (std::size_t k = 0; k < size(); ++k)
      if (renumber(first[k], second[k], springs[k], rollings[k], normals[k])) kept.push_back(k);
    std::sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) {
      return first[a] != first[b] ? first[a] < first[b] : second[a] < second[b];
    });
    ContactHistory sorted;
    for (const std::size_t k : kept) sorted.add(first[k], second[k], springs[k], rollings[k], normals[k]);
    *this = std::move(sorted);
  }
};

// Rows of elements or walls that may touch, ascending. Rows of pairs have only indices above the row.
class ContactRows {
 public:
  [[nodiscard]] std::size_t rows() const { return rows_.offsets.size() == 0 ? 0 : rows_.offsets.size() - 1; }
  [[nodiscard]] std::size_t size() const { return rows_.indices.size(); }
  [[nodiscard]] std::size_t begin(std::size_t row) const { return static_cast<std::size_t>(rows_.offsets[row]); }
  [[nodiscard]] std::size_t end(std::size_t row) const { return begin(row + 1); }
  [[nodiscard]] const Number* indices() const { return reinterpret_cast<const Number*>(rows_.indices.data()); }
  // The row of every entry.
  [[nodiscard]] const Number* owners() const { return reinterpret_cast<const Number*>(owners_.data()); }
  [[nodiscard]] std::uint8_t* active() { return active_.data(); }
  [[nodiscard]] const std::uint8_t* active() const { return active_.data(); }
  [[nodiscard]] Spring* springs() { return springs_.data(); }
  [[nodiscard]] Spring* rollings() { return rollings_.data(); }
  [[nodiscard]] Vec* normals() { return normals_.data(); }

  // Takes these rows, and what their contacts remember from a history. Contacts that have parted by more than the skin
  // are in no row any more.
  void set(const RowsView& now, bool rolling, bool normals, const ContactHistory& history) {
    const std::size_t size = now.indices.size();
    rows_.offsets.reset(now.offsets.size());
    rows_.indices.reset(size);
    owners_.reset(size);
    active_.reset(size);
    springs_.reset(size);
    rollings_.reset(rolling ? size : 0);
    normals_.reset(normals ? size : 0);
    std::copy(now.offsets.begin(), now.offsets.end(), rows_.offsets.data());
    std::copy(now.indices.begin(), now.indices.end(), rows_.indices.data());
    fill_owners(now.offsets, owners_.data());

    std::vector<std::int64_t> offsets(rows() + 1, 0);
    for (const Number row : history.first)
      if (row < rows()) ++offsets[row + 1];
    for (std::size_t row = 0; row < rows(); ++row) offsets[row + 1] += offsets[row];
    const auto known = static_cast<std::size_t>(offsets[rows()]);
    const std::vector<std::uint8_t> ones(known, 1);
    static constexpr std::uint8_t no = 0;
    static constexpr Spring no_spring{};
    static constexpr Vec no_normal{};
    std::vector<HistoryField> fields{field(ones, active_, no), field(history.springs, springs_, no_spring)};
    if (rolling) fields.push_back(field(history.rollings, rollings_, no_spring));
    if (normals) fields.push_back(field(history.normals, normals_, no_normal));
    const auto* const second = reinterpret_cast<const std::int32_t*>(history.second.data());
    carry_history({offsets, {second, known}}, now, fields);
  }
  void forget(std::size_t k) {
    active_[k] = 0;
    springs_[k] = Spring{};
    if (rollings_.size() > 0) rollings_[k] = Spring{};
    if (normals_.size() > 0) normals_[k] = {};
  }
  // What contact `from` remembers is from now on remembered by contact `to`.
  void hand_over(std::size_t from, std::size_t to) {
    springs_[to] = springs_[from];
    if (rollings_.size() > 0) rollings_[to] = rollings_[from];
    if (normals_.size() > 0) normals_[to] = normals_[from];
    forget(from);
  }
  // The contacts there are, with what they remember.
  [[nodiscard]] ContactHistory history() const {
    ContactHistory all;
    for (std::size_t k = 0; k < size(); ++k) {
      if (active_[k] == 0) continue;
      all.add(owners()[k], indices()[k], springs_[k], rollings_.size() > 0 ? rollings_[k] : Spring{},
              normals_.size() > 0 ? normals_[k] : Vec{});
    }
    return all;
  }

 private:
  template <class T>
  static HistoryField field(const std::vector<T>& before, Buffer<T>& now, const T& initial) {
    return {reinterpret_cast<const std::byte*>(before.data()), reinterpret_cast<std::byte*>(now.data()),
            reinterpret_cast<const std::byte*>(&initial), sizeof(T)};
  }

  Rows rows_;
  Buffer<std::int32_t> owners_;
  Buffer<std::uint8_t> active_;
  Buffer<Spring> springs_, rollings_;
  Buffer<Vec> normals_;
};

// Where the second body of a contact gets its share if it belongs to another block than the first: slots, row by row of
// the receiver. A block writes only to its own rows and to slots that no other block writes to.
class RemoteShares {
 public:
  // `block`: rows of one.
  void set(const ContactRows& list, std::size_t rows, std::size_t block) {
    offsets_.assign(rows + 1, 0);
    slots_.reset(list.size());
    each_remote(list, block, [&](std::size_t, Number j) { ++offsets_[j + 1]; });
    for (std::size_t row = 0; row < rows; ++row) offsets_[row + 1] += offsets_[row];
    shares_.reset(offsets_[rows]);
    receivers_.reset(shares_.size());
    for (std::size_t s = 0; s < shares_.size(); ++s) shares_[s] = {};
    std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
    each_remote(list, block, [&](std::size_t k, Number j) {
      slots_[k] = static_cast<Number>(next[j]);
      receivers_[next[j]++] = j;
    });
  }
  [[nodiscard]] const Number* slots() const { return slots_.data(); }
  [[nodiscard]] Load* shares() { return shares_.data(); }
  // Adds what rows were given to their loads, in the order of the givers, and clears it.
  void add_to(Load* loads, std::size_t first, std::size_t last) {
    for (std::size_t s = offsets_[first]; s < offsets_[last]; ++s) {
      Load& share = shares_[s];
      if (share.force.mark == 0) continue;
      add(loads[receivers_[s]], share.force, share.torque);
      share.force.mark = 0;
    }
  }

 private:
  template <class F>
  static void each_remote(const ContactRows& list, std::size_t block, F&& f) {
    for (std::size_t row = 0; row < list.rows(); ++row) {
      const std::size_t block_end = (row / block + 1) * block;
      for (std::size_t k = list.begin(row); k < list.end(row); ++k)
        if (list.indices()[k] >= block_end) f(k, list.indices()[k]);
    }
  }

  std::vector<std::size_t> offsets_;
  Buffer<Number> slots_, receivers_;
  Buffer<Load> shares_;
};

}  // namespace vicinal::dem
