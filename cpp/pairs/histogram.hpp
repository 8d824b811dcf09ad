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

#include "pairs/measure.hpp"
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
    table_.resize(4 * count() + 64);
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
  [[nodiscard]] bool holds(T square) const { return square >= squares_.front() && square <= squares_.back(); }
  // Of a square between the first and the last edge. The table leads to the bin or to the one before, nearly always:
  // the first step is taken without a branch, which would be unpredictable.
  [[nodiscard]] std::size_t operator()(T square) const {
    const auto share = static_cast<float>(static_cast<double>(square) * inverse_);
    std::size_t bin = table_[static_cast<std::size_t>(std::sqrt(std::min(share, 1.0F)) * cells_)];
    bin += square >= upper_[bin] ? 1 : 0;
    while (square >= upper_[bin]) ++bin;
    return bin;
  }

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

    void operator()(Slot query, const Shift& shift, std::span<const std::int32_t> slots) const {
      const Task<T, D>& task = all.task_;
      const Bodies<T, D>& bodies = task.index.bodies();
      const Measure<T, D> measure(task.queries, bodies, query, shift);
      const auto id = static_cast<std::size_t>(task.queries.ids[query]);
      const std::int32_t mine = all.of_queries_.types != nullptr ? all.of_queries_.types[id] : 0;
      const double weight = Weighted ? all.of_queries_.weights[id] : 1;
      const Marks marks = all.of_bodies_;
      // In two steps, some hits at a time: the first can be vectorised, and its loads do not wait for the second.
      constexpr std::size_t together = 256;
      std::array<T, together> squares;
      for (std::size_t from = 0; from < slots.size(); from += together) {
        const std::size_t n = std::min(together, slots.size() - from);
        for (std::size_t k = 0; k < n; ++k) squares[k] = measure.squared(static_cast<std::size_t>(slots[from + k]));
        for (std::size_t k = 0; k < n; ++k) {
          if (!all.bins_.holds(squares[k])) continue;
          std::size_t bin = all.bins_(squares[k]);
          if constexpr (!Weighted) {
            if (marks.types == nullptr) {
              ++to[bin];
              continue;
            }
          }
          const auto other = static_cast<std::size_t>(measure.id(static_cast<std::size_t>(slots[from + k])));
          if (marks.types != nullptr) bin += all.row(mine, marks.types[other]) * all.bins_.count();
          if constexpr (Weighted) to[bin] += weight * marks.weights[other];
          else ++to[bin];
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
