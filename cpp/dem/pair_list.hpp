// Which elements may touch, what their contacts remember, and how it survives a new list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/parallel.hpp"
#include "exec/memory.hpp"

namespace vicinal::dem {

// A contact that is taken from one list to the next. `normal` is used by contacts that cannot derive how their normal
// turned: those of walls and of shapes other than spheres.
struct Kept {
  Number first, second;
  Spring spring, rolling;
  Vec normal;
};

inline constexpr Number nobody = ~Number{0};

// Rows of partners, ascending. Rows of pairs have only partners of higher number.
class ContactRows {
 public:
  [[nodiscard]] std::size_t rows() const { return offsets_.empty() ? 0 : offsets_.size() - 1; }
  [[nodiscard]] std::size_t size() const { return partners_.size(); }
  [[nodiscard]] std::size_t begin(std::size_t row) const { return offsets_[row]; }
  [[nodiscard]] std::size_t end(std::size_t row) const { return offsets_[row + 1]; }
  [[nodiscard]] const Number* partners() const { return partners_.data(); }
  // The row of every entry.
  [[nodiscard]] const Number* owners() const { return owners_.data(); }
  [[nodiscard]] std::uint8_t* active() { return active_.data(); }
  [[nodiscard]] const std::uint8_t* active() const { return active_.data(); }
  [[nodiscard]] Spring* springs() { return springs_.data(); }
  [[nodiscard]] Spring* rollings() { return rollings_.data(); }
  [[nodiscard]] Vec* normals() { return normals_.data(); }

  void set(std::span<const std::int64_t> offsets, std::span<const std::int32_t> partners, bool rolling, bool normals) {
    offsets_.assign(offsets.begin(), offsets.end());
    partners_.reset(partners.size());
    owners_.reset(partners.size());
    active_.reset(partners.size());
    springs_.reset(partners.size());
    rollings_.reset(rolling ? partners.size() : 0);
    normals_.reset(normals ? partners.size() : 0);
    for (std::size_t k = 0; k < partners.size(); ++k) partners_[k] = static_cast<Number>(partners[k]);
    for (std::size_t row = 0; row < rows(); ++row)
      for (std::size_t k = begin(row); k < end(row); ++k) owners_[k] = static_cast<Number>(row);
    for (std::size_t k = 0; k < partners.size(); ++k) forget(k);
  }
  void forget(std::size_t k) {
    active_[k] = 0;
    springs_[k] = {0, 0, 0, 0};
    if (rollings_.size() > 0) rollings_[k] = {0, 0, 0, 0};
    if (normals_.size() > 0) normals_[k] = {};
  }
  // What contact `from` remembers is from now on remembered by contact `to`.
  void hand_over(std::size_t from, std::size_t to) {
    springs_[to] = springs_[from];
    if (rollings_.size() > 0) rollings_[to] = rollings_[from];
    if (normals_.size() > 0) normals_[to] = normals_[from];
    forget(from);
  }
  void collect(std::vector<Kept>& kept) const {
    for (std::size_t row = 0; row < rows(); ++row) {
      for (std::size_t k = offsets_[row]; k < offsets_[row + 1]; ++k) {
        if (active_[k] == 0) continue;
        kept.push_back({static_cast<Number>(row), partners_[k], springs_[k],
                        rollings_.size() > 0 ? rollings_[k] : Spring{0, 0, 0, 0},
                        normals_.size() > 0 ? normals_[k] : Vec{}});
      }
    }
  }
  void give(const std::vector<Kept>& kept) {
    for (const Kept& one : kept) {
      if (one.first >= rows()) continue;
      const Number* const from = partners_.data() + offsets_[one.first];
      const Number* const to = partners_.data() + offsets_[one.first + 1];
      const Number* const found = std::lower_bound(from, to, one.second);
      if (found == to || *found != one.second) continue;  // they have parted by more than the skin
      const auto k = static_cast<std::size_t>(found - partners_.data());
      active_[k] = 1;
      springs_[k] = one.spring;
      if (rollings_.size() > 0) rollings_[k] = one.rolling;
      if (normals_.size() > 0) normals_[k] = one.normal;
    }
  }

 private:
  std::vector<std::size_t> offsets_;
  Buffer<Number> partners_, owners_;
  Buffer<std::uint8_t> active_;
  Buffer<Spring> springs_, rollings_;
  Buffer<Vec> normals_;
};

// Where the second body of a contact gets its share if it belongs to another block than the first: slots, row by row of
// the receiver. A block writes only to its own rows and to slots that nobody else writes to.
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
      if (share.f[3] == 0) continue;  // the fourth number tells that something was written
      Load& load = loads[receivers_[s]];
      for (std::size_t c = 0; c < 4; ++c) load.f[c] += share.f[c];
      for (std::size_t c = 0; c < 4; ++c) load.t[c] += share.t[c];
      share.f[3] = 0;
    }
  }

 private:
  template <class F>
  static void each_remote(const ContactRows& list, std::size_t block, F&& f) {
    for (std::size_t row = 0; row < list.rows(); ++row) {
      const std::size_t block_end = (row / block + 1) * block;
      for (std::size_t k = list.begin(row); k < list.end(row); ++k)
        if (list.partners()[k] >= block_end) f(k, list.partners()[k]);
    }
  }

  std::vector<std::size_t> offsets_;
  Buffer<Number> slots_, receivers_;
  Buffer<Load> shares_;
};

}  // namespace vicinal::dem
