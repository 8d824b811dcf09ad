// Sums of a function over pairs, made during the search: no pair is stored.
//
// The function is compiled by the caller and takes blocks of pairs. Sums are exact and rounded once (exact_sum.hpp), so
// they depend neither on the order of pairs nor on the threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pairs/exact_sum.hpp"
#include "pairs/measure_hits.hpp"
#include "pairs/pair_visitor.hpp"

namespace vicinal {

// Of the same numbers as sum_block: a block of values is summed at once.
inline constexpr std::size_t function_block = sum_block;

// values[c * function_block + k] is value c of pair k. The vectors are columns, too, one per axis. `done` becomes n, or
// the function has failed.
struct PairFunction {
  void (*call)(std::int64_t n, const std::int32_t* i, const std::int32_t* j, const void* squares, const void* vectors,
               double* values, const void* data, const std::int64_t* shapes, std::int64_t* done);
  std::size_t values;  // per pair
  const void* data;    // of the user
  const std::int64_t* shapes;
};

struct FunctionFailed : std::runtime_error {
  FunctionFailed() : std::runtime_error("the function raised an exception") {}
};

// Pairs that wait for the function.
template <class T, int D>
class FunctionBlock {
 public:
  FunctionBlock(const Task<T, D>& task, const PairFunction& function)
      : task_(task), function_(function), values_(function.values * function_block) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const double* values(std::size_t which) const { return values_.data() + which * function_block; }

  // Appends as many hits of a query as there is room for, and returns their number. In mode half pairs are turned so
  // that i < j, and the images of a body with itself are upper ones.
  std::size_t append(Slot query, const Shift& shift, std::span<const std::int32_t> slots) {
    const std::size_t n = std::min(slots.size(), function_block - size_);
    const Bodies<T, D>& bodies = task_.index.bodies();
    if (task_.mode == Mode::half) {
      const std::int32_t id = task_.queries.ids[query];
      put<true>(query, shift, slots.first(n), is_upper_image(bodies.box, shift) ? id : id + 1);
    } else {
      put<false>(query, shift, slots.first(n), 0);
    }
    size_ += n;
    return n;
  }
  // Calls the function.
  void evaluate() {
    // Up to a whole number of registers: a compiler may treat what remains of a loop by other instructions, whose
    // results must not depend on the place of a pair.
    constexpr std::size_t together = 64;
    const std::size_t padded = (size_ + together - 1) / together * together;
    for (std::size_t k = size_; k < padded; ++k) {
      i_[k] = i_[size_ - 1];
      j_[k] = j_[size_ - 1];
      squares_[k] = squares_[size_ - 1];
      for (auto& column : vectors_) column[k] = column[size_ - 1];
    }
    std::int64_t done = 0;
    const auto n = static_cast<std::int64_t>(padded);
    function_.call(n, i_.data(), j_.data(), squares_.data(), vectors_.data(), values_.data(), function_.data,
                   function_.shapes, &done);
    if (done != n) throw FunctionFailed();
  }
  void clear() { size_ = 0; }

 private:
  // Writes hits; `Turn`: those whose number is below a limit are turned.
  template <bool Turn>
  void put(Slot query, const Shift& shift, std::span<const std::int32_t> slots, std::int32_t limit) {
    const HitMeasure<T, D> measure(task_.queries, task_.index.bodies(), shift);
    measure.columns(query, slots, squares_.data() + size_, vectors_[0].data() + size_, function_block,
                    j_.data() + size_);
    const std::size_t end = size_ + slots.size();
    std::fill(i_.data() + size_, i_.data() + end, task_.queries.ids[query]);
    if constexpr (Turn)
      for (std::size_t k = size_; k < end; ++k) {
        const bool turned = j_[k] < limit;
        const std::int32_t other = j_[k];
        j_[k] = turned ? i_[k] : other;
        i_[k] = turned ? other : i_[k];
        // No -0: as if found from either side.
        for (auto& column : vectors_) column[k] = (turned ? -column[k] : column[k]) + T{0};
      }
  }

  const Task<T, D>& task_;
  const PairFunction& function_;
  std::size_t size_ = 0;
  std::array<std::int32_t, function_block> i_, j_;
  std::array<T, function_block> squares_;
  std::array<std::array<T, function_block>, D> vectors_;
  std::vector<double> values_;
};

// Sums over all pairs.
template <class T, int D>
class TotalSums {
 public:
  TotalSums(const Task<T, D>& task, const PairFunction& function) : block_(task, function), sums_(function.values) {}

  void operator()(Slot query, const Shift& shift, std::span<const std::int32_t> slots) {
    while (!slots.empty()) {
      slots = slots.subspan(block_.append(query, shift, slots));
      if (block_.size() == function_block) finish();
    }
  }
  void finish() {
    if (block_.size() == 0) return;
    block_.evaluate();
    for (std::size_t c = 0; c < sums_.size(); ++c) sums_[c].add(block_.values(c), block_.size());
    block_.clear();
  }
  [[nodiscard]] const ExactSum& sum(std::size_t which) const { return sums_[which]; }

