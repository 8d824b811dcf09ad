// One step of contacts: data of pairs that last is carried over, new pairs start, and those that ended are named.
//
// Both sets are sorted, so this is a merge, row by row. Most rows do not change from step to step, and rows that follow
// each other unchanged are one run whose data is copied in one go.
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

namespace vicinal::contacts {

// A field: so many bytes per contact, from the contacts before to those now. The core does not care what they mean.
struct Field {
  const std::byte* before;
  std::byte* now;
  const std::byte* initial;
  std::size_t bytes;
};

struct Change {
  std::vector<std::int64_t> began;      // places among the contacts now
  std::vector<std::int64_t> ended;      // places among the contacts before
  std::vector<std::int32_t> ended_row;  // and their rows
};

namespace detail {

// Copies data of neighbouring contacts that stay neighbours in one go.
class Runs {
 public:
  explicit Runs(std::span<const Field> fields) : fields_(fields) {}
  ~Runs() { flush(); }
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

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
    for (const Field& f : fields_) std::memcpy(f.now + now * f.bytes, f.initial, f.bytes);
  }

 private:
  void flush() const {
    if (count_ == 0) return;
    for (const Field& f : fields_) std::memcpy(f.now + now_ * f.bytes, f.before + before_ * f.bytes, count_ * f.bytes);
  }
  void flush_and_follow() {
    flush();
    before_ += count_;
    now_ += count_;
    count_ = 0;
  }

  // Copies of more bytes than the second cache holds would not be served from it, one after the other field.
  static constexpr std::size_t longest = 2048;
  std::span<const Field> fields_;
  std::size_t before_ = 0, now_ = 0, count_ = 0;
};

// Merges rows first … last-1; false if a row of `now` does not ascend or has an entry that is not greater than the row.
inline bool merge_rows(const RowsView& before, const RowsView& now, std::size_t first, std::size_t last,
                       std::span<const Field> fields, Change& change) {
  Runs runs(fields);
  const std::int32_t* const was = before.indices.data();
  const std::int32_t* const is = now.indices.data();
  for (std::size_t row = first; row < last; ++row) {
    std::size_t b = before.begin(row), n = now.begin(row);
    const std::size_t b_end = before.begin(row + 1), n_end = now.begin(row + 1);
    // A row that is as before is in order as it was before.
    if (b_end - b == n_end - n && std::equal(is + n, is + n_end, was + b)) {
      if (n < n_end) runs.keep(b, n, n_end - n);
      continue;
    }
    const auto own = static_cast<std::int32_t>(row);
    const auto end = [&](std::size_t place) {
      change.ended.push_back(static_cast<std::int64_t>(place));
      change.ended_row.push_back(own);
    };
    std::int32_t last_seen = own;
    for (; n < n_end; ++n) {
      const std::int32_t other = is[n];
      if (other <= last_seen) return false;
      last_seen = other;
      while (b < b_end && was[b] < other) end(b++);
      if (b < b_end && was[b] == other) {
        runs.keep(b++, n, 1);
      } else {
        runs.begin(n);
        change.began.push_back(static_cast<std::int64_t>(n));
      }
    }
    while (b < b_end) end(b++);
  }
  return true;
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace detail

// Fills the fields of the contacts `now` and says what changed; the same for any number of threads. Where the rows of
// `now` are not in order, `ordered` becomes false and the fields are of no use. Offsets must have been checked.
inline Change merge(const RowsView& before, const RowsView& now, std::span<const Field> fields, bool& ordered) {
  const std::size_t rows = std::max(before.size(), now.size());
  std::vector<Change> pieces((rows + row_grain - 1) / row_grain);
  std::atomic<bool> good{true};
  parallel_ranges(rows, row_grain, [&](std::size_t first, std::size_t last, std::size_t piece) {
    if (good && !detail::merge_rows(before, now, first, last, fields, pieces[piece])) good = false;
  });
  ordered = good;
  Change change;
  if (!ordered) return change;
  std::size_t began = 0, ended = 0;
  for (const Change& piece : pieces) {
    began += piece.began.size();
    ended += piece.ended.size();
  }
  change.began.reserve(began);
  change.ended.reserve(ended);
  change.ended_row.reserve(ended);
  for (const Change& piece : pieces) {
    detail::append(change.began, piece.began);
    detail::append(change.ended, piece.ended);
    detail::append(change.ended_row, piece.ended_row);
  }
  return change;
}

}  // namespace vicinal::contacts
