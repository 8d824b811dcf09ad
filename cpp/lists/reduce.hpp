// Sums over the entries of a list: adds one value per entry to its bodies, in an order that does not depend on the
// number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/threads.hpp"
#include "lists/shares.hpp"

namespace vicinal {

// The contribution of an entry to its second body.
enum class Give { nothing, same, opposite };

// Rows in CSR form, or in a table of fixed width.
struct RowPlaces {
  std::span<const std::int64_t> offsets;  // of rows
  std::span<const std::int32_t> counts;   // of a table
  std::size_t width = 0;                  // of a table, 0 for rows
  const std::int32_t* indices = nullptr;

  [[nodiscard]] std::size_t size() const { return width == 0 ? offsets.size() - 1 : counts.size(); }
  [[nodiscard]] std::size_t begin(std::size_t row) const {
    return width == 0 ? static_cast<std::size_t>(offsets[row]) : row * width;
  }
  [[nodiscard]] std::span<const std::int32_t> operator[](std::size_t row) const {
    const std::size_t first = begin(row);
    const std::size_t length =
        width == 0 ? static_cast<std::size_t>(offsets[row + 1]) - first : static_cast<std::size_t>(counts[row]);
    return {indices + first, length};
  }
};

namespace detail {

inline constexpr std::size_t share_unit = 16;  // bodies; two threads do not write to one cache line

template <Give G, class T>
void give(T& to, T value) {
  if constexpr (G == Give::same) to += value;
  if constexpr (G == Give::opposite) to -= value;
}

// Adds K of `stride` columns.
template <std::size_t K, Give G, class T>
void reduce_rows(const RowPlaces& rows, const T* values, std::size_t stride, T* sums) {
  for_each_share(rows.size(), share_unit, [&](const BodyShare& share) {
    // Indices of half rows are not below the row, so rows after the last body of the share add nothing to it.
    for (std::size_t row = G == Give::nothing ? share.begin : 0; row < share.end; ++row) {
      const auto entries = rows[row];
      const T* const value = values + rows.begin(row) * stride;
      if (row >= share.begin) {
        std::array<T, K> sum;
        for (std::size_t c = 0; c < K; ++c) sum[c] = sums[row * stride + c];
        for (std::size_t e = 0; e < entries.size(); ++e)
          for (std::size_t c = 0; c < K; ++c) sum[c] += value[e * stride + c];
        for (std::size_t c = 0; c < K; ++c) sums[row * stride + c] = sum[c];
      }
      if constexpr (G != Give::nothing) {
        const auto [first, last] = share.piece(entries);
        for (std::size_t e = first; e < last; ++e) {
          T* const to = sums + static_cast<std::size_t>(entries[e]) * stride;
          for (std::size_t c = 0; c < K; ++c) give<G>(to[c], value[e * stride + c]);
        }
      }
    }
  });
}

template <std::size_t K, Give G, class T>
void reduce_pairs(std::span<const std::int32_t> i, std::span<const std::int32_t> j, const T* values, std::size_t stride,
                  std::size_t bodies, T* sums) {
  for_each_share(bodies, share_unit, [&](const BodyShare& share) {
    for (std::size_t e = 0; e < i.size(); ++e) {
      const T* const value = values + e * stride;
      if (share.has(i[e]))
        for (std::size_t c = 0; c < K; ++c) sums[static_cast<std::size_t>(i[e]) * stride + c] += value[c];
      if (G != Give::nothing && share.has(j[e]))
        for (std::size_t c = 0; c < K; ++c) give<G>(sums[static_cast<std::size_t>(j[e]) * stride + c], value[c]);
    }
  });
}

// Calls f.operator()<K, G>(first column) for groups of columns.
template <class F>
void for_each_columns(std::size_t columns, Give give, F&& f) {
  const auto with = [&]<Give G>() {
    std::size_t c = 0;
    for (; c + 3 <= columns; c += 3) f.template operator()<3, G>(c);
    if (c + 2 == columns) f.template operator()<2, G>(c);
    if (c + 1 == columns) f.template operator()<1, G>(c);
  };
  if (give == Give::nothing) with.template operator()<Give::nothing>();
  else if (give == Give::same) with.template operator()<Give::same>();
  else with.template operator()<Give::opposite>();
}

}  // namespace detail

// Both add to `sums`, which has as many columns as the values.
template <class T>
void reduce_rows(const RowPlaces& rows, const T* values, std::size_t columns, Give give, T* sums) {
  detail::for_each_columns(columns, give, [&]<std::size_t K, Give G>(std::size_t c) {
    detail::reduce_rows<K, G>(rows, values + c, columns, sums + c);
  });
}
template <class T>
void reduce_pairs(std::span<const std::int32_t> i, std::span<const std::int32_t> j, const T* values,
                  std::size_t columns, Give give, std::size_t bodies, T* sums) {
  detail::for_each_columns(columns, give, [&]<std::size_t K, Give G>(std::size_t c) {
    detail::reduce_pairs<K, G>(i, j, values + c, columns, bodies, sums + c);
  });
}

}  // namespace vicinal
