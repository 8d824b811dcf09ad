// Lists of elements that may touch, and the history of their contacts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/blocks.hpp"
#include "dem/kernels.hpp"
#include "dem/patch.hpp"
#include "exec/memory.hpp"
#include "rows/history.hpp"
#include "rows/rows.hpp"

namespace vicinal::dem {

inline constexpr Number no_number = ~Number{0};  // none

// The history of a contact: the springs of its points (one, or those of a patch) and the normal of the step before. The
// normal is needed for contacts with walls and of shapes other than spheres, whose rotation cannot be computed from the
// velocities of the centres. If a contact acts at one point, all its springs are the same.
struct ContactMemory {
  Spring springs[most_points];
  Turning turnings[most_points];
  Vec normal;

  // Replaces the first spring by the mean of all. The mean is exact if all are the same.
  [[nodiscard]] ContactMemory gathered() const {
    const auto mean = [](const auto& all, auto part) {
      return 0.25 * ((all[0].*part + all[1].*part) + (all[2].*part + all[3].*part));
    };
    ContactMemory one = *this;
    one.springs[0] = {mean(springs, &Spring::x), mean(springs, &Spring::y), mean(springs, &Spring::z), 0};
    one.turnings[0] = {mean(turnings, &Turning::x), mean(turnings, &Turning::y), mean(turnings, &Turning::z),
                       mean(turnings, &Turning::twist)};
    return one;
  }
  // The history with the two bodies exchanged.
  void reverse() {
    for (Spring& spring : springs) spring = -Vec(spring);
    for (Turning& turned : turnings) turned = {-turned.x, -turned.y, -turned.z, turned.twist};
    normal = -normal;
  }
};

// The history of all contacts between two lists, sorted by first, then by second. Columns for points beyond the first
// are empty if there are no patches.
struct ContactHistory {
  std::vector<Number> first, second;
  std::vector<Spring> springs[most_points];
  std::vector<Turning> turnings[most_points];
  std::vector<Vec4> normals;
  std::size_t points = 1;  // per contact: 1 or most_points

  [[nodiscard]] std::size_t size() const { return first.size(); }
  void clear() { *this = {}; }
  void add(Number one, Number other, const ContactMemory& memory) {
    first.push_back(one);
    second.push_back(other);
    for (std::size_t p = 0; p < points; ++p) {
      springs[p].push_back(memory.springs[p]);
      turnings[p].push_back(memory.turnings[p]);
    }
    normals.emplace_back() = memory.normal;
  }
  [[nodiscard]] ContactMemory memory(std::size_t k) const {
    ContactMemory memory;
    for (std::size_t p = 0; p < most_points; ++p) {
      memory.springs[p] = springs[p < points ? p : 0][k];
      memory.turnings[p] = turnings[p < points ? p : 0][k];
    }
    memory.normal = normals[k];
    return memory;
  }
  // Calls renumber(first, second, memory) for every contact, keeps those for which it returns true, and sorts them. A
  // contact that is there twice is kept once.
  template <class Renumber>
  void renumber(Renumber&& renumber) {
    std::vector<std::size_t> kept;
    ContactHistory changed;
    changed.points = points;
    for (std::size_t k = 0; k < size(); ++k) {
      Number one = first[k], other = second[k];
      ContactMemory all = memory(k);
      if (!renumber(one, other, all)) continue;
      kept.push_back(changed.size());
      changed.add(one, other, all);
    }
    std::sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) {
      return changed.first[a] != changed.first[b] ? changed.first[a] < changed.first[b]
                                                  : changed.second[a] < changed.second[b];
    });
    clear();
    points = changed.points;
    for (const std::size_t k : kept)
      if (first.empty() || changed.first[k] != first.back() || changed.second[k] != second.back())
        add(changed.first[k], changed.second[k], changed.memory(k));
  }
  // Sets the number of points per contact.
  void set_points(std::size_t count) {
    for (std::size_t p = 1; p < most_points; ++p) {
      if (count > points) springs[p] = springs[0], turnings[p] = turnings[0];
      if (count < points) springs[p] = {}, turnings[p] = {};
    }
    points = count;
  }
};

