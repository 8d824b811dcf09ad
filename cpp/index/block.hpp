// Blocks: the candidates that a structure proposes to the exact test.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "index/own.hpp"

namespace vicinal {

using Slot = std::uint32_t;

// A periodic image, in edges per axis.
struct Shift {
  std::int16_t x = 0, y = 0, z = 0;

  [[nodiscard]] std::int16_t operator[](std::size_t axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
  bool operator==(const Shift&) const = default;
};

// Candidates begin … end-1 in the periodic image `shift`. If the queries of the block are among them, `own` states
// which candidates are left out; the queries are then the slots first_query … last_query-1. Only the first range of a
// block can contain its queries, and a range with Own::after starts with the first query.
struct Range {
  Slot begin, end;
  Shift shift{};
  Own own = Own::absent;
};

// Queries first_query … last_query-1, which share a list of candidate ranges.
struct Block {
  Slot first_query, last_query;
  std::span<const Range> ranges;
  // The number of candidates, if some of the ranges are candidates of some of the queries only. 0: all of them are.
  std::uint64_t candidates = 0;
};

enum class Mode {
  half,   // every unordered pair of the structure's bodies once
  full,   // every body with all its neighbours
  cross,  // every query (of another set of bodies) with all its neighbours
};

// A reference to any callable that takes a block, valid for the duration of a call.
class BlockSink {
 public:
  template <class F>
    requires(!std::same_as<F, BlockSink>)
  // NOLINTNEXTLINE(google-explicit-constructor): callers pass a lambda
  BlockSink(F& f) : object_(&f), call_([](void* object, const Block& block) { (*static_cast<F*>(object))(block); }) {}
  void operator()(const Block& block) const { call_(object_, block); }

 private:
  void* object_;
  void (*call_)(void*, const Block&);
};

}  // namespace vicinal
