// The history of pairs: the data of lasting pairs is carried from the previous rows to the current rows, new pairs
// start with initial values, and ended pairs are listed.
//
// Both sets of rows are sorted, so this is a merge, row by row. Most rows do not change from step to step, and
// consecutive unchanged rows form one run whose data is copied at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "exec/threads.hpp"
#include "rows/rows.hpp"

namespace vicinal {

// A field: a number of bytes per pair, from the previous to the current pairs. Their meaning does not matter here.
struct HistoryField {
  const std::byte* before;
  std::byte* now;
  const std::byte* initial;
  std::size_t bytes;
};

struct HistoryChange {
  std::vector<std::int64_t> began;      // entries of the current rows
  std::vector<std::int64_t> ended;      // entries of the previous rows
  std::vector<std::int32_t> ended_row;  // and their rows
};

namespace detail {

// Copies the data of consecutive entries that stay consecutive at once.
class HistoryRuns {
 public:
  explicit HistoryRuns(std::span<const HistoryField> fields) : fields_(fields) {}
  ~HistoryRuns() { flush(); }
  HistoryRuns(const HistoryRuns&) = delete;
  HistoryRuns& operator=(const HistoryRuns&) = delete;

  void keep(std::size_t before, std::size_t now, std::size_t count) {
    if (before != before_ + count_ || now != now_ + count_) {
      flush();
      before_ = before;
      now_ = now;
      count_ = 0;
    }
    count_ += count;
    if (count_ >= longest) flush_and_follow();
  }
  void begin(std::size_t now) const {
    for (const HistoryField& f : fields_) std::memcpy(f.now + now * f.bytes, f.initial, f.bytes);
  }

 private:
  void flush() const {
    if (count_ == 0) return;
    for (const HistoryField& f : fields_)
      std::memcpy(f.now + now_ * f.bytes, f.before + before_ * f.bytes, count_ * f.bytes);
  }
  void flush_and_follow() {
    flush();
    before_ += count_;
    now_ += count_;
    count_ = 0;
  }

  // A longer run of one field would leave the level-2 cache before the next field is copied.
  static constexpr std::size_t longest = 2048;
  std::span<const HistoryField> fields_;
  std::size_t before_ = 0, now_ = 0, count_ = 0;
};

// Merges row by row. Calls began(current entry) and ended(previous entry, row). Returns false if a current row is not
// ascending or has an index below `least(row)`; with `repeats` an index may occur again, which counts as new.
template <bool repeats, class Least, class Began, class Ended>
bool merge_rows(const RowsView& before, const RowsView& now, std::size_t first, std::size_t last,
                std::span<const HistoryField> fields, Least&& least, Began&& began, Ended&& ended) {
  HistoryRuns runs(fields);
  const std::int32_t* const was = before.indices.data();
  const std::int32_t* const is = now.indices.data();
  for (std::size_t row = first; row < last; ++row) {
    std::size_t b = before.begin(row), n = now.begin(row);
    const std::size_t b_end = before.begin(row + 1), n_end = now.begin(row + 1);
    // An unchanged row is sorted, because the previous row was.
    if (b_end - b == n_end - n && std::equal(is + n, is + n_end, was + b)) {
      if (n < n_end) runs.keep(b, n, n_end - n);
      continue;
    }
    std::int32_t last_seen = least(row) - 1;
    for (; n < n_end; ++n) {
      const std::int32_t index = is[n];
      if (index < last_seen || (!repeats && index == last_seen)) return false;
      last_seen = index;
      while (b < b_end && was[b] < index) ended(b++, row);
      if (b < b_end && was[b] == index) {
        runs.keep(b++, n, 1);
      } else {
        runs.begin(n);
        began(n);
      }
    }
    while (b < b_end) ended(b++, row);
  }
  return true;
}

}  // namespace detail

// Fills the fields of the current pairs, for rows that ascend. Offsets must have been checked.
inline void carry_history(const RowsView& before, const RowsView& now, std::span<const HistoryField> fields) {
  parallel_ranges(std::max(before.size(), now.size()), row_grain,
                  [&](std::size_t first, std::size_t last, std::size_t) {
                    detail::merge_rows<true>(
                        before, now, first, last, fields, [](std::size_t) { return 0; }, [](std::size_t) {},
                        [](std::size_t, std::size_t) {});
                  });
}

// The same for rows of pairs i < j, with the changes; independent of the number of threads. If a current row does not
// ascend, or has an index that is not greater than the row, `ordered` becomes false and the fields are undefined.
inline HistoryChange merge_history(const RowsView& before, const RowsView& now, std::span<const HistoryField> fields,
                                   bool& ordered) {
  const std::size_t rows = std::max(before.size(), now.size());
  std::vector<HistoryChange> pieces((rows + row_grain - 1) / row_grain);
  std::atomic<bool> good{true};
  parallel_ranges(rows, row_grain, [&](std::size_t first, std::size_t last, std::size_t piece) {
    HistoryChange& change = pieces[piece];
    const auto above = [](std::size_t row) { return static_cast<std::int32_t>(row) + 1; };
    const auto began = [&](std::size_t entry) { change.began.push_back(static_cast<std::int64_t>(entry)); };
    const auto ended = [&](std::size_t entry, std::size_t row) {
      change.ended.push_back(static_cast<std::int64_t>(entry));
      change.ended_row.push_back(static_cast<std::int32_t>(row));
    };
    if (good && !detail::merge_rows<false>(before, now, first, last, fields, above, began, ended)) good = false;
  });
  ordered = good;
  HistoryChange all;
  if (!ordered) return all;
  std::size_t began = 0, ended = 0;
  for (const HistoryChange& piece : pieces) {
    began += piece.began.size();
    ended += piece.ended.size();
  }
  all.began.reserve(began);
  all.ended.reserve(ended);
  all.ended_row.reserve(ended);
  const auto append = [](auto& to, const auto& more) { to.insert(to.end(), more.begin(), more.end()); };
  for (const HistoryChange& piece : pieces) {
    append(all.began, piece.began);
    append(all.ended, piece.ended);
    append(all.ended_row, piece.ended_row);
  }
  return all;
}

}  // namespace vicinal