// Rows of elements, or of primitives of walls, that may touch, ascending. A row of elements has only indices above the
// row.
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
  // The springs of the first points of all entries, followed by those of the second points, and so on.
  [[nodiscard]] Spring* springs() { return springs_.data(); }
  [[nodiscard]] Turning* turnings() { return turnings_.data(); }
  [[nodiscard]] std::size_t points() const { return points_; }  // points per entry that have springs
  [[nodiscard]] std::size_t spring(std::size_t entry, std::size_t point) const { return point * size() + entry; }
  [[nodiscard]] Vec4* normals() { return normals_.data(); }
  // Per entry: whether points beyond the first have their own springs.
  [[nodiscard]] const std::uint8_t* spread() const { return spread_.data(); }

  // Sets the rows, and takes the springs of their contacts from a history. Contacts that are in no row are dropped:
  // their bodies are farther apart than the skin. `patches`: contacts may have several points.
  void set(const RowsView& now, bool turning, bool normals, bool patches, ContactHistory& history) {
    points_ = patches ? most_points : 1;
    history.set_points(points_);
    const std::size_t size = now.indices.size();
    rows_.offsets.reset(now.offsets.size());
    rows_.indices.reset(size);
    owners_.reset(size);
    active_.reset(size);
    springs_.reset(points_ * size);
    turnings_.reset(turning ? points_ * size : 0);
    spread_.reset(patches ? size : 0);
    std::fill(spread_.data(), spread_.data() + spread_.size(),
              std::uint8_t{1});  // a history holds the springs of all points
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
    static constexpr Turning no_turning{};
    static constexpr Vec4 no_normal{};
    std::vector<HistoryField> fields{field(ones, active_.data(), no)};
    for (std::size_t p = 0; p < points_; ++p) {
      fields.push_back(field(history.springs[p], springs_.data() + p * size, no_spring));
      if (turning) fields.push_back(field(history.turnings[p], turnings_.data() + p * size, no_turning));
    }
    if (normals) fields.push_back(field(history.normals, normals_.data(), no_normal));
    const auto* const second = reinterpret_cast<const std::int32_t*>(history.second.data());
    carry_history({offsets, {second, known}}, now, fields);
  }
  void forget(std::size_t k) {
    active_[k] = 0;
    springs_[k] = Spring{};
    if (turnings_.size() > 0) turnings_[k] = Turning{};
    if (normals_.size() > 0) normals_[k] = Vec4{};
    if (spread_.size() > 0) spread_[k] = 0;
  }
  // The history of contact k; columns that are not stored are zero.
  [[nodiscard]] ContactMemory memory(std::size_t k) const {
    ContactMemory memory;
    for (std::size_t p = 0; p < most_points; ++p) {
      const std::size_t from = spring(k, is_spread(k) ? p : 0);
      memory.springs[p] = springs_[from];
      if (turnings_.size() > 0) memory.turnings[p] = turnings_[from];
    }
    if (normals_.size() > 0) memory.normal = normals_[k];
    return memory;
  }
  void remember(std::size_t k, const ContactMemory& memory) {
    for (std::size_t p = 0; p < points_; ++p) {
      springs_[spring(k, p)] = memory.springs[p];
      if (turnings_.size() > 0) turnings_[spring(k, p)] = memory.turnings[p];
    }
    if (spread_.size() > 0) spread_[k] = 1;
    if (normals_.size() > 0) normals_[k] = memory.normal;
  }
  // Sets the number of points at which contact k acts in this step. If it changes from four to one, the spring of the
  // single point is the mean of the four; if it changes from one to four, all four get the spring of the single point.
  void set_points(std::size_t k, std::size_t count) {
    if (is_spread(k) == (count > 1)) return;
    if (count > 1) {
      for (std::size_t p = 1; p < points_; ++p) {
        springs_[spring(k, p)] = springs_[k];
        if (turnings_.size() > 0) turnings_[spring(k, p)] = turnings_[k];
      }
    } else {
      const ContactMemory mean = memory(k).gathered();
      springs_[k] = mean.springs[0];
      if (turnings_.size() > 0) turnings_[k] = mean.turnings[0];
    }
    spread_[k] = count > 1 ? 1 : 0;
  }
  // Moves the history of contact `from` to contact `to`.
  void hand_over(std::size_t from, std::size_t to) {
    remember(to, memory(from));
    forget(from);
  }
  // The history of all present contacts.
  [[nodiscard]] ContactHistory history() const {
    ContactHistory all;
    all.points = points_;
    for (std::size_t k = 0; k < size(); ++k)
      if (active_[k] != 0) all.add(owners()[k], indices()[k], memory(k));
    return all;
  }

 private:
  template <class T>
  static HistoryField field(const std::vector<T>& before, T* now, const T& initial) {
    return {reinterpret_cast<const std::byte*>(before.data()), reinterpret_cast<std::byte*>(now),
            reinterpret_cast<const std::byte*>(&initial), sizeof(T)};
  }

  Rows rows_;
  Buffer<std::int32_t> owners_;
  Buffer<std::uint8_t> active_;
  [[nodiscard]] bool is_spread(std::size_t k) const { return spread_.size() > 0 && spread_[k] != 0; }

  std::size_t points_ = 1;
  Buffer<std::uint8_t> spread_;  // empty without patches
  Buffer<Spring> springs_;
  Buffer<Turning> turnings_;
  Buffer<Vec4> normals_;
};

