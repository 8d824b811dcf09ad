// The history of pairs: lasting pairs keep their data, new pairs get initial values, on any number of threads.
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "check.hpp"
#include "exec/threads.hpp"
#include "rows/history.hpp"

namespace {

using Pairs = std::set<std::pair<std::int32_t, std::int32_t>>;

struct Stored {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> indices;
  [[nodiscard]] vicinal::RowsView view() const { return {offsets, indices}; }
};

Stored rows_of(const Pairs& pairs, std::size_t rows) {
  Stored made{std::vector<std::int64_t>(rows + 1, 0), {}};
  for (const auto& [row, index] : pairs) {
    ++made.offsets[static_cast<std::size_t>(row) + 1];
    made.indices.push_back(index);
  }
  for (std::size_t row = 0; row < rows; ++row) made.offsets[row + 1] += made.offsets[row];
  return made;
}

Pairs some_pairs(std::size_t rows, unsigned seed, bool above) {
  std::mt19937 rng(seed);
  Pairs made;
  for (std::size_t k = 0; k < 4 * rows; ++k) {
    const auto row = static_cast<std::int32_t>(rng() % rows);
    const auto index = static_cast<std::int32_t>(static_cast<std::size_t>(row) % 64 + rng() % 8);
    if (!above || index > row) made.emplace(row, index);
  }
  return made;
}

vicinal::HistoryField field(const std::vector<double>& before, std::vector<double>& now, const double& initial) {
  return {reinterpret_cast<const std::byte*>(before.data()), reinterpret_cast<std::byte*>(now.data()),
          reinterpret_cast<const std::byte*>(&initial), sizeof(double)};
}

// A value that only this pair has.
double value_of(const std::pair<std::int32_t, std::int32_t>& pair) { return 1e6 * pair.first + pair.second + 0.5; }

void check_carried(std::size_t rows, bool above, bool merge) {
  const Pairs before = some_pairs(rows, 1, above), now = some_pairs(rows, 2, above);
  const Stored old_rows = rows_of(before, rows), new_rows = rows_of(now, rows);
  std::vector<double> old_values, new_values(now.size(), -2);
  for (const auto& pair : before) old_values.push_back(value_of(pair));
  const double initial = -1;
  const std::vector<vicinal::HistoryField> fields{field(old_values, new_values, initial)};
  std::size_t new_pairs = 0;
  if (merge) {
    bool ordered = false;
    const auto change = vicinal::merge_history(old_rows.view(), new_rows.view(), fields, ordered);
    check::that(ordered, "the rows are in order");
    for (const std::int64_t k : change.began) check::that(new_values[static_cast<std::size_t>(k)] == -1, "new data");
    check::equal(change.ended.size(), before.size() + change.began.size() - now.size(), "what ended");
    new_pairs = change.began.size();
  } else {
    vicinal::carry_history(old_rows.view(), new_rows.view(), fields);
  }
  std::size_t k = 0, fresh = 0;
  for (const auto& pair : now) {
    const bool lasts = before.contains(pair);
    fresh += lasts ? 0 : 1;
    check::that(new_values[k++] == (lasts ? value_of(pair) : -1), "the data of a pair");
  }
  if (merge) check::equal(new_pairs, fresh, "what began");
}

const check::Register carried("data follows the pair", [] {
  const int before = vicinal::thread_count_setting();
  for (const int threads : {1, 3}) {
    vicinal::thread_count_setting() = threads;
    check_carried(50, true, true);
    for (const std::size_t rows : {1, 10000}) check_carried(rows, false, false);
  }
  vicinal::thread_count_setting() = before;
});

const check::Register disorder("rows that do not ascend are detected", [] {
  const Stored before{{0, 0}, {}};
  for (const auto& indices : {std::vector<std::int32_t>{2, 1}, {1, 1}, {0, 1}}) {
    const Stored now{{0, 2}, indices};
    bool ordered = true;
    static_cast<void>(vicinal::merge_history(before.view(), now.view(), {}, ordered));
    check::that(!ordered, "out of order, repeated, or not above the row");
  }
});

const check::Register repeats("a repeated index counts as new", [] {
  const Stored before{{0, 1}, {4}}, now{{0, 3}, {4, 4, 7}};
  const std::vector<double> old_values{3};
  std::vector<double> values(3, -2);
  const double initial = -1;
  const std::vector<vicinal::HistoryField> fields{field(old_values, values, initial)};
  vicinal::carry_history(before.view(), now.view(), fields);
  check::that(values == std::vector<double>{3, -1, -1}, "the first keeps the data");
});

}  // namespace
