// The operations of a search, counted by name. Multiplied by the seconds per operation (src/vicinal/costs.json, written
// by benchmarks/calibrate.py), the counts of a structure predict the time of a search with it.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace vicinal {

enum class Count : std::uint8_t {
  call,     // the search as a whole
  body,     // a body is read and written to its slot
  sort,     // the same, once for every doubling of the number of bodies beyond what the caches hold
  grid,     // a cell of a dense grid is cleared
  fresh,    // the same of a cell beyond what the caches hold
  compare,  // two keys are compared
  bin,      // a bin of a table is cleared
  leaf,     // a leaf of a tree is placed
  block,    // a block of bodies that are searched together is started
  image,    // a block is searched once more through a periodic image
  row,      // a block looks up a row of cells
  far,      // the same where the row is not in the caches
  look,     // a block looks up a cell or a level of a hash table, or a body a periodic image
  visit,    // a block visits a node of a tree
  copy,     // a candidate is copied for a block
  test,     // a candidate is tested
  pair,     // a pair is written
  doubt,    // a body has candidates that are tested in float32 and again in double
  clamp,    // a body, where a few strays are told from the others
};

inline constexpr std::array<std::string_view, 19> count_names = {
    "call", "body", "sort", "grid",  "fresh", "compare", "bin",  "leaf",  "block", "image",
    "row",  "far",  "look", "visit", "copy",  "test",    "pair", "doubt", "clamp"};
inline constexpr std::size_t count_kinds = count_names.size();
static_assert(static_cast<std::size_t>(Count::clamp) + 1 == count_kinds);

inline std::size_t index_of(Count count) { return static_cast<std::size_t>(count); }
inline Count count_named(std::string_view name) {
  for (std::size_t k = 0; k < count_kinds; ++k)
    if (count_names[k] == name) return static_cast<Count>(k);
  throw std::invalid_argument("no count is called '" + std::string(name) + "'; see index/counts.hpp");
}

class CountSet {
 public:
  CountSet() = default;
  CountSet(std::initializer_list<Count> counts) {
    for (const Count count : counts) set_.set(index_of(count));
  }
  void add(Count count) { set_.set(index_of(count)); }
  [[nodiscard]] bool has(Count count) const { return set_.test(index_of(count)); }
  [[nodiscard]] bool has(std::size_t index) const { return set_.test(index); }
  [[nodiscard]] bool none() const { return set_.none(); }

 private:
  std::bitset<count_kinds> set_;
};

// The number of each operation in a search; operations that a structure does not use are absent.
class Counts {
 public:
  Counts() = default;
  Counts(std::initializer_list<std::pair<Count, double>> counts) {
    for (const auto& [count, number] : counts) set(count, number);
  }
  void set(Count count, double number) {
    given_.add(count);
    number_[index_of(count)] = number;
  }
  [[nodiscard]] const CountSet& given() const { return given_; }
  [[nodiscard]] double operator[](std::size_t index) const { return number_[index]; }

 private:
  CountSet given_;
  std::array<double, count_kinds> number_{};
};

// An argument of the structure's Python class.
struct Parameter {
  std::string name;
  std::variant<std::int64_t, double> value;
};

// One way to use a structure.
struct Estimate {
  std::optional<Parameter> parameter;  // none: the default
  Counts counts;                       // of a single search, building included
  CountSet kept;                       // operations that an updated index does not repeat in every step
};
using Estimates = std::vector<Estimate>;

}  // namespace vicinal