 private:
  FunctionBlock<T, D> block_;
  std::vector<ExactSum> sums_;
};

// Sums over the neighbours of each query. The hits of a query come in several runs: those of a piece of work are kept
// until its end, so that the sum of one query is made at a time. Where they are too many to keep, unfinished sums are
// kept instead.
template <class T, int D>
class QuerySums {
 public:
  QuerySums(const Task<T, D>& task, const PairFunction& function, double* sums)
      : ids_(task.queries.ids.data()), block_(task, function), row_(function.values), sums_(sums) {}

  void operator()(Slot query, const Shift& shift, std::span<const std::int32_t> slots) {
    if (hits_.size() + slots.size() > most_hits) sum_up(true);
    runs_.push_back({query, shift, hits_.size(), slots.size()});
    hits_.insert(hits_.end(), slots.begin(), slots.end());
  }
  // The piece of work is complete.
  void finish() {
    sum_up(!unfinished_.empty());
    for (auto& [query, sums] : unfinished_) write(query, sums);
    unfinished_.clear();
  }

 private:
  static constexpr std::size_t most_hits = std::size_t{1} << 20U;

  struct Run {
    Slot query;
    Shift shift;
    std::size_t begin, size;
  };
  // Values of one query in the block; `last`: there are no more.
  struct QueryValues {
    Slot query;
    std::size_t begin, end;
    bool last;
  };

  void sum_up(bool keep) {
    const auto by_query = [](const Run& a, const Run& b) { return a.query < b.query; };
    if (!std::is_sorted(runs_.begin(), runs_.end(), by_query)) std::sort(runs_.begin(), runs_.end(), by_query);
    for (std::size_t k = 0; k < runs_.size(); ++k) {
      const Run& run = runs_[k];
      const bool last = k + 1 == runs_.size() || runs_[k + 1].query != run.query;
      std::span<const std::int32_t> slots(hits_.data() + run.begin, run.size);
      while (!slots.empty()) {
        const std::size_t begin = block_.size();
        slots = slots.subspan(block_.append(run.query, run.shift, slots));
        if (begin == 0 || pieces_.back().query != run.query) pieces_.push_back({run.query, begin, begin, false});
        pieces_.back().end = block_.size();
        pieces_.back().last = last && slots.empty();
        if (block_.size() == function_block) add_block(keep);
      }
    }
    add_block(keep);
    runs_.clear();
    hits_.clear();
  }
  void add_block(bool keep) {
    if (block_.size() == 0) return;
    block_.evaluate();
    for (const QueryValues& piece : pieces_) {
      for (std::size_t c = 0; c < row_.size(); ++c)
        row_[c].add(block_.values(c) + piece.begin, piece.end - piece.begin);
      if (!piece.last) continue;
      if (keep) {
        auto& sums = unfinished_.try_emplace(piece.query, row_.size()).first->second;
        for (std::size_t c = 0; c < row_.size(); ++c) sums[c].add(row_[c]);
      } else {
        write(piece.query, row_);
      }
      for (ExactSum& sum : row_) sum.clear();
    }
    pieces_.clear();
    block_.clear();
  }
  void write(Slot query, std::vector<ExactSum>& sums) const {
    double* const to = sums_ + static_cast<std::size_t>(ids_[query]) * sums.size();
    for (std::size_t c = 0; c < sums.size(); ++c) to[c] = sums[c].value();
  }

  const std::int32_t* ids_;
  FunctionBlock<T, D> block_;
  std::vector<ExactSum> row_;
  double* sums_;
  std::vector<std::int32_t> hits_;
  std::vector<Run> runs_;
  std::vector<QueryValues> pieces_;
  std::unordered_map<Slot, std::vector<ExactSum>> unfinished_;
};

// The values of all pairs, each counted once.
template <class T, int D>
Tally sum_pairs(const Task<T, D>& task, const PairFunction& function, std::span<ExactSum> sums) {
  detail::PerThread<TotalSums<T, D>> totals;
  const Tally tally = visit_pairs(task, [&](std::size_t, std::size_t thread) -> TotalSums<T, D>& {
    return totals.get(thread, [&](auto& made) { made.emplace(task, function); });
  });
  for (std::size_t c = 0; c < sums.size(); ++c)
    totals.for_each([&](const TotalSums<T, D>& total) { sums[c].add(total.sum(c)); });
  return tally;
}

// For each query, or body in mode full, the values of its pairs, in rows of function.values by the user's number.
template <class T, int D>
Tally sum_by_query(const Task<T, D>& task, const PairFunction& function, std::span<double> sums) {
  std::fill(sums.begin(), sums.end(), 0.0);
  detail::PerThread<QuerySums<T, D>> each;
  return visit_pairs(task, [&](std::size_t, std::size_t thread) -> QuerySums<T, D>& {
    return each.get(thread, [&](auto& made) { made.emplace(task, function, sums.data()); });
  });
}

}  // namespace vicinal
