// Counts of pairs by distance, made during the search: no pair is stored.
//
// Bins are those of numpy.histogram for squared distances: bin b holds edge[b] <= d2 < edge[b+1], where edges are
// squared in the dtype of the points; the last bin also holds d2 == edge[last].
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "pairs/measure_hits.hpp"
#include "pairs/pair_visitor.hpp"

namespace vicinal {

// The bin of a squared distance, from a table over the distance that leads close to it.
template <class T>
class Bins {
 public:
  // Squares of edges, ascending, at least two.
  explicit Bins(std::span<const T> squares) : squares_(squares.begin(), squares.end()) {
    const auto last = static_cast<double>(squares_.back());
    upper_.assign(squares_.begin() + 1, squares_.end());
    upper_.back() = std::numeric_limits<T>::infinity();
    inverse_ = std::min(1 / last, std::numeric_limits<double>::max());
    // In a larger table a distance rounded to float32 could lead several cells too far.
    constexpr std::size_t most_cells = std::size_t{1} << 22;
    table_.resize(std::min(4 * count() + 64, most_cells));
    cells_ = static_cast<float>(table_.size() - 1);
    // A cell begins where the square is (cell / cells)^2 of the last. Rounding may lead one cell too far: its bin is
    // one in which the squares of the cells before begin.
    std::size_t bin = 0;
    for (std::size_t cell = 0; cell < table_.size(); ++cell) {
      const double root = std::max(0.0, static_cast<double>(cell) - 2) / static_cast<double>(cells_);
      while (bin + 1 < count() && static_cast<double>(squares_[bin + 1]) <= root * root * last) ++bin;
      table_[cell] = static_cast<std::uint32_t>(bin);
    }
  }
  [[nodiscard]] std::size_t count() const { return squares_.size() - 1; }
  [[nodiscard]] T least() const { return squares_.front(); }
  [[nodiscard]] T most() const { return squares_.back(); }
  // The cells of the table for squares; those beyond the last edge get the last cell. A loop of its own, which is
  // vectorised.
  void find_cells(const T* __restrict squares, std::size_t count, std::int32_t* __restrict cells) const {
    const double inverse = inverse_;
    const float all = cells_;
    const auto last = static_cast<std::int32_t>(table_.size() - 1);
    for (std::size_t k = 0; k < count; ++k) {
      const auto share = std::min(static_cast<float>(static_cast<double>(squares[k]) * inverse), 1.0F);
      const auto cell = static_cast<std::int32_t>(std::sqrt(share) * all);
      cells[k] = cell < last ? cell : last;
    }
  }
  // The bin of a square between the first and the last edge in a cell. Pointers, which a loop that counts can keep in
  // registers. The table leads to the bin or to the one before, nearly always: the first step is taken without a
  // branch, which would be unpredictable.
  struct Finder {
    const std::uint32_t* table;
    const T* upper;
    [[nodiscard]] std::size_t operator()(T square, std::int32_t cell) const {
      std::size_t bin = table[static_cast<std::size_t>(cell)];
      bin += square >= upper[bin] ? 1 : 0;
      while (square >= upper[bin]) ++bin;
      return bin;
    }
  };
  [[nodiscard]] Finder finder() const { return {table_.data(), upper_.data()}; }

 private:
  std::vector<T> squares_;
  std::vector<T> upper_;  // of each bin; infinite for the last
  std::vector<std::uint32_t> table_;
  double inverse_ = 0;
  float cells_ = 0;
};

// Weights and types of bodies, by the user's number. Null: all weights are 1; all types are 0.
struct Marks {
  const double* weights = nullptr;
  const std::int32_t* types = nullptr;
  std::size_t kinds = 1;
};

// Sums by (type of the query, type of the body, bin): of weight products, or counts. In mode half a pair of bodies of
// different types is counted once, at the smaller type first. Sums of weights are added part by part, so they do not
// depend on the threads.
template <class T, int D>
class Histogram {
 public:
  Histogram(const Task<T, D>& task, std::span<const T> squares, const Marks& of_queries, const Marks& of_bodies)
      : task_(task), bins_(squares), of_queries_(of_queries), of_bodies_(of_bodies),
        size_(of_queries.kinds * of_bodies.kinds * bins_.count()) {}

