// Rows: sorting at every length around the limits of its methods, and the transpose on several threads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "exec/threads.hpp"
#include "rows/from_pairs.hpp"
#include "rows/rows.hpp"
#include "rows/sort_row.hpp"
#include "rows/transpose.hpp"

namespace {

using Row = std::vector<std::int32_t>;

void check_sorted(Row row, const std::string& what) {
  Row expected = row;
  std::sort(expected.begin(), expected.end());
  // From one place to another: what follows the row is read, but must not get into it.
  const std::size_t n = row.size();
  Row from = row;
  from.resize(n + vicinal::sort_overshoot, std::numeric_limits<std::int32_t>::min());
  const Row before = from;
  Row to(n + vicinal::sort_overshoot);
  vicinal::row_kernels().sort(from.data(), n, to.data());
  check::that(from == before, what + ": the source of " + std::to_string(n));
  to.resize(n);
  check::that(to == expected, what + ", to another place, of " + std::to_string(n));
  vicinal::sort_row(row.data(), n);
  check::that(row == expected, what + " of " + std::to_string(n));
}

// Places of ids and columns in their order. `most` decides whether an id and a place fit into one number.
void check_arranged(std::size_t n, std::int32_t most, std::size_t count) {
  std::mt19937 rng(static_cast<unsigned>(n));
  const std::string what = std::to_string(n) + " ids up to " + std::to_string(most);
  std::vector<std::int32_t> ids(n);
  // Different ids, spread over the whole range.
  for (std::size_t k = 0; k < n; ++k)
    ids[k] = static_cast<std::int32_t>(static_cast<std::int64_t>(most) * static_cast<std::int64_t>(k) /
                                       static_cast<std::int64_t>(n));
  std::shuffle(ids.begin(), ids.end(), rng);
  Row places(n + vicinal::sort_overshoot);
  const int bits = vicinal::row_kernels().rank(ids.data(), n, places.data());
  check::that((bits > 0) == (n > 2 && most == std::numeric_limits<std::int32_t>::max()),
              what + ": whether all bits fit");
  Row expected = ids;
  std::sort(expected.begin(), expected.end());
  if (bits == 0) {
    for (std::size_t k = 0; k < n; ++k)
      check::that(ids[static_cast<std::size_t>(places[k])] == expected[k], what + ": the order");
  } else {
    for (std::size_t k = 0; k < n; ++k) places[k] &= (1 << bits) - 1;
  }
  const Row order(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n));
  std::vector<Row> columns(count, Row(n + vicinal::sort_overshoot));
  std::vector<std::int32_t*> pointers;
  for (Row& column : columns) {
    for (std::int32_t& value : column) value = static_cast<std::int32_t>(rng());
    pointers.push_back(column.data());
  }
  const std::vector<Row> before = columns;
  vicinal::row_kernels().arrange(places.data(), n, pointers.data(), count);
  for (std::size_t c = 0; c < count; ++c)
    for (std::size_t k = 0; k < (n + 15) / 16 * 16; ++k)
      check::that(columns[c][k] == before[c][k < n ? static_cast<std::size_t>(order[k]) : k],
                  what + ": column " + std::to_string(c) + " of " + std::to_string(count));
}