// Where the force on the second body of a contact is added. If this body belongs to another block than the first, it is
// a slot after the loads of all rows. Slots are sorted by the row of the second body. A block writes only to its own
// rows and to its own slots, so blocks need no locks.
class RemoteShares {
 public:
  // `blocks`: the first row of every block, and the number of rows. Returns which blocks each block reads.
  BlockReads set(const ContactRows& list, std::span<const std::size_t> blocks) {
    const std::size_t rows = blocks.back();
    offsets_.assign(rows + 1, 0);
    rows_ = rows;
    targets_.reset(list.size());
    std::copy(list.indices(), list.indices() + list.size(), targets_.data());
    each_remote(list, blocks, [&](std::size_t, Number j) { ++offsets_[j + 1]; });
    for (std::size_t row = 0; row < rows; ++row) offsets_[row + 1] += offsets_[row];
    receivers_.reset(offsets_[rows]);
    std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
    each_remote(list, blocks, [&](std::size_t k, Number j) {
      targets_[k] = static_cast<Number>(rows + next[j]);
      receivers_[next[j]++] = j;
    });
    return reads_of(list, blocks);
  }
  [[nodiscard]] std::size_t slots() const { return receivers_.size(); }
  // Per entry: the row of its second body, or the slot.
  [[nodiscard]] const Number* targets() const { return targets_.data(); }
  // The shares of a range of rows, in `loads`.
  [[nodiscard]] ShareJob shares(Load* loads, std::size_t first, std::size_t last) const {
    const std::size_t begin = offsets_[first];
    return {offsets_[last] - begin, loads, loads + rows_ + begin, receivers_.data() + begin};
  }

 private:
  static BlockReads reads_of(const ContactRows& list, std::span<const std::size_t> blocks) {
    BlockReads reads(blocks.size() - 1);
    std::vector<Number> block_of(blocks.back());
    for (std::size_t block = 0; block < reads.size(); ++block)
      std::fill(block_of.begin() + static_cast<std::ptrdiff_t>(blocks[block]),
                block_of.begin() + static_cast<std::ptrdiff_t>(blocks[block + 1]), static_cast<Number>(block));
    std::vector<Number> seen_by(reads.size(), no_number);
    each_remote(list, blocks, [&](std::size_t k, Number j) {
      const Number reader = block_of[list.owners()[k]], block = block_of[j];
      if (std::exchange(seen_by[block], reader) != reader) reads[reader].push_back(block);
    });
    return reads;
  }
  template <class F>
  static void each_remote(const ContactRows& list, std::span<const std::size_t> blocks, F&& f) {
    for (std::size_t block = 0; block + 1 < blocks.size(); ++block)
      for (std::size_t k = list.begin(blocks[block]); k < list.begin(blocks[block + 1]); ++k)
        if (list.indices()[k] >= blocks[block + 1]) f(k, list.indices()[k]);
  }

  std::vector<std::size_t> offsets_;
  std::size_t rows_ = 0;
  Buffer<Number> targets_, receivers_;
};

}  // namespace vicinal::dem