  Tally counts(std::span<std::int64_t> to) { return run<std::int64_t, false>(to); }
  Tally sums(std::span<double> to) { return run<double, true>(to); }

 private:
  template <class Number, bool Weighted>
  struct Visitor {
    const Histogram& all;
    Number* to;

    void several(const std::int32_t* queries, const Shift& shift, std::span<const std::int32_t> slots) const {
      const Task<T, D>& task = all.task_;
      const Bodies<T, D>& bodies = task.index.bodies();
      const HitMeasure<T, D> measure(task.queries, bodies, shift);
      const T least = all.bins_.least(), most = all.bins_.most();
      const Marks of_queries = all.of_queries_, of_bodies = all.of_bodies_;
      // In steps, some hits at a time: the first two are vectorised.
      constexpr std::size_t together = 256;
      std::array<T, together> squares;
      std::array<std::int32_t, together> query_ids, ids, cells;
      const bool named = Weighted || of_bodies.types != nullptr;
      const auto bin_of = all.bins_.finder();
      Number* const sums = to;
      for (std::size_t from = 0; from < slots.size(); from += together) {
        const std::size_t n = std::min(together, slots.size() - from);
        measure.pairs(
            queries + from, slots.subspan(from, n),
            {nullptr, squares.data(), nullptr, named ? query_ids.data() : nullptr, named ? ids.data() : nullptr});
        all.bins_.find_cells(squares.data(), n, cells.data());
        for (std::size_t k = 0; k < n; ++k) {
          if (squares[k] < least || squares[k] > most) continue;
          std::size_t bin = bin_of(squares[k], cells[k]);
          if constexpr (!Weighted) {
            if (!named) {
              ++sums[bin];
              continue;
            }
          }
          const auto one = static_cast<std::size_t>(query_ids[k]), other = static_cast<std::size_t>(ids[k]);
          if (of_bodies.types != nullptr) {
            const std::int32_t mine = of_queries.types != nullptr ? of_queries.types[one] : 0;
            bin += all.row(mine, of_bodies.types[other]) * all.bins_.count();
          }
          if constexpr (Weighted) sums[bin] += of_queries.weights[one] * of_bodies.weights[other];
          else ++sums[bin];
        }
      }
    }
  };
  // The row of a pair of types. In mode half the smaller type comes first.
  [[nodiscard]] std::size_t row(std::int32_t one, std::int32_t other) const {
    if (task_.mode == Mode::half && other < one) std::swap(one, other);
    return static_cast<std::size_t>(one) * of_bodies_.kinds + static_cast<std::size_t>(other);
  }

  template <class Number, bool Weighted>
  Tally run(std::span<Number> to) {
    // Counts may be added in any order.
    const std::size_t tables = Weighted ? task_.index.parts(task_.queries) : static_cast<std::size_t>(thread_count());
    std::vector<std::vector<Number>> partial(tables);
    const Tally tally = visit_pairs(task_, [&](std::size_t part, std::size_t thread) {
      auto& mine = partial[Weighted ? part : thread];
      if (mine.empty()) mine.resize(size_);
      return Visitor<Number, Weighted>{*this, mine.data()};
    });
    std::fill(to.begin(), to.end(), Number{0});
    for (const auto& mine : partial)
      for (std::size_t k = 0; k < mine.size(); ++k) to[k] += mine[k];
    return tally;
  }

  const Task<T, D>& task_;
  Bins<T> bins_;
  Marks of_queries_, of_bodies_;
  std::size_t size_;
};

}  // namespace vicinal