const check::Register arranged("columns are put into the order of ids", [] {
  for (const std::size_t n : {2, 15, 16, 17, 100, 640, 1023, 1024})
    for (const std::int32_t most : {100'000, std::numeric_limits<std::int32_t>::max()})
      for (const std::size_t count : {1, 3, 4, 5, 7}) check_arranged(n, most, count);
});

const check::Register lengths("rows of every length are sorted", [] {
  std::mt19937 rng(1);
  std::vector<std::size_t> sizes{1023, 1024, 1025, 2047, 2048, 5000};
  for (std::size_t n = 0; n <= 300; ++n) sizes.push_back(n);
  constexpr std::int32_t low = std::numeric_limits<std::int32_t>::min(),
                         high = std::numeric_limits<std::int32_t>::max();
  for (const std::size_t n : sizes)
    for (const std::int32_t most : {high, 1000, 3, 0}) {
      std::uniform_int_distribution<std::int32_t> any(0, most);
      Row row(n);
      for (std::int32_t& value : row) value = any(rng);
      check_sorted(row, "random values up to " + std::to_string(most));
      std::sort(row.begin(), row.end());
      check_sorted(row, "ascending values");
      std::reverse(row.begin(), row.end());
      check_sorted(row, "descending values");
    }
  for (std::size_t n = 1; n < 200; ++n) {
    Row row(n, 5);
    row[n / 2] = low;
    row[n / 3] = high;
    check_sorted(row, "the extreme values");
  }
});

const check::Register beside("sorting a row changes nothing beside it", [] {
  std::mt19937 rng(2);
  for (std::size_t n = 0; n < 200; ++n) {
    Row row(n + 40, -1);
    for (std::size_t k = 20; k < 20 + n; ++k) row[k] = static_cast<std::int32_t>(rng() % 100);
    vicinal::sort_row(row.data() + 20, n);
    for (std::size_t k = 0; k < 20; ++k)
      check::that(row[k] == -1 && row[20 + n + k] == -1, "the memory beside the row");
  }
});

const check::Register from_pairs("pairs become rows of the smaller id, for any number of threads", [] {
  std::mt19937 rng(4);
  const int before = vicinal::thread_count_setting();
  for (const int threads : {1, 3}) {
    vicinal::thread_count_setting() = threads;
    vicinal::enter_call();
    for (const auto& [rows, pairs] :
         {std::pair<std::size_t, std::size_t>{1, 0}, {7, 40}, {3000, 9000}, {3000, 90000}}) {
      Row i, j;
      std::vector<Row> expected(rows);
      for (std::size_t k = 0; k < pairs; ++k) {
        const auto low = static_cast<std::int32_t>(rng() % rows);
        const auto high = low + static_cast<std::int32_t>(rng() % 50);
        const bool turned = rng() % 2 == 0;
        i.push_back(turned ? high : low);
        j.push_back(turned ? low : high);
        expected[static_cast<std::size_t>(low)].push_back(high);
      }
      check::that(vicinal::rows_needed(i, j).value() <= rows, "rows that are needed");
      std::vector<std::int64_t> offsets(rows + 1);
      Row indices(pairs);
      std::vector<vicinal::CanonicalPair> scratch(pairs);
      vicinal::rows_from_pairs(i, j, offsets, indices, scratch);
      for (std::size_t row = 0; row < rows; ++row) {
        std::sort(expected[row].begin(), expected[row].end());
        check::that(Row(indices.begin() + offsets[row], indices.begin() + offsets[row + 1]) == expected[row],
                    "a row of pairs");
      }
    }
  }
  vicinal::thread_count_setting() = before;
  vicinal::enter_call();
});

const check::Register transposed("entry j of row i becomes entry i of row j, for any number of threads", [] {
  std::mt19937 rng(3);
  const int before = vicinal::thread_count_setting();
  for (const int threads : {1, 2, 5}) {
    vicinal::thread_count_setting() = threads;
    vicinal::enter_call();
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{500}}) {
      constexpr std::size_t columns = 40;
      std::vector<std::int64_t> offsets{0};
      Row indices;
      std::vector<Row> expected(columns);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = rng() % 9; k > 0; --k) {
          const std::size_t j = rng() % columns;
          indices.push_back(static_cast<std::int32_t>(j));
          expected[j].push_back(static_cast<std::int32_t>(i));
        }
        offsets.push_back(static_cast<std::int64_t>(indices.size()));
      }
      std::vector<std::int64_t> starts(columns + 1);
      Row entries(indices.size());
      vicinal::transpose({offsets, indices}, starts, entries);
      for (std::size_t j = 0; j < columns; ++j)
        check::that(Row(entries.begin() + starts[j], entries.begin() + starts[j + 1]) == expected[j],
                    "a transposed row");
    }
  }
  vicinal::thread_count_setting() = before;
  vicinal::enter_call();
});

const check::Register wrong("the first offset that falls is reported", [] {
  const Row indices{1, 2, 3};
  const auto first = [&](const std::vector<std::int64_t>& offsets) {
    return vicinal::first_wrong_offset({offsets, indices});
  };
  check::equal(first({0, 1, 3}), std::size_t{2}, "correct rows");
  check::equal(first({1, 2, 3}), std::size_t{0}, "the first offset is not 0");
  check::equal(first({0, 2, 1, 3}), std::size_t{1}, "offsets that fall");
  check::equal(first({0, 1, 2}), std::size_t{1}, "fewer entries than there are");
  check::equal(first({0, 1, 4}), std::size_t{1}, "more entries than there are");
});

}  // namespace
